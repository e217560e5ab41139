import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { chromiumPath, launch } from '../browser/chromium.js'
import { visit } from '../browser/console/visit.js'
import { type, type Typed } from './as-typed.js'
import { greetedBy, listenAt, portOf, shut } from './dev-typed.js'
import { installIn } from './install-in.js'
import { root } from './packed.js'

const run = promisify(execFile)
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const [, quickstart = ''] = /## Quickstart[\s\S]*?```ts\n([\s\S]*?)```/.exec(readme) ?? []
/** Commands of the README's quick path, without their comments. */
const quickPath = Array.from(
  (/## Run the server\n[^]*?```sh\n(npx muster[^]*?)```/.exec(readme)?.[1] ?? '').matchAll(/^(npx .*?)(?: +#.*)?$/gm),
  ([, line = '']) => line,
)
/** What the configuration of `muster init` names, for a service that is an emulator. */
const variables = {
  MUSTER_TOKEN: 'dev',
  MUSTER_JWT_SECRET: 'a-secret-of-32-characters-of-this-test',
  MUSTER_BACKEND_KEY: 'a-key-of-the-backend-of-this-test',
  MUSTER_OPERATOR_KEY: 'a-key-of-the-operator-of-this-test',
}
/** The program ends within 10 s; npx and a busy machine take some time of their own. */
const ENDS_WITHIN_MS = 15_000

const folders: string[] = []
const commands: Typed[] = []
const openFolder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'muster-program-')))
  return folders.at(-1) as string
}
const typeIn = (folder: string, line: string): Typed => {
  commands.push(type(line, folder, variables))
  return commands.at(-1) as Typed
}
afterEach(() => {
  for (const command of commands.splice(0)) command.kill()
})
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

/** Ctrl-C: nothing of the command is left soon, and its ports are free. */
async function endByCtrlC(command: Typed, urls: readonly string[]): Promise<void> {
  const before = performance.now()
  command.interrupt()
  await command.ended
  await expect.poll(command.isRunning).toBe(false)
  expect(performance.now() - before).toBeLessThan(ENDS_WITHIN_MS)
  for (const url of urls) await shut(await listenAt(Number(new URL(url).port)))
}

/** A first use: an empty folder outside the workspace, the packages as published, and the README's code as pasted. */
describe('installed in an empty folder', () => {
  const folder = openFolder()
  beforeAll(() => installIn(folder))

  test('the quickstart of the README runs as pasted', async () => {
    writeFileSync(join(folder, 'quickstart.mjs'), quickstart)
    const { stdout, stderr } = await run('node', ['quickstart.mjs'], { cwd: folder, timeout: 60_000 })
    expect(stdout).toMatch(/^HOST_ASSIGNED \S+:\d+$/m)
    expect(stderr).toBe('')
  })

  test('the quickstart is the example that CI runs', () => {
    const example = readFileSync(join(root, 'examples/quickstart.ts'), 'utf8')
    expect(example.slice(example.indexOf('import '))).toBe(quickstart)
  })

  test('the emulator starts as a program and prints its URL', async () => {
    const { stdout } = await run('npx', ['--no-install', 'muster-emulator', '--help'], { cwd: folder, timeout: 60_000 })
    expect(stdout).toContain('--port')
  })

  test('the README types dev, init, check and serve', () => {
    expect(quickPath).toEqual(['npx muster dev', 'npx muster init', 'npx muster check', 'npx muster serve'])
  })

  test('npx muster dev serves players and bots, and Ctrl-C leaves nothing running', async () => {
    const command = typeIn(folder, 'npx muster dev')
    const { urls, ask, play, assigned } = await greetedBy(command)
    for (const url of [urls.console, urls.emulator, `${urls.api}/openapi.json`])
      expect((await fetch(url)).status, url).toBe(200)

    for (const { assignment } of await Promise.all(['ann', 'ben'].map(play)))
      expect(assignment?.ports['game']?.link).toMatch(/^\S+:\d+$/)
    await ask('/console/api/bots', { body: { players: 100 } })
    await expect.poll(assigned, { timeout: 60_000, interval: 500 }).toBeGreaterThan(2)

    await endByCtrlC(command, [urls.api, urls.emulator])
    expect(command.output()).toMatch(/info +Shutdown complete\.\n/)
    expect(command.output()).not.toMatch(/error|Error/)
  })

  test.skipIf(chromiumPath === undefined)('the page in Chromium moves as bots arrive by its button', async () => {
    const command = typeIn(folder, 'npx muster dev --port 0 --emulator-port 0')
    const { urls } = await greetedBy(command)
    const browser = await launch()
    try {
      const { page, complaints } = await visit(browser, urls.console)
      const total = (name: string) => page.locator('.total', { hasText: name }).locator('b')
      await total('Players waiting').filter({ hasText: /^0$/ }).waitFor()
      const crowds = page.getByRole('group', { name: 'Let players in' })
      await crowds.getByRole('button', { name: '100', exact: true }).click()
      for (const name of ['Players waiting', 'Matches a minute', 'Servers'])
        await total(name)
          .filter({ hasText: /^[1-9]/ })
          .waitFor({ timeout: 60_000 })
      expect(complaints).toEqual([])
    } finally {
      await browser.close()
    }
    await endByCtrlC(command, [urls.api, urls.emulator])
  })

  test('where its ports are taken it takes others', async () => {
    const taken = [await listenAt(), await listenAt()]
    const [port = 0, emulatorPort = 0] = taken.map(portOf)
    const { urls } = await greetedBy(typeIn(folder, `npx muster dev -p ${port} --emulator-port ${emulatorPort}`))
    const ports = [urls.api, urls.console, urls.emulator].map((url) => Number(new URL(url).port))
    expect(ports).not.toContain(port)
    expect(ports).not.toContain(emulatorPort)
    for (const server of taken) await shut(server)
  })

  test('npx muster init and check work, and serve runs what they made', async () => {
    const init = typeIn(folder, 'npx muster init')
    expect([await init.ended, init.output()]).toEqual([0, expect.stringContaining('Wrote muster.yaml')])
    const file = join(folder, 'muster.yaml')
    const yaml = readFileSync(file, 'utf8')
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)/.exec(yaml) ?? []
    expect(existsSync(join(folder, schema)), schema).toBe(true)
    expect(JSON.parse(readFileSync(join(folder, schema), 'utf8'))).toMatchObject({ properties: { queues: {} } })
    const check = typeIn(folder, 'npx muster check')
    expect([await check.ended, check.output()]).toEqual([0, expect.stringMatching(/is right[^]*Two teams of five/)])

    const emulator = typeIn(folder, 'npx muster-emulator --port 0')
    const { url = '' } = await emulator.said(/(?<url>http:\S+)\n/)
    writeFileSync(file, yaml.replace('https://api.example.com', url).replace('port: 8080', 'port: 0'))
    const serve = typeIn(folder, 'npx muster serve')
    const { port } = await serve.said(/"port":(?<port>\d+)/)
    const api = `http://127.0.0.1:${port}`
    expect(await (await fetch(`${api}/healthz`)).json()).toEqual({ alive: true })
    await expect.poll(async () => (await fetch(`${api}/readyz`)).status, { timeout: 20_000 }).toBe(200)
    await endByCtrlC(serve, [api])
    expect(serve.output()).toContain('"text":"Shutdown complete."')
    await endByCtrlC(emulator, [url])
  })
})

