/**
 * Runs the commands of deploy/container/compose.yaml as processes with other addresses. They must match two players.
 */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { skipsRedis, startRedisServer } from '@muster/redis-server'
import { expect, onTestFinished, test } from 'vitest'
import { parse } from 'yaml'

const root = fileURLToPath(new URL('../..', import.meta.url))
const fileOf = (name: string) => readFileSync(join(root, 'deploy/container', name), 'utf8')

interface Service {
  readonly entrypoint: readonly string[]
  readonly command: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly ports?: readonly string[]
}

const { services } = parse(fileOf('compose.yaml')) as { readonly services: Readonly<Record<string, Service>> }
/** Returns a list of the Dockerfile, such as CMD. */
const listOf = (name: string) =>
  JSON.parse(new RegExp(`^${name} (\\[.*\\])$`, 'm').exec(fileOf('Dockerfile'))?.[1] ?? '[]') as readonly string[]
/** Replaces the paths of the image in a command by those of this repository. */
const here = (words: readonly string[]) =>
  words.map((word) => word.replace('/app/node_modules/@muster', join(root, 'packages')))

const freePort = () =>
  new Promise<number>((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })

/** Runs a command, which is killed when the test ends. */
function run([, ...args]: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const child = spawn(process.execPath, args, { env: { PATH: process.env['PATH'], ...env } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (data: Buffer) => (output += data.toString()))
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { output: () => output, ended, stop: () => child.kill('SIGTERM') }
}

test.skipIf(skipsRedis())('the commands of the compose file start a Muster that serves players', async () => {
  const redis = await startRedisServer()
  onTestFinished(() => redis.close())
  const { emulator, muster } = services
  const [port, apiPort] = [await freePort(), await freePort()]
  const command = emulator?.command.map((word) => (word === '8090' ? String(port) : word)) ?? []
  const service = run(here([...(emulator?.entrypoint ?? []), ...command]))
  await expect.poll(service.output).toContain(`:${port}`)
  const url = `http://127.0.0.1:${port}`
  // Send the requests of the file's comment to the emulator's published port.
  expect(emulator?.ports).toEqual(['127.0.0.1:8090:8090'])
  const headers = { authorization: `token ${muster?.environment['MUSTER_TOKEN']}`, 'content-type': 'application/json' }
  const comment = fileOf('compose.yaml').replaceAll(/^#/gm, '')
  const requests = [...comment.matchAll(/^ +at (\S+) '([^']+)'/gm)]
  expect(requests).toHaveLength(2)
  for (const [, path, body] of requests)
    expect(await fetch(`${url}/v1/${path}`, { method: 'POST', headers, body: body ?? '' })).toMatchObject({ ok: true })

  const folder = mkdtempSync(join(tmpdir(), 'muster-compose-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const config = join(folder, 'muster.yaml')
  const own = fileOf('config/muster.yaml')
  const moved = own
    .replace('http://emulator:8090', url)
    .replace('redis://redis:6379', redis.url)
    .replace('port: 8080', `port: ${apiPort}`)
  writeFileSync(config, moved)
  const words = [...listOf('ENTRYPOINT'), ...listOf('CMD')]
  const key = 'key-of-the-game-backend'
  const program = run(here(words.map((word) => (word === '/etc/muster/muster.yaml' ? config : word))), {
    MUSTER_TOKEN: muster?.environment['MUSTER_TOKEN'] ?? '',
    MUSTER_BACKEND_KEY: key,
    MUSTER_OPERATOR_KEY: 'key-of-the-operators',
  })
  const ask = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
    const init = { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) }
    return fetch(`http://127.0.0.1:${apiPort}${path}`, init).catch(() => new Response(null, { status: 599 }))
  }
  const isReady = async () => ((await ask('/readyz')).status === 200 ? 'ready' : program.output())
  await expect.poll(isReady).toBe('ready')
  const ids: string[] = []
  for (const id of ['ann', 'ben']) {
    const created = await ask('/tickets', { profile: 'duel', player_id: id, player_ip: '203.0.113.7', attributes: {} })
    const ticket = (await created.json()) as { readonly id: string }
    expect([created.status, ticket]).toEqual([201, expect.objectContaining({ status: 'SEARCHING' })])
    ids.push(ticket.id)
  }
  const statusOf = async () => ((await (await ask(`/tickets/${ids[0]}`)).json()) as { readonly status: string }).status
  await expect.poll(statusOf).toMatch(/^(MATCH_FOUND|HOST_ASSIGNED)$/)
  program.stop()
  expect(await program.ended).toBe(0)
})
