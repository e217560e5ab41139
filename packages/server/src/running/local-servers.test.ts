/** Tests a pool whose servers are processes of this machine. They outlive the program if its store does. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { checkLive } from '../cli/live-check.js'
import { readConfigText } from '../config/index.js'
import { BACKEND_KEY, env, freePort, openService, yamlOf } from './server.fixture.js'
import { startServer } from './start-server.js'

/** A server that sends its process id to everybody who connects to its port. */
const GAME = `
const { MUSTER_URL: url, MUSTER_SERVER_TOKEN: token, SERVICE_PORT_GAME_INTERNAL: port } = process.env
require('node:net').createServer((socket) => socket.end(String(process.pid))).listen(port, '127.0.0.1')
process.on('SIGTERM', () => process.exit(0))
const call = async (method, path, body) => {
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
  const answer = await fetch(url + path, { method, headers, body: JSON.stringify({ instance: 'one', ...body }) })
  if (answer.status === 410) process.exit(0)
  if (!answer.ok) throw new Error(String(answer.status))
  return answer.json()
}
async function serve() {
  let known = await call('POST', '/servers', { deployment: process.env.SERVICE_REQUEST_ID })
  for (let seq = 1; ; seq += 1) {
    const matches = known.matches.map(({ id }) => ({ id, status: 'open', players: {} }))
    known = await call('PUT', '/servers/me?wait=1&version=' + (seq < 2 ? 0 : known.version), { seq, matches })
  }
}
const again = () => serve().catch(() => setTimeout(again, 100))
again()
`

/** Resolves with the greeting of the server at a port of this machine; undefined if there is no server. */
const greetingAt = (port: number) =>
  new Promise<string | undefined>((resolve) => {
    let text = ''
    connect(port, '127.0.0.1')
      .setEncoding('utf8')
      .on('data', (data: string) => (text += data))
      .once('error', () => resolve(undefined))
      .once('close', () => resolve(text === '' ? undefined : text))
  })

async function studio(store: string, game = GAME) {
  const { emulator, url } = await openService()
  const folder = mkdtempSync(join(tmpdir(), 'muster-studio-'))
  onTestFinished(async () => {
    await emulator.close()
    rmSync(folder, { recursive: true })
  })
  writeFileSync(join(folder, 'game.cjs'), game)
  const port = await freePort()
  const more = `
listen: { port: ${port}, publicUrl: 'http://127.0.0.1:${port}' }
store: ${store}
servers: { secret: { env: JWT_SECRET } }
sources: { local: { launch: { command: [${JSON.stringify(process.execPath)}, game.cjs], ports: { game: TCP } } } }
pools:
  - { name: arena, source: local, deploy: { application: my-game, version: '1' }, reuse: { maxMatches: 20 } }
`
  const text = yamlOf(url, more, '\n  - { name: duel, matchSize: 2, pool: arena }\n').replace(
    'listen: { port: 0 }\n',
    '',
  )
  const { config } = await readConfigText(text, { path: join(folder, 'muster.yaml'), env })
  const lines: string[] = []
  const open = async () => {
    const server = await startServer(config, { write: (line) => lines.push(line) })
    onTestFinished(async () => void (await server.close()))
    return server
  }
  /** Two players are matched and connect. */
  const play = async (one: string, other: string) => {
    const ask = async (method: string, path: string, body?: object) => {
      const headers = { authorization: `Bearer ${BACKEND_KEY}`, 'content-type': 'application/json' }
      return fetch(`http://127.0.0.1:${port}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    }
    const tickets = [one, other].map((id) => ({
      profile: 'duel',
      player_id: id,
      player_ip: '192.0.2.7',
      attributes: {},
    }))
    await expect.poll(async () => (await ask('POST', '/tickets/batch', { tickets })).status).toBe(200)
    const found = async () => {
      const answer = (await (await ask('GET', `/players/${one}`)).json()) as {
        matches?: readonly { match_id: string; assignment?: { ports: Record<string, { external: number }> } }[]
      }
      return answer.matches?.[0]
    }
    await expect.poll(async () => (await found())?.assignment).toBeDefined()
    const { match_id: matchId = '', assignment } = (await found()) ?? {}
    const at = Object.values(assignment?.ports ?? {})[0]?.external ?? 0
    return { matchId, at, pid: await greetingAt(at) }
  }
  return { config, lines, open, play }
}

test('a launched server plays a match, survives a restart of Muster and plays the next match', async () => {
  const { open, play } = await studio('{ folder: store }')
  const first = await open()
  const before = await play('ann', 'ben')
  expect(Number(before.pid)).toBeGreaterThan(0)
  await first.close()
  expect(await greetingAt(before.at)).toBe(before.pid)
  const second = await open()
  await second.service.stopMatch(before.matchId)
  const after = await play('cleo', 'dan')
  expect([after.at, after.pid]).toEqual([before.at, before.pid])
  const serverIds = (await second.service.inspect()).servers.map(({ id }) => id)
  for (const id of serverIds) await second.service.stopServer(id)
  await expect.poll(() => greetingAt(after.at)).toBeUndefined()
})

test('without a store the launched server processes end with Muster', async () => {
  const { open, play } = await studio('memory')
  const server = await open()
  const { at, pid } = await play('ann', 'ben')
  expect(Number(pid)).toBeGreaterThan(0)
  await server.close()
  expect(await greetingAt(at)).toBeUndefined()
})

test('the output of a failed server process is in the log, without its token', async () => {
  const { lines, open } = await studio(
    'memory',
    "console.error('no map', process.env.MUSTER_SERVER_TOKEN); process.exit(3)",
  )
  const server = await open()
  for (const id of ['ann', 'ben'])
    await server.service.createTicket({ queue: 'duel', players: [{ id, ip: '198.51.100.7' }] })
  const written = () => lines.find((line) => line.includes('no map'))
  await expect.poll(written).toBeDefined()
  expect(JSON.stringify(lines)).not.toMatch(/no map [0-9a-z-]{12}/)
})

test('muster check --live reports that a local source answers a poll', async () => {
  const { config } = await studio('memory')
  const lines: string[] = []
  await checkLive({
    config,
    deploys: false,
    announce: () => {},
    said: ({ what, works, says }) => lines.push(`${works ? 'works' : 'fails'} ${what}: ${says}`),
  })
  expect(lines.at(-1)).toBe('works source local: it answers a poll')
})

test.each([
  ['command', { command: ['no-such-program', 'game.cjs'] }, 'there is no program "no-such-program"'],
  ['command', { command: ['./game.cjs'] }, 'there is no program "./game.cjs"'],
  ['command', { command: ['/opt/{application}/{version}'] }, 'there is no program "/opt/my-game/1"'],
  ['folder', { folder: '/no/such/folder' }, 'there is no such folder'],
])('muster check --live reports that a local source cannot start a server (%s, %j)', async (field, given, fault) => {
  const { config } = await studio('memory')
  const local = config.sources['local']
  if (local?.launch === undefined) throw new Error('the source `local` launches processes')
  const readings: unknown[] = []
  const works = await checkLive({
    config: { ...config, sources: { local: { ...local, launch: { ...local.launch, ...given } } } },
    deploys: false,
    announce: () => {},
    said: (reading) => readings.push(reading),
  })
  const says = `sources.local.launch.${field}: ${fault}, so no server can start`
  expect([works, readings.at(-1)]).toEqual([false, { what: 'source local', works: false, says }])
})
