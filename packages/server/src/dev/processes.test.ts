/** Tests `muster dev -- COMMAND`: a deployment is a process of this machine, and its output and its end are shown. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ServerList } from '@muster/console/internal'
import { afterEach, expect, test } from 'vitest'
import { ask } from './ask.fixture.js'
import { type Dev, type DevOptions, startDev } from './start-dev.js'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** A server that registers, reports that players may come, and greets everybody who connects to its port. */
const SERVER = `
const { MUSTER_URL: url, MUSTER_SERVER_TOKEN: token, MUSTER_POOL, SERVICE_PORT_GAME_INTERNAL: port } = process.env
require('node:net').createServer((socket) => socket.end('hello\\n')).listen(port, '127.0.0.1', () => {
  console.log('up in ' + process.cwd() + ' with ' + process.argv.slice(2))
})
process.on('SIGTERM', () => { console.log('told to end'); process.exit(0) })
const call = async (method, path, body) => {
  const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json' }
  const answer = await fetch(url + path, { method, headers, body: JSON.stringify({ instance: 'one', ...body }) })
  return answer.json()
}
async function serve() {
  let known = await call('POST', '/servers', { deployment: process.env.SERVICE_REQUEST_ID })
  for (let seq = 1; ; seq += 1) {
    const matches = known.matches.map(({ id }) => ({ id, status: 'open', players: {} }))
    known = await call('PUT', '/servers/me?wait=1&version=' + (seq < 2 ? 0 : known.version), { seq, matches })
  }
}
if (MUSTER_POOL) serve()
`

const YAML = `
name: studio
service: { url: https://api.example.com, token: { env: NOT_SET } }
launch: { command: [${JSON.stringify(process.execPath)}, ../server.cjs, of-the-file], folder: build }
pools:
  - { name: arena, deploy: { application: game, version: '1' }, reuse: { maxMatches: 20 } }
queues:
  - { name: duel, matchSize: 2, pool: arena }
  - { name: solo, matchSize: 1, deploy: { application: game, version: '1' } }
`

/** Creates a studio's folder with a server and a configuration that starts it. */
function studio(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'muster-dev-')))
  ends.push(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'build'))
  writeFileSync(join(folder, 'server.cjs'), SERVER)
  writeFileSync(join(folder, 'muster.yaml'), YAML)
  return folder
}

interface Opened extends Dev {
  readonly lines: readonly string[]
}

/** Returns the lines that servers have written when they began to listen. */
const startsIn = ({ lines }: Opened) => lines.filter((line) => line.includes(': up in '))

async function open(options: DevOptions): Promise<Opened> {
  const lines: string[] = []
  const dev = await startDev({
    port: 0,
    emulatorPort: 0,
    token: 'TOKEN',
    write: (line) => lines.push(line),
    ...options,
  })
  ends.push(dev.close)
  return { ...dev, lines }
}

/** Plays in a queue. Resolves with the port to which the first player is sent, once its server has started. */
async function portOf(dev: Opened, profile: string, players: readonly string[]): Promise<number> {
  const before = startsIn(dev).length
  for (const player of players) expect((await ask(dev, player, 'POST', '/tickets', { profile })).status).toBe(201)
  const link = async () => {
    const { matches } = (await (await ask(dev, players[0] ?? '', 'GET', '/me')).json()) as {
      matches: { assignment?: { ports: { game: { link: string } } } }[]
    }
    return matches[0]?.assignment?.ports.game.link
  }
  await expect.poll(link).toMatch(/^localhost:\d+$/)
  await expect.poll(() => startsIn(dev).length).toBe(before + 1)
  return Number((await link())?.split(':')[1])
}

const greetingAt = (port: number) =>
  new Promise<string>((resolve, reject) => {
    connect(port, '127.0.0.1')
      .on('data', (data) => resolve(data.toString()))
      .on('error', reject)
  })

const serversOf = async (dev: Dev) =>
  ((await (await ask(dev, '', 'GET', '/console/api/servers')).json()) as ServerList).servers

test('`launch` of a muster dev file runs each server in its folder, and players are sent to it', async () => {
  const folder = studio()
  const dev = await open({ config: join(folder, 'muster.yaml') })
  expect(await greetingAt(await portOf(dev, 'duel', ['ann', 'ben']))).toBe('hello\n')
  expect(await greetingAt(await portOf(dev, 'solo', ['cas']))).toBe('hello\n')
  expect(startsIn(dev).map((line) => line.slice(line.indexOf('up in')).trim())).toEqual(
    Array.from({ length: 2 }, () => `up in ${join(folder, 'build')} with of-the-file`),
  )
}, 60_000)

test('a command of muster dev replaces `launch` of the file, and the console shows and kills its process', async () => {
  const folder = studio()
  const command = [process.execPath, 'server.cjs', 'of-the-command']
  const dev = await open({ config: join(folder, 'muster.yaml'), command: { command, folder } })
  await portOf(dev, 'solo', ['cas'])

  const [server] = await serversOf(dev)
  expect(server).toMatchObject({ isProcess: true })
  const id = server?.requestId ?? ''
  const output = () => ask(dev, '', 'GET', `/console/api/servers/${id}/output`)
  expect(await (await output()).json()).toEqual({ text: `up in ${folder} with of-the-command\n` })
  expect(dev.lines.find((line) => line.includes(`${id}: up in ${folder} with of-the-command`))).toBeDefined()
  expect((await ask(dev, 'cas', 'GET', `/console/api/servers/${id}/output`)).status).toBe(401)

  expect((await ask(dev, '', 'POST', `/console/api/servers/${id}/kill`)).status).toBe(204)
  await expect.poll(() => dev.lines.some((line) => line.includes(`${id}: has ended with exit code 137`))).toBe(true)
  expect(dev.lines.some((line) => line.includes('told to end'))).toBe(false)
  await expect.poll(async () => (await serversOf(dev)).length).toBe(0)
  expect((await output()).status).toBe(404)
  const { acts } = (await (await ask(dev, '', 'GET', '/console/api/acts')).json()) as { acts: object[] }
  expect(acts).toMatchObject([{ what: 'kill-server', id }])
}, 60_000)

test('at the end of muster dev each server process gets a SIGTERM', async () => {
  const folder = studio()
  const dev = await open({ config: join(folder, 'muster.yaml') })
  await portOf(dev, 'solo', ['cas'])
  await dev.close()
  expect(dev.lines.some((line) => line.includes(': told to end'))).toBe(true)
}, 60_000)

test('without a command muster dev emulates servers, and there is no process to read or kill', async () => {
  const dev = await open({})
  for (const who of ['ann', 'ben']) await ask(dev, who, 'POST', '/tickets', { profile: 'duel' })
  await expect.poll(async () => (await serversOf(dev))[0]?.requestId).toMatch(/./)
  const [server] = await serversOf(dev)
  expect(server?.isProcess).toBe(false)
  for (const [method, what] of [
    ['GET', 'output'],
    ['POST', 'kill'],
  ] as const)
    expect((await ask(dev, '', method, `/console/api/servers/${server?.requestId}/${what}`)).status).toBe(404)
})
