import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { env, openService, yamlOf } from '../running/server.fixture.js'

const packageRoot = fileURLToPath(new URL('../..', import.meta.url))
const cli = join(packageRoot, 'dist/cli/main.js')
const children: ChildProcess[] = []

let service: Awaited<ReturnType<typeof openService>>
let folder: string
beforeAll(async () => {
  service = await openService()
})
afterAll(() => service.emulator.close())
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'muster-serve-'))
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

interface Line {
  readonly text: string
  readonly port?: number
}

/** Runs the program with the configuration in the folder, until it is ready. Before that, it answers 503. */
async function serve(nodeOptions: readonly string[] = []) {
  const child = spawn(process.execPath, [...nodeOptions, cli, 'serve'], {
    cwd: folder,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  const lines: string[] = []
  const heard = new Set<() => void>()
  createInterface(child.stdout).on('line', (line) => {
    lines.push((JSON.parse(line) as Line).text)
    if (line.includes('"listening"')) lines.unshift(String((JSON.parse(line) as Line).port))
    for (const hear of heard) hear()
  })
  const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>
  /** Resolves once a line contains the text. */
  const said = (text: string) =>
    new Promise<void>((resolve) => {
      const look = () => {
        if (!lines.some((line) => line.includes(text))) return
        heard.delete(look)
        resolve()
      }
      heard.add(look)
      look()
    })
  await said('listening')
  const url = `http://127.0.0.1:${lines[0]}`
  const ask = (method: string, path: string, body?: unknown) =>
    fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${env.BACKEND_KEY}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
  await expect.poll(async () => (await ask('GET', '/readyz')).status, { interval: 20 }).toBe(200)
  return { child, lines, ended, said, ask }
}

const configure = (more = '', queues?: string) =>
  writeFileSync(join(folder, 'muster.yaml'), yamlOf(service.url, `store: { folder: data }\n${more}`, queues))

const FULL = `
  - name: duel
    matchSize: 2
    rules: [{ kind: difference, attribute: skill, max: 1 }]
    deploy: { application: my-game, version: '1.0' }
`
/** Creates tickets that cannot be matched with each other. */
const alone = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({
    profile: 'duel',
    player_id: `player-${from + index}`,
    player_ip: '192.0.2.7',
    attributes: { skill: (from + index) * 10 },
  }))

describe('muster serve', () => {
  test('muster serve loses none of 1,500 tickets by kill -9 or SIGTERM, and exits with 0 on SIGTERM', async () => {
    configure('', FULL)
    const first = await serve()
    const ids: string[] = []
    for (let from = 0; from < 1500; from += 500) {
      const answer = await first.ask('POST', '/tickets/batch', { tickets: alone(from, 500) })
      const { results } = (await answer.json()) as { results: { ticket: { id: string } }[] }
      ids.push(...results.map(({ ticket }) => ticket.id))
    }
    expect(new Set(ids).size).toBe(1500)
    first.child.kill('SIGKILL')
    await first.ended

    const second = await serve()
    const waiting = async ({ ask }: typeof second) => {
      const answers = await Promise.all(
        ids.filter((_, index) => index % 15 === 0).map((id) => ask('GET', `/tickets/${id}`)),
      )
      const tickets = (await Promise.all(answers.map((answer) => answer.json()))) as { status: string }[]
      return tickets.filter(({ status }) => status === 'SEARCHING').length
    }
    const total = async ({ ask }: typeof second) =>
      /muster_players_waiting.* (\d+)/.exec(await (await ask('GET', '/metrics')).text())?.[1]
    expect([await waiting(second), await total(second)]).toEqual([100, '1500'])
    second.child.kill('SIGTERM')
    expect(await second.ended).toEqual([0, null])

    const third = await serve()
    expect([await waiting(third), await total(third)]).toEqual([100, '1500'])
  })

  test('muster serve reloads only a valid configuration, and treats two simultaneous signals as one', async () => {
    configure()
    const { child, ask, ended, lines, said } = await serve()
    const path = join(folder, 'muster.yaml')
    const right = readFileSync(path, 'utf8')
    writeFileSync(path, right.replace('matchSize: 2', 'matchSize: 0'))
    await said('matchSize: must be')
    expect(lines.find((line) => line.includes('matchSize'))).toMatch(/muster\.yaml:\d+:\d+: queues\.0\.matchSize/)
    expect((await ask('POST', '/tickets', alone(1, 1)[0])).status).toBe(201)

    writeFileSync(path, right.replace('matchSize: 2', 'matchSize: 3'))
    await said('Config changed: queues.duel.teams')
    child.kill('SIGHUP')
    await said('Config reloaded; nothing has changed.')

    // npx sends the signal twice.
    child.kill('SIGINT')
    child.kill('SIGINT')
    await said('Shutting down.')
    expect(await ended).toEqual([0, null])
  })

  test('muster serve continues after a SIGHUP that arrives while its modules are loaded', async () => {
    configure()
    const hook =
      "export const resolve = (name, context, next) => (name.endsWith('/program.js') && process.kill(process.pid, " +
      "'SIGHUP'), next(name, context))"
    const script = (text: string) => `data:text/javascript,${encodeURIComponent(text)}`
    const setup = `import { register } from 'node:module'; register(${JSON.stringify(script(hook))})`
    const { child, ended } = await serve(['--import', script(setup)])
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  test('muster serve continues after the reader of its log has gone', async () => {
    configure()
    const { child, ask, ended } = await serve()
    child.stdout?.destroy()
    // From now on, nobody reads the program's output.
    child.kill('SIGHUP')
    expect((await ask('POST', '/tickets', alone(1, 1)[0])).status).toBe(201)
    child.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })

  test('muster serve that waits for the folder of another process exits with 0 on SIGTERM', async () => {
    configure()
    const first = await serve()
    const options = { cwd: folder, env: { ...process.env, ...env } }
    const second = spawn(process.execPath, [cli, 'serve'], options)
    children.push(second)
    let output = ''
    second.stdout.on('data', (chunk) => (output += String(chunk)))
    await expect.poll(() => output, { timeout: 20_000 }).toContain('Waiting for it to end.')
    second.kill('SIGTERM')
    expect(await once(second, 'close')).toEqual([0, null])
    expect(output).not.toContain('listening')
    expect((await first.ask('GET', '/readyz')).status).toBe(200)
  })

  test('muster exits without an error if the reader of its output closes early, like `head`', async () => {
    const child = spawn(process.execPath, [cli, 'schema'], { stdio: ['ignore', 'pipe', 'pipe'] })
    children.push(child)
    let complaint = ''
    child.stderr.on('data', (chunk) => (complaint += String(chunk)))
    child.stdout.destroy()
    expect([await once(child, 'close'), complaint]).toEqual([[0, null], ''])
  })

  test('muster serve reports an invalid configuration by line and column, and exits with 2', async () => {
    configure('consol: {}')
    const child = spawn(process.execPath, [cli, 'serve'], { cwd: folder, env: { ...process.env, ...env } })
    children.push(child)
    let complaint = ''
    child.stderr.on('data', (chunk) => (complaint += String(chunk)))
    expect(await once(child, 'close')).toEqual([2, null])
    expect(complaint).toContain('did you mean console?')
    expect(complaint).toMatch(/muster\.yaml:\d+:\d+/)
  })
})

test.runIf(process.platform === 'linux')('a command fails if the disk did not take its output', async () => {
  const full = openSync('/dev/full', 'w')
  const child = spawn(process.execPath, [cli, 'schema'], { stdio: ['ignore', full, 'pipe'] })
  closeSync(full)
  children.push(child)
  let complaint = ''
  child.stderr?.on('data', (part) => (complaint += String(part)))
  expect(await once(child, 'close')).toEqual([1, null])
  expect(complaint).toBe('error: the output could not be written (ENOSPC)\n')
})

test('muster dev ends with the terminal in which it runs, and leaves no game server behind', async () => {
  const game = `require('node:fs').writeFileSync('pid', String(process.pid)); setInterval(() => {}, 1000)`
  const ports = ['--port', '0', '--emulator-port', '0', '--token', 'dev']
  const child = spawn(process.execPath, [cli, 'dev', ...ports, '--', process.execPath, '-e', game], { cwd: folder })
  children.push(child)
  let said = ''
  for await (const part of child.stdout) if ((said += String(part)).includes('POST http')) break
  const url = /POST (\S+)/.exec(said)?.[1] ?? ''
  for (const player of ['ann', 'ben']) {
    const headers = { authorization: `Bearer dev:${player}`, 'content-type': 'application/json' }
    await fetch(url, { method: 'POST', headers, body: '{"profile":"duel"}' })
  }
  const pid = () => Number(readFileSync(join(folder, 'pid'), 'utf8'))
  await expect.poll(pid, { timeout: 20_000 }).toBeGreaterThan(0)
  const isRunning = () => {
    try {
      return process.kill(pid(), 0)
    } catch {
      return false
    }
  }
  expect(isRunning()).toBe(true)
  child.kill('SIGHUP')
  expect(await once(child, 'close')).toEqual([0, null])
  await expect.poll(isRunning).toBe(false)
})
