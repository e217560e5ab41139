import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, expect, test } from 'vitest'

const packageRoot = fileURLToPath(new URL('..', import.meta.url))
const repository = join(packageRoot, '../..')
const cli = join(packageRoot, 'dist/cli.js')
const folder = mkdtempSync(join(tmpdir(), 'muster-emulator-'))
const children: ChildProcess[] = []

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true }))

const start = (...args: readonly string[]) => startBy(process.execPath, cli, ...args)

function startBy(command: string, ...args: readonly string[]) {
  const child = spawn(command, args, { cwd: repository, stdio: ['ignore', 'pipe', 'pipe'] })
  children.push(child)
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (chunk: Buffer) => (output.stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output.stderr += chunk.toString()))
  const ended = once(child, 'close') as Promise<[code: number | null, signal: string | null]>
  return { child, output, ended }
}

const serving = (...args: readonly string[]) => servingBy(process.execPath, cli, ...args)

async function servingBy(command: string, ...args: readonly string[]) {
  const started = startBy(command, ...args)
  const [url] = (await once(createInterface(started.child.stdout), 'line')) as [string]
  return { ...started, url }
}

test('the muster-emulator program prints its URL first, serves, and ends cleanly with an open connection', async () => {
  const { child, output, ended, url } = await serving('--port', '0', '--token', 'secret', '--speed', '20')
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)

  const agent = new Agent({ keepAlive: true })
  const request = get(`${url}/v1/apps`, { agent, headers: { authorization: 'token secret' } })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  expect(response.statusCode).toBe(200)
  response.resume()
  await once(response, 'end')

  child.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(output).toEqual({ stdout: `${url}\n`, stderr: `To see what runs, open ${url}/_emulator\n` })
  agent.destroy()
})

test('muster-emulator reads faults from the file of --faults, and SIGINT ends it during deployments', async () => {
  const file = join(folder, 'faults.json')
  writeFileSync(file, JSON.stringify([{ operation: 'applications.list', status: 503 }]))
  const { child, ended, url } = await serving('--faults', file)
  expect((await fetch(`${url}/v1/apps`, { headers: { authorization: 'token dev' } })).status).toBe(503)
  const call = (path: string, body: unknown) =>
    fetch(`${url}${path}`, { method: 'POST', headers: { authorization: 'token dev' }, body: JSON.stringify(body) })
  await call('/v1/app', { name: 'arena' })
  await call('/v1/app/arena/version', {
    name: '1.0',
    docker_repository: 'registry.example.com',
    docker_image: 'server',
    docker_tag: 'v1',
    req_cpu: 100,
    req_memory: 100,
  })
  const users = [{ user_type: 'geo_coordinates', user_data: { latitude: 0, longitude: 0 } }]
  expect((await call('/deployments', { application: 'arena', version: '1.0', users })).status).toBe(202)
  child.kill('SIGINT')
  expect(await ended).toEqual([0, null])
})

/** Resolves once nothing listens at the URL. */
const gone = (url: string) =>
  expect.poll(() => fetch(url).then(() => 'served', String), { interval: 50 }).toContain('fetch failed')

test.each(['SIGTERM', 'SIGKILL'] as const)(
  '%s to the npx that started muster-emulator also ends muster-emulator',
  async (signal) => {
    const { child, url } = await servingBy('npx', 'muster-emulator', '--port', '0')
    expect((await fetch(`${url}/_emulator`)).status).toBe(200)
    child.kill(signal)
    await gone(url)
  },
)

test('muster-emulator ends with its parent process only if started with --end-with-parent', async () => {
  const spawned = `spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' })`
  const launcher = `console.error(require('node:child_process').${spawned}.pid)`
  const [going, ending] = [
    await servingBy(process.execPath, '-e', launcher, cli),
    await servingBy(process.execPath, '-e', launcher, cli, '--end-with-parent'),
  ]
  going.child.kill('SIGKILL')
  ending.child.kill('SIGKILL')
  await gone(ending.url)
  expect((await fetch(`${going.url}/_emulator`)).status).toBe(200)
  process.kill(Number.parseInt(going.output.stderr), 'SIGTERM')
  await gone(going.url)
})

test('muster-emulator --help shows the flags', async () => {
  const { output, ended } = start('--help')
  expect(await ended).toEqual([0, null])
  expect(output.stdout).toMatch(/^Usage: muster-emulator \[options\]\n/)
})

test('a wrong option ends muster-emulator with exit code 1 and a reason', async () => {
  const { output, ended } = start('--speed', '0')
  expect(await ended).toEqual([1, null])
  expect(output.stderr).toMatch(/^muster-emulator: option speed: .*got 0\n$/)
  expect(output.stdout).toBe('')
})
