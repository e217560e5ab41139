import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { installIn } from './install-in.js'
import { root } from './packed.js'

const run = promisify(execFile)
const names = readdirSync(join(root, 'packages'))

/** A first use: an empty folder outside the workspace, the packages as published, and the README's code as pasted. */
describe('installed in an empty folder', () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-stranger-'))
  afterAll(() => rmSync(folder, { recursive: true }))

  beforeAll(async () => {
    await installIn(folder)
  })

  const quickstart = () => {
    const [, code] =
      /## Quickstart[\s\S]*?```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8')) ?? []
    return code ?? ''
  }

  test('the quickstart of the README runs as pasted', async () => {
    writeFileSync(join(folder, 'quickstart.mjs'), quickstart())
    const { stdout, stderr } = await run('node', ['quickstart.mjs'], { cwd: folder, timeout: 60_000 })
    expect(stdout).toMatch(/^HOST_ASSIGNED \S+:\d+$/m)
    expect(stderr).toBe('')
  })

  test('the quickstart is the example that CI runs', () => {
    const example = readFileSync(join(root, 'examples/quickstart.ts'), 'utf8')
    expect(example.slice(example.indexOf('import '))).toBe(quickstart())
  })

  test('the emulator starts as a program and prints its URL', async () => {
    const { stdout } = await run('npx', ['--no-install', 'muster-emulator', '--help'], { cwd: folder, timeout: 60_000 })
    expect(stdout).toContain('--port')
  })
})

test('without optional dependencies the matchmaker runs, and the file journal says which one it needs', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'muster-plain-'))
  await installIn(folder, { packages: /core|matchmaker/, omitOptional: true })
  const code = `
    import { createFileJournal, createMatchmaker } from '@muster/matchmaker'
    const nothing = async () => { throw new Error('not asked') }
    const deployments = { create: nothing, get: nothing, stop: nothing, list: nothing }
    const queues = [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }]
    const players = [{ id: 'ann', ip: '192.0.2.1' }]
    const { status } = createMatchmaker({ deployments, queues }).createTicket({ queue: 'duel', players })
    console.log(status)
    await createFileJournal({ path: 'matches.journal' }).open().catch(({ message }) => console.log(message))
  `
  writeFileSync(join(folder, 'plain.mjs'), code)
  const { stdout } = await run('node', ['plain.mjs'], { cwd: folder, timeout: 60_000 })
  rmSync(folder, { recursive: true })
  expect(stdout).toMatch(/^SEARCHING\nthe journal cannot be locked: koffi, an optional dependency, is not installed/)
})

describe('every document of a package', () => {
  test.each(names)('@muster/%s links to files of the package or to the home in its manifest', (name) => {
    const folder = join(root, 'packages', name)
    const { homepage } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { homepage: string }
    const links = Array.from(
      readFileSync(join(folder, 'README.md'), 'utf8').matchAll(/\]\(([^)]+)\)/g),
      ([, link = '']) => link,
    )
    const files = readdirSync(folder)
    expect(
      links.filter((link) => !link.startsWith(`${homepage}/`) && !link.startsWith('https://') && !files.includes(link)),
    ).toEqual([])
  })

  test.each(names)('@muster/%s links to files that exist at its home', (name) => {
    const text = readFileSync(join(root, 'packages', name, 'README.md'), 'utf8')
    const { homepage } = JSON.parse(readFileSync(join(root, 'packages', name, 'package.json'), 'utf8')) as {
      homepage: string
    }
    const paths = Array.from(text.matchAll(/\]\((https:[^)]+)\)/g), ([, link = '']) => link).flatMap((link) =>
      link.startsWith(`${homepage}/blob/main/`) ? link.slice(`${homepage}/blob/main/`.length).replace(/#.*/, '') : [],
    )
    for (const path of paths) expect(() => readFileSync(join(root, path)), path).not.toThrow()
  })
})
