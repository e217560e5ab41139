/** Tests the game server as a process that runs alone, over real sockets. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createServer, type AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { World } from './rules.js'

const program = fileURLToPath(new URL('../dist/game/server.js', import.meta.url))
const opened: { readonly process: ChildProcess; readonly sockets: WebSocket[] }[] = []

afterEach(() => {
  for (const { process: server, sockets } of opened.splice(0)) {
    for (const socket of sockets) socket.terminate()
    server.kill('SIGKILL')
  }
})

const freePort = () =>
  new Promise<number>((resolve) => {
    const listener = createServer().listen(0, '127.0.0.1', () => {
      const { port } = listener.address() as AddressInfo
      listener.close(() => resolve(port))
    })
  })

async function openServer(players: string, variables: Readonly<Record<string, string>> = {}) {
  const port = await freePort()
  const env = { ...process.env, MUSTER_LOCAL_PLAYERS: players, SERVICE_PORT_GAME_INTERNAL: String(port), ...variables }
  const server = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = new Promise<number | null>((resolve) => server.once('exit', resolve))
  const sockets: WebSocket[] = []
  opened.push({ process: server, sockets })
  let output = ''
  server.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
  const tokenOf = (player: string) => new RegExp(`${player}: (\\S+)`).exec(output)?.[1]

  const connect = (first: object) => {
    const socket = new WebSocket(`ws://127.0.0.1:${port}`)
    sockets.push(socket)
    const heard: { you?: string; world?: World & { here: string[] }; over?: { won?: number } }[] = []
    const closed = new Promise<string>((resolve) => socket.once('close', (_, reason) => resolve(String(reason))))
    socket.on('open', () => socket.send(JSON.stringify(first)))
    socket.on('message', (data) => heard.push(JSON.parse(String(data))))
    const say = (message: object) => socket.send(JSON.stringify(message))
    return { socket, heard, closed, say, world: () => heard.findLast(({ world }) => world)?.world }
  }
  await expect.poll(() => tokenOf('ben')).toBeDefined()
  return { exited, tokenOf, connect, join: (player: string) => connect({ join: tokenOf(player) }) }
}

const place = (world: World | undefined, player: string) => world?.skaters.find(({ id }) => id === player)?.x ?? 0

test('players join the game server with their tokens, move, and see each other', async () => {
  const { join } = await openServer('left:ann,right:ben')
  const [ann, ben] = [join('ann'), join('ben')]
  await expect.poll(() => ben.world()?.here.toSorted()).toEqual(['ann', 'ben'])
  const before = place(ben.world(), 'ann')
  ann.say({ move: [-1, 0] })
  await expect.poll(() => place(ben.world(), 'ann')).toBeLessThan(before - 50)
  expect([ann.heard[0], ben.heard[0]]).toEqual([{ you: 'ann' }, { you: 'ben' }])
})

test('a client without a token or with invalid messages is disconnected, without affecting others', async () => {
  const { join, connect } = await openServer('left:ann,right:ben')
  const ann = join('ann')
  expect(await connect({ join: 'x.y.z' }).closed).toBe('malformed')
  expect(await connect({ watch: 'no such match' }).closed).toBe('malformed')
  await expect.poll(() => ann.world()).toBeDefined()
  for (const move of [[1], 'x', [Infinity, 0], [{}, 1], null]) ann.say({ move })
  ann.socket.send('{')
  ann.say({ move: [0, 1] })
  const { vy = 0 } = ann.world()?.skaters[0] ?? {}
  await expect.poll(() => ann.world()?.skaters[0]?.vy).toBeGreaterThan(vy)
})

test('a player who lost the connection returns to the same place with the same token', async () => {
  const { join } = await openServer('left:ann,right:ben')
  const [ann, ben] = [join('ann'), join('ben')]
  await expect.poll(() => ben.world()?.here).toHaveLength(2)
  ann.say({ move: [0, 1] })
  await expect.poll(() => ann.world()?.skaters[0]?.y).toBeGreaterThan(600)
  ann.socket.terminate()
  await expect.poll(() => ben.world()?.here).toEqual(['ben'])
  const again = join('ann')
  await expect.poll(() => again.world()?.here).toEqual(['ben', 'ann'])
  expect(again.world()?.skaters[0]?.y).toBeGreaterThan(600)
})

test('a player who left for good cannot return with the same token', async () => {
  const { join } = await openServer('left:ann,right:ben')
  const ann = join('ann')
  await expect.poll(() => ann.heard.length).toBeGreaterThan(1)
  ann.say({ leave: true })
  await ann.closed
  expect(await join('ann').closed).toBe('used')
})

test('anybody may watch the example game, and the server ends with its game', async () => {
  const { join, connect, exited } = await openServer('left:ann,right:ben', { GAME_SECONDS: '0.1' })
  const [ann, watcher] = [join('ann'), connect({ watch: 'local' })]
  await expect.poll(() => watcher.world()?.here).toEqual(['ann'])
  // The time is over at once, so the goals grow until one push moves the puck into a goal.
  await expect.poll(() => watcher.world()?.secondsLeft).toBeLessThan(0)
  const chase = setInterval(() => {
    const { skaters: [own] = [], puck } = ann.world() ?? {}
    if (own && puck && ann.socket.readyState === ann.socket.OPEN) ann.say({ move: [puck.x - own.x, puck.y - own.y] })
  }, 30)
  expect(await Promise.all([ann.closed, watcher.closed])).toEqual(['', ''])
  clearInterval(chase)
  expect(watcher.heard.at(-1)?.over).toMatchObject({ won: expect.any(Number) })
  expect(await exited).toBe(0)
})
