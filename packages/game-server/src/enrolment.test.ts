import { expect, test } from 'vitest'
import { InvalidCall } from './errors.js'
import { createGameServer, type GameServer } from './game-server.js'
import { openStack } from './stack.fixture.js'

const KEY = 'a-key-of-the-arena-in-frankfurt-1'
const pools = [
  {
    name: 'arena',
    places: [{ name: 'Frankfurt', latitude: 50.1, longitude: 8.7 }],
    reuse: { maxMatches: 100 },
    enrol: [{ key: KEY, place: 'Frankfurt', max: 6 }],
  },
]

const start = (url: string, slot: number, problems: string[] = []) =>
  createGameServer({
    env: { MUSTER_URL: url, MUSTER_ENROL_KEY: KEY, MUSTER_SERVER_PORTS: `game=${7777 + slot}/udp` },
    handleSignals: false,
    onProblem: ({ message }) => problems.push(message),
  })

test('six processes with a key and nothing else serve matches within a second, and end by their own wish', async () => {
  const stack = await openStack(() => start('', 0), { pools })
  const problems: string[] = []
  const servers: GameServer[] = []
  const done: Promise<void>[] = []
  const begun = Date.now()
  for (const slot of [0, 1, 2, 3, 4, 5]) {
    const server = start(stack.url, slot, problems)
    servers.push(server)
    done.push(server.serve({ match: () => {} }))
  }
  expect(servers[0]?.ports).toEqual({ game: { internal: 7777, external: 7777, protocol: 'UDP' } })
  const [ann] = await Promise.all([stack.join('ann'), stack.join('ben')])
  const tookMs = Date.now() - begun
  expect(problems).toEqual([])
  const playing = servers.find(({ matches }) => matches.has(ann.match_id))
  expect((await playing?.admit(ann.join_token))?.id).toBe('ann')
  process.stdout.write(`from the start of six processes to the first assignment: ${tookMs} ms\n`)
  playing?.matches.get(ann.match_id)?.over({ ranking: [['ann'], ['ben']] })
  for (const server of servers) void server.shutdown()
  await Promise.all(done)
  expect(stack.matchmaker.inspect().servers).toEqual([])
  expect(stack.servers).toEqual([])
  await stack.close()
})

test('ports of another form are an error that names the variable', () => {
  for (const ports of ['7777', 'game=', 'game=0', 'game=70000', 'game=7777/udp;web=8080']) {
    const env = { MUSTER_URL: 'http://muster.example', MUSTER_ENROL_KEY: KEY, MUSTER_SERVER_PORTS: ports }
    expect(() => createGameServer({ env })).toThrow(InvalidCall)
    expect(() => createGameServer({ env })).toThrow('MUSTER_SERVER_PORTS')
  }
})
