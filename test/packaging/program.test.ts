import { execFile } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { parse } from 'yaml'
import { chromiumPath, launch } from '../browser/chromium.js'
import { visit } from '../browser/console/visit.js'
import { type, type Typed } from './as-typed.js'
import { greetedBy, listenAt, portOf, shut, type TicketSeen } from './dev-typed.js'
import { installIn } from './install-in.js'
import { publishedName, root } from './packed.js'

const run = promisify(execFile)
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const [, quickstart = ''] = /## Quickstart[\s\S]*?```ts\n([\s\S]*?)```/.exec(readme) ?? []
/** The commands in the README's quick path, without comments. */
const quickPath = Array.from(
  (/## Run the server\n[^]*?```sh\n(npx muster[^]*?)```/.exec(readme)?.[1] ?? '').matchAll(/^(npx .*?)(?: +#.*)?$/gm),
  ([, line = '']) => line,
)
/** Values of the variables that the configuration of `muster init` names, for an emulated service. */
const variables = {
  MUSTER_TOKEN: 'dev',
  MUSTER_JWT_SECRET: 'a-secret-of-32-characters-of-this-test',
  MUSTER_BACKEND_KEY: 'a-key-of-the-backend-of-this-test',
  MUSTER_OPERATOR_KEY: 'a-key-of-the-operator-of-this-test',
}
/** The program ends within 10 s. npx and a busy machine need additional time. */
const ENDS_WITHIN_MS = 15_000

const folders: string[] = []
const commands: Typed[] = []
const openFolder = (): string => {
  folders.push(mkdtempSync(join(tmpdir(), 'muster-program-')))
  return folders.at(-1) as string
}
const typeIn = (folder: string, line: string, env: Readonly<Record<string, string>> = {}): Typed => {
  commands.push(type(line, folder, { ...variables, ...env }))
  return commands.at(-1) as Typed
}
afterEach(() => {
  for (const command of commands.splice(0)) command.kill()
})
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true })
})

const freePort = async (): Promise<number> => {
  const server = await listenAt()
  const port = portOf(server)
  await shut(server)
  return port
}

const readiness = async (port: number): Promise<number> =>
  fetch(`http://127.0.0.1:${port}/readyz`).then(
    ({ status }) => status,
    () => 0,
  )

/** Presses Ctrl-C. Soon no process of the command may run, and its ports must be free. */
async function endByCtrlC(command: Typed, urls: readonly string[]): Promise<void> {
  const before = performance.now()
  command.interrupt()
  await command.ended
  await expect.poll(command.isRunning).toBe(false)
  expect(performance.now() - before).toBeLessThan(ENDS_WITHIN_MS)
  for (const url of urls) await shut(await listenAt(Number(new URL(url).port)))
}

