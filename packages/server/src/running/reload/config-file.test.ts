import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManualClock } from '@muster/core/clock'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { parseDocument } from 'yaml'
import { createLog } from '../../telemetry/log.js'
import { openConfigFile, watchFile } from './config-file.js'
import { env, yamlOf } from '../server.fixture.js'

/** The YAML library normalizes white space. */
const text = parseDocument(yamlOf('http://localhost:1', '# the end')).toString({ lineWidth: 0 })
const DUEL = "{ name: duel, matchSize: 4, deploy: { application: my-game, version: '1.0' } }"

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'muster-file-'))
  path = join(folder, 'muster.yaml')
  await writeFile(path, text)
})
afterEach(() => rm(folder, { recursive: true }))

async function setUp() {
  const lines: string[] = []
  const log = createLog({ level: 'info', format: 'json', write: (line) => lines.push(line) })
  const file = await openConfigFile({ path, env })
  const apply = vi.fn<() => Promise<void>>(async () => {})
  return { file, apply, lines, reload: (isForced = false) => file.reload(apply, log, isForced) }
}

test('a console edit of a queue keeps the comments of the file, and triggers no reload', async () => {
  const { file, apply, reload } = await setUp()
  const config = await file.editQueue('duel', DUEL)
  expect(config.queues[0]?.teams).toEqual([expect.objectContaining({ size: 4 })])
  expect(await readFile(path, 'utf8')).toBe(text.replace('matchSize: 2', 'matchSize: 4'))
  expect(await readdir(folder)).toEqual(['muster.yaml'])
  await reload()
  expect(apply).not.toHaveBeenCalled()
})

test('a console edit that cannot be applied changes neither the file nor what counts as its text', async () => {
  const { file, apply, lines, reload } = await setUp()
  const refused = () => Promise.reject(new Error('this process started without the source'))
  await expect(file.editQueue('duel', DUEL, undefined, refused)).rejects.toThrow('started without the source')
  expect(await readFile(path, 'utf8')).toBe(text)
  expect(await readdir(folder)).toEqual(['muster.yaml'])
  await reload()
  expect([apply.mock.calls, lines]).toEqual([[], []])
  await file.editQueue('duel', DUEL)
  expect(await readFile(path, 'utf8')).toContain('matchSize: 4')
})

test('an edited configuration that is a symbolic link stays a link, and its target is changed', async () => {
  const target = join(folder, 'real.yaml')
  await writeFile(target, text)
  await rm(path)
  await symlink(target, path)
  const { file } = await setUp()
  await file.editQueue('duel', DUEL)
  expect(await readFile(target, 'utf8')).toContain('matchSize: 4')
  expect(await readFile(path, 'utf8')).toContain('matchSize: 4')
})

test('a configuration file that begins with a byte order mark can be edited', async () => {
  await writeFile(path, `\u{FEFF}${text}`)
  const { file } = await setUp()
  await file.editQueue('duel', DUEL)
  expect(await readFile(path, 'utf8')).toContain('matchSize: 4')
})

test('an edit is refused while the file holds a configuration that could not be applied', async () => {
  const { file, apply, reload } = await setUp()
  const theirs = text.replace('name: test', 'name: tested')
  await writeFile(path, theirs)
  apply.mockRejectedValueOnce(new Error('needs a restart'))
  await reload()
  await expect(file.editQueue('duel', DUEL)).rejects.toThrow('The configuration file was changed before the edit.')
  expect(await readFile(path, 'utf8')).toBe(theirs)
})

test('an edit of the configuration file is refused if the file has changed in between', async () => {
  const { file, apply, reload } = await setUp()
  const theirs = text.replace('name: test', 'name: tested')
  await writeFile(path, theirs)
  await expect(file.editQueue('duel', DUEL)).rejects.toThrow('The configuration file was changed before the edit.')
  expect(await readFile(path, 'utf8')).toBe(theirs)
  await reload()
  expect(apply).toHaveBeenCalledOnce()
  await file.editQueue('duel', DUEL)
  expect(await readFile(path, 'utf8')).toBe(theirs.replace('matchSize: 2', 'matchSize: 4'))
})

test('an edit that would make the configuration file invalid is refused by line and column', async () => {
  const { file } = await setUp()
  await expect(file.editQueue('duel', DUEL.replace('4', '0'))).rejects.toThrow(/muster\.yaml:\d+:\d+: .*matchSize/)
  expect(await readFile(path, 'utf8')).toBe(text)
  expect(await readdir(folder)).toEqual(['muster.yaml'])
})

test('an invalid configuration is reported, not applied, and an unchanged one is applied only on demand', async () => {
  const { apply, reload, lines } = await setUp()
  await writeFile(path, text.replace('matchSize: 2', 'matchSize: two'))
  await reload()
  expect(lines[0]).toContain('Config reload failed; the previous config stays active. Errors follow.')
  expect(lines[1]).toMatch(/muster\.yaml:\d+:\d+: queues\.0\.matchSize/)
  await writeFile(path, text)
  await reload()
  expect(apply).not.toHaveBeenCalled()
  expect(lines.at(-1)).toContain('The config file is again as it was before the failed reload.')
  const told = lines.length
  await reload()
  expect(lines).toHaveLength(told)
  await reload(true)
  expect(apply).toHaveBeenCalledOnce()
})

test('the warnings about a configuration are logged once it is applied, and not if it is refused', async () => {
  const { apply, reload, lines } = await setUp()
  await writeFile(path, `${text}# changed`)
  apply.mockRejectedValueOnce(new Error('needs a restart'))
  await reload()
  expect(lines.map((line) => (JSON.parse(line) as { level: string }).level)).toEqual(['error', 'error'])
  await reload()
  expect(lines.at(-1)).toContain('"level":"warn"')
})

test('a burst of changes of the configuration file is applied as one, shortly after the last', async () => {
  const clock = createManualClock()
  const changed = vi.fn<() => void>()
  const end = await watchFile({ path, clock, changed, everyMs: 20 })
  const asleep = async () => {
    while (clock.sleepers === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  await writeFile(path, `${text}# one`)
  await asleep()
  await clock.advance(200)
  expect(changed).not.toHaveBeenCalled()
  await clock.advance(100)
  expect(changed).toHaveBeenCalledOnce()
  await end()
})
