/** Tests `pnpm game` as a process, with players who send the same messages as the page. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { createMuster, type Muster } from '@muster/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { World } from './rules.js'
import { isBot } from './sessions.js'

const program = fileURLToPath(new URL('../dist/game/main.js', import.meta.url))
const taken = createServer()
let game: ChildProcess
let url = ''
const players: Muster[] = []

beforeAll(async () => {
  // Another program uses the port.
  taken.listen(0, '127.0.0.1')
  await once(taken, 'listening')
  const port = String((taken.address() as AddressInfo).port)
  game = spawn(process.execPath, [program, '--port', port], { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  game.stdout?.setEncoding('utf8').on('data', (text: string) => (output += text))
  while (url === '') {
    await once(game.stdout as NodeJS.EventEmitter, 'data')
    url = /Play at ([^,]+),/.exec(output)?.[1] ?? ''
  }
})

afterAll(() => {
  for (const muster of players) muster.close()
  game.kill('SIGKILL')
  taken.close()
})

async function newPlayer() {
  const { token, id } = (await (await fetch(`${url}/session`, { method: 'POST' })).json()) as {
    readonly token: string
    readonly id: string
  }
  const muster = createMuster({ url: `${url}/play`, token })
  players.push(muster)
  return { token, id, muster }
}

test('the example game serves its page and modules, and nothing else', async () => {
  const get = async (path: string) => {
    const answer = await fetch(url + path)
    return [answer.status, answer.headers.get('content-type')]
  }
  expect(await get('/')).toEqual([200, 'text/html; charset=utf-8'])
  for (const path of ['/game.js', '/field.js', '/game/rules.js', '/muster/index.js', '/muster/lobbies.js'])
    expect(await get(path)).toEqual([200, 'text/javascript; charset=utf-8'])
  for (const path of [
    '/game/server.js',
    '/..%2f..%2fpackage.json',
    '/muster/../package.json',
    '/none.html',
    '/muster/',
  ])
    expect((await get(path))[0]).toBe(404)
})

interface GameView {
  readonly id: string
  readonly players: readonly string[]
  readonly isOpen: boolean
  readonly port: number
}
const games = async () =>
  ((await (await fetch(`${url}/games`)).json()) as { readonly games: readonly GameView[] }).games

test('bots of the example game play without players, and one bot leaves when a player joins', async () => {
  const { id, token, muster } = await newPlayer()
  let shown: GameView | undefined
  await expect.poll(async () => (shown = (await games()).find(({ isOpen }) => isOpen))).toBeDefined()
  const headers = { authorization: `Bearer ${token}` }
  const body = JSON.stringify({ game: shown?.id })
  expect((await fetch(`${url}/join`, { method: 'POST', headers, body })).status).toBe(204)
  await muster.play({ profile: 'duel' })
  expect(muster.state).toMatchObject({ phase: 'assigned', matchId: shown?.id })
  const joined = (await games()).find((one) => one.id === shown?.id)?.players ?? []
  expect(joined.filter((player) => !isBot(player))).toEqual([id])
})

test('a bot of the example game joins when a player has waited long', async () => {
  const { id, muster } = await newPlayer()
  await muster.play({ profile: 'pairs' })
  const found = (await games()).find(({ players: all }) => all.includes(id))
  expect(found?.players.filter(isBot)).toHaveLength(3)
})

test('two players of the example game meet on one field, and the list shows their game', async () => {
  const [ann, ben] = [await newPlayer(), await newPlayer()]
  const [annsPlace, bensPlace] = await Promise.all([ann, ben].map(({ muster }) => muster.play({ profile: 'duel' })))
  expect(annsPlace?.ports).toEqual(bensPlace?.ports)
  let world: (World & { readonly here: readonly string[] }) | undefined
  const sockets = [annsPlace, bensPlace].map((place) => {
    const socket = new WebSocket(`ws://${place?.fqdn}:${place?.ports['game']?.external}`)
    socket.on('open', () => socket.send(JSON.stringify({ join: place?.joinToken })))
    socket.on('message', (data) => (world = JSON.parse(String(data)).world ?? world))
    return socket
  })
  const both = [ann.id, ben.id].toSorted()
  await expect.poll(() => world?.here.toSorted()).toEqual(both)
  expect((await games()).map((one) => one.players.toSorted())).toContainEqual(both)
  for (const socket of sockets) socket.close()
})

test('the example game ignores a rating stated by a player, or by an unsigned result', async () => {
  const { token, id } = await newPlayer()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const stated = JSON.stringify({ profile: 'duel', attributes: { mu: 90 } })
  expect((await fetch(`${url}/play/tickets`, { method: 'POST', headers, body: stated })).status).toBe(400)
  const body = JSON.stringify({ type: 'match.over', data: { ranking: [[id], ['other']] } })
  expect((await fetch(`${url}/results`, { method: 'POST', headers, body })).status).toBe(401)
  const session = await (await fetch(`${url}/session`, { method: 'POST', headers })).json()
  expect(session).toEqual({ token, id, shown: 1000, played: 0, won: 0 })
})

test('the example game refuses a body that is too large or has no length before it is read', async () => {
  const { token } = await newPlayer()
  const headers = { authorization: `Bearer ${token}` }
  const large = 'x'.repeat(70_000)
  const stream = () => new Blob([large]).stream()
  for (const path of ['/results', '/join'])
    for (const body of [large, stream()]) {
      const sent = { method: 'POST', headers, body, duplex: 'half' }
      expect((await fetch(url + path, sent as RequestInit)).status).toBe(413)
    }
})

test('the example game refuses to join a game that does not exist, with the reason', async () => {
  const { token } = await newPlayer()
  const join = async (body: string, authorization = `Bearer ${token}`) =>
    (await fetch(`${url}/join`, { method: 'POST', headers: { authorization }, body })).status
  expect(await Promise.all(['{', 'null', '{}', '{"game":"none"}'].map((body) => join(body)))).toEqual(
    Array(4).fill(409),
  )
  expect(await join('{}', 'Bearer none')).toBe(401)
})

test('the relay bridge of the example game closes connections from non-members of a running lobby', async () => {
  const { token } = await newPlayer()
  const closed = (first?: string) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/relay`)
    if (first !== undefined) socket.on('open', () => socket.send(first))
    return new Promise((resolve) => socket.once('close', resolve))
  }
  for (const first of [undefined, '{', 'null', '{}', '{"token":1}', JSON.stringify({ token, lobby: 'none' })])
    expect(await closed(first)).toBe(4001)
})

test('the example game ends by a signal, with everything it started', async () => {
  const running = await games()
  const exited = new Promise((resolve) => game.once('exit', resolve))
  game.kill('SIGTERM')
  expect(await exited).toBe(0)
  expect(running.length).toBeGreaterThan(0)
  for (const { port } of running) await expect(fetch(`http://127.0.0.1:${port}`)).rejects.toThrow()
})