/** A first use: an empty folder outside of the workspace, the published packages, and the README's code. */
describe('muster installed in an empty folder', () => {
  const folder = openFolder()
  const published = readdirSync(join(root, 'packages')).map(publishedName)
  // `create-muster` has no scope and is tested with `npm create` below.
  beforeAll(() =>
    installIn(
      folder,
      published.filter((name) => name !== 'create-muster'),
    ),
  )

  test('the quickstart of the README runs as pasted in an empty folder with Muster installed', async () => {
    writeFileSync(join(folder, 'quickstart.mjs'), quickstart)
    const { stdout, stderr } = await run('node', ['quickstart.mjs'], { cwd: folder, timeout: 60_000 })
    expect(stdout).toMatch(/^HOST_ASSIGNED \S+:\d+$/m)
    expect(stderr).toBe('')
  })

  test('npx muster --version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'packages/server/package.json'), 'utf8')) as {
      readonly version: string
    }
    const { stdout } = await run('npx', ['--no-install', 'muster', '--version'], { cwd: folder, timeout: 60_000 })
    expect(stdout).toBe(`${version}\n`)
  })

  test('the quickstart of the README is the example that CI runs', () => {
    const example = readFileSync(join(root, 'examples/quickstart.ts'), 'utf8')
    expect(example.slice(example.indexOf('import '))).toBe(quickstart)
  })

  test('npx muster-emulator --help prints its options', async () => {
    const { stdout } = await run('npx', ['--no-install', 'muster-emulator', '--help'], { cwd: folder, timeout: 60_000 })
    expect(stdout).toContain('--port')
  })

  test('the README contains the commands dev, init, check and serve', () => {
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
    await expect.poll(assigned, { interval: 500 }).toBeGreaterThan(2)

    await endByCtrlC(command, [urls.api, urls.emulator])
    expect(command.output()).toMatch(/info +Shutdown complete\.\n/)
    expect(command.output()).not.toMatch(/error|Error/)
  })

  test.skipIf(chromiumPath === undefined)(
    'npx muster dev shows a page in Chromium that moves when its button adds bots',
    async () => {
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
    },
  )

  test('npx muster dev uses other ports if its own are taken', async () => {
    const taken = [await listenAt(), await listenAt()]
    const [port = 0, emulatorPort = 0] = taken.map(portOf)
    const { urls } = await greetedBy(typeIn(folder, `npx muster dev -p ${port} --emulator-port ${emulatorPort}`))
    const ports = [urls.api, urls.console, urls.emulator].map((url) => Number(new URL(url).port))
    expect(ports).not.toContain(port)
    expect(ports).not.toContain(emulatorPort)
    for (const server of taken) await shut(server)
  })

  test('npx muster init creates a configuration that check accepts and serve runs', async () => {
    const init = typeIn(folder, 'npx muster init')
    expect([await init.ended, init.output()]).toEqual([0, expect.stringContaining('Wrote muster.yaml')])
    const file = join(folder, 'muster.yaml')
    const yaml = readFileSync(file, 'utf8')
    const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)/.exec(yaml) ?? []
    expect(existsSync(join(folder, schema)), schema).toBe(true)
    expect(JSON.parse(readFileSync(join(folder, schema), 'utf8'))).toMatchObject({ properties: { queues: {} } })
    const check = typeIn(folder, 'npx muster check')
    expect([await check.ended, check.output()]).toEqual([0, expect.stringMatching(/is valid[^]*Two teams of five/)])

    const emulator = typeIn(folder, 'npx muster-emulator --port 0')
    const { url = '' } = await emulator.said(/(?<url>http:\S+)\n/)
    writeFileSync(file, yaml.replace('https://api.example.com', url).replace('port: 8080', 'port: 0'))
    const serve = typeIn(folder, 'npx muster serve')
    const { port } = await serve.said(/"port":(?<port>\d+)/)
    const api = `http://127.0.0.1:${port}`
    expect(await (await fetch(`${api}/healthz`)).json()).toEqual({ alive: true })
    await expect.poll(async () => (await fetch(`${api}/readyz`)).status).toBe(200)
    await endByCtrlC(serve, [api])
    expect(serve.output()).toContain('"text":"Shutdown complete."')
    await endByCtrlC(emulator, [url])
  })
})