describe('installed without what is optional', () => {
  const folder = openFolder()
  beforeAll(async () => {
    await installIn(folder, { without: /^muster-redis/, omitOptional: true })
    await typeIn(folder, 'npx muster init').said(/Wrote muster.yaml[^]*\n$/)
  })

  /** What `muster serve` says about a configuration with that store. */
  const refusalOf = async (store: string) => {
    const yaml = readFileSync(join(folder, 'muster.yaml'), 'utf8').replace('port: 8080', 'port: 0')
    writeFileSync(join(folder, 'other.yaml'), yaml.replace(/^store: .*$/m, `store: ${store}`))
    const serve = typeIn(folder, 'npx muster serve -c other.yaml')
    expect(await serve.ended).toBe(1)
    return serve.output()
  }

  test('the matchmaker runs, and a store in a file says which one it needs', async () => {
    const code = `
      import { createMatchmaker, openStore } from '@muster/matchmaker'
      const nothing = async () => { throw new Error('not asked') }
      const deployments = { create: nothing, get: nothing, stop: nothing, list: nothing }
      const queues = [{ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' } }]
      const players = [{ id: 'ann', ip: '192.0.2.1' }]
      const { status } = createMatchmaker({ deployments, queues }).createTicket({ queue: 'duel', players })
      console.log(status)
      await openStore({ path: 'muster.log' }).catch(({ message }) => console.log(message))
    `
    writeFileSync(join(folder, 'plain.mjs'), code)
    const { stdout } = await run('node', ['plain.mjs'], { cwd: folder, timeout: 60_000 })
    expect(stdout).toMatch(/^SEARCHING\nThe store cannot be locked: koffi, an optional dependency, is not installed/)
  })

  test('a Redis store needs no further package', async () => {
    expect(await refusalOf('{ redis: { url: redis://127.0.0.1:1 } }')).toMatch(/ECONNREFUSED|Redis/)
  })

  test('a folder store says what is missing', async () => {
    expect(await refusalOf('{ folder: ./data }')).toContain(
      'The store cannot be locked: koffi, an optional dependency, is not installed',
    )
  })

  test('muster dev needs neither', async () => {
    const command = typeIn(folder, 'npx muster dev --port 0 --emulator-port 0')
    const { urls } = await greetedBy(command)
    expect((await fetch(`${urls.api}/healthz`)).status).toBe(200)
    await endByCtrlC(command, [urls.api, urls.emulator])
  })
})