describe('a game made by npm create muster', () => {
  const folder = openFolder()
  const game = join(folder, 'tap-duel')
  let said: string
  beforeAll(async () => {
    // npm caches the package of `npm create` by its version, which does not change with the code. So each run uses its
    // own cache.
    const env = { npm_config_registry: inject('registry'), npm_config_cache: openFolder() }
    const create = typeIn(folder, 'npm create --yes muster tap-duel', env)
    await create.ended
    said = create.output()
    await installIn(game)
  })

  test('npm create muster creates a game, and prints what to do next', () => {
    // The commands name the package manager that runs them, e.g. pnpm if pnpm runs the tests.
    expect(said).toMatch(/^ {2}cd tap-duel\n {2}(npm|pnpm) install\n {2}\1 run dev\n/m)
  })

  test('a game made by npm create muster plays a match in its own test', async () => {
    const tests = typeIn(game, 'npm test')
    expect([await tests.ended, tests.output()]).toEqual([0, expect.stringMatching(/^. pass 1$/m)])
  })

  test('a game made by npm create muster has a valid configuration', async () => {
    const check = typeIn(game, 'npx muster check --without-secrets')
    expect([await check.ended, check.output()]).toEqual([0, expect.stringMatching(/is valid[^]*pool arena/)])
  })

  test('npm run dev of a created game serves page and tokens, and Ctrl-C leaves nothing running', async () => {
    const command = typeIn(game, 'npm run dev')
    const { urls } = await greetedBy(command)
    const { page = '' } = await command.said(/Play +(?<page>http:\S+)/)
    expect(await (await fetch(page)).text()).toContain('<title>tap-duel</title>')
    const session = async (name: string) => fetch(new URL(`/session?name=${name}`, page))
    const { url, token } = (await (await session('ann')).json()) as { url: string; token: string }
    expect(url).toBe(urls.api)
    expect((await fetch(`${url}/me`, { headers: { authorization: `Bearer ${token}` } })).status).toBe(200)
    expect((await session('a:b')).status).toBe(400)
    expect((await fetch(new URL('/../package.json', page))).status).toBe(404)
    await endByCtrlC(command, [urls.api, urls.emulator, page])
  })

  test.skipIf(chromiumPath === undefined)(
    'two players play a created game on its page in Chromium, twice',
    async () => {
      const command = typeIn(game, 'npm run dev')
      const { page: address = '' } = await command.said(/Play +(?<page>http:\S+)/)
      const browser = await launch()
      try {
        const phone = { viewport: { width: 375, height: 667 }, isMobile: true }
        const [ann, ben] = [await visit(browser, address, phone), await visit(browser, address)]
        for (const match of [1, 2]) {
          await ann.page.getByLabel('Your name').fill('ann')
          await ben.page.getByLabel('Your name').fill('ben')
          for (const { page } of [ann, ben]) await page.getByRole('button', { name: 'Play' }).click()
          await ben.page.getByText('ann: 0').waitFor()
          await ann.page.getByText('ben: 0').waitFor()
          for (let tap = 0; tap < 20; tap += 1) await ann.page.getByRole('button', { name: 'Tap!' }).click()
          for (const { page } of [ann, ben]) {
            await page.getByText('ann has won.').waitFor()
            await page.locator('#play:enabled').waitFor()
          }
          expect([ann.complaints, ben.complaints], `match ${match}`).toEqual([[], []])
        }
        expect(await ann.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(375)
      } finally {
        await browser.close()
      }
      command.interrupt()
      await command.ended
    },
  )

  test('a created game runs with muster serve as in its compose.yaml', async () => {
    const compose = parse(readFileSync(join(game, 'compose.yaml'), 'utf8'), { merge: true }) as {
      services: Record<string, { command: string }>
    }
    const commands = ['service', 'muster', 'web'].map((name) => compose.services[name]?.command)
    expect(commands).toEqual(['node service.js', 'npx muster serve -c muster.yaml', 'node web.js'])
    const port = await freePort()
    const service = typeIn(game, 'node service.js', { PORT: '0' })
    const { url = '' } = await service.said(/^(?<url>http:\S+)$/m)
    const yaml = readFileSync(join(game, 'muster.yaml'), 'utf8')
      .replace('http://service:8090', url)
      .replace('http://muster:8080', `http://127.0.0.1:${port}`)
      .replace('port: 8080', `port: ${port}`)
      .replace(/^store: .*$/m, 'store: memory')
    writeFileSync(join(game, 'other.yaml'), yaml)
    const serve = typeIn(game, 'npx muster serve -c other.yaml')
    const web = typeIn(game, 'node web.js', { MUSTER_URL: `http://127.0.0.1:${port}`, PORT: '0' })
    const { page = '' } = await web.said(/Play +(?<page>http:\S+)/)
    await expect.poll(async () => readiness(port)).toBe(200)

    const ask = async (name: string, method: string, path: string, body?: object) => {
      const session = await (await fetch(new URL(`/session?name=${name}`, page))).json()
      const { url: api, token } = session as { url: string; token: string }
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
      return fetch(api + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    }
    for (const name of ['ann', 'ben'])
      expect((await ask(name, 'POST', '/tickets', { profile: 'duel' })).status).toBe(201)
    const link = async () => {
      const me = (await (await ask('ann', 'GET', '/me')).json()) as { matches: TicketSeen[] }
      return me.matches[0]?.assignment?.ports['game']?.link
    }
    await expect.poll(link).toMatch(/:200\d\d$/)
    const [, gamePort] = (await link())?.split(':') ?? []
    for (const command of [serve, web, service]) {
      command.interrupt()
      await command.ended
    }
    // The game server's process must have ended too.
    await expect.poll(() => listenAt(Number(gamePort)).then(shut)).toBeUndefined()
  })
})

describe('muster installed without optional packages', () => {
  const folder = openFolder()
  beforeAll(async () => {
    await installIn(folder, [
      '@muster/core',
      '@muster/matchmaker',
      '@muster/server',
      '@muster/emulator',
      '--omit=optional',
    ])
    await typeIn(folder, 'npx muster init').said(/Wrote muster.yaml[^]*\n$/)
  })

  /** Returns the error of `muster serve` for a configuration with this store. */
  const refusalOf = async (store: string) => {
    const yaml = readFileSync(join(folder, 'muster.yaml'), 'utf8').replace('port: 8080', 'port: 0')
    writeFileSync(join(folder, 'other.yaml'), yaml.replace(/^store: .*$/m, `store: ${store}`))
    const serve = typeIn(folder, 'npx muster serve -c other.yaml')
    expect(await serve.ended).toBe(1)
    return serve.output()
  }

  test('without optional packages the matchmaker runs, and a file store names the package it needs', async () => {
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

  test('without optional packages a Redis store can be used', async () => {
    expect(await refusalOf('{ redis: { url: redis://127.0.0.1:1 } }')).toMatch(/ECONNREFUSED|Redis/)
  })

  test('without optional packages a folder store says what it lacks', async () => {
    expect(await refusalOf('{ folder: ./data }')).toContain(
      'The store cannot be locked: koffi, an optional dependency, is not installed',
    )
  })

  test('muster dev needs no optional package', async () => {
    const command = typeIn(folder, 'npx muster dev --port 0 --emulator-port 0')
    const { urls } = await greetedBy(command)
    expect((await fetch(`${urls.api}/healthz`)).status).toBe(200)
    await endByCtrlC(command, [urls.api, urls.emulator])
  })
})
