import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
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

const start = (url: string, slot: number, problems: string[] = [], handleSignals = false) =>
  createGameServer({
    env: { MUSTER_URL: url, MUSTER_ENROL_KEY: KEY, MUSTER_SERVER_PORTS: `game=${7777 + slot}/udp` },
    handleSignals,
    onProblem: ({ message }) => problems.push(message),
  })

test('six processes that only have an enrolment key enrol, serve a match and can shut down', async () => {
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

test('after SIGTERM, an unfinished match is over at once, and the name of the server is free', async () => {
  const stack = await openStack(() => start('', 0), { pools })
  const problems: string[] = []
  const ended: string[] = []
  stack.matchmaker.on('matchOver', ({ matchId, reason }) => ended.push(`${matchId} ${reason}`))
  const first = start(stack.url, 0, problems, true)
  const done = first.serve({ match: () => {} })
  const [ann] = await Promise.all([stack.join('ann'), stack.join('ben')])
  process.emit('SIGTERM')
  await done
  expect(ended).toEqual([`${ann.match_id} over`])
  expect(stack.matchmaker.inspect().servers).toEqual([])

  // The next process of the same name gets the next match of the same players.
  const next = start(stack.url, 0, problems)
  const nextDone = next.serve({ match: () => {} })
  const [again] = await Promise.all([stack.join('ann'), stack.join('ben')])
  expect([...next.matches.keys()]).toEqual([again.match_id])
  void next.matches.get(again.match_id)?.over()
  void next.shutdown()
  await nextDone
  expect(problems).toEqual([])
  await stack.close()
})

test('after SIGTERM, players of a match that still loads get another server, and listed players are free', async () => {
  const stack = await openStack(() => start('', 0), { pools })
  const first = start(stack.url, 0, [], true)
  const loading: string[] = []
  const done = first.serve({
    match: (match) => {
      loading.push(match.id)
      return new Promise(() => {})
    },
  })
  const joined = Promise.all([stack.join('ann'), stack.join('ben')])
  await expect.poll(() => loading.length, { timeout: 10_000 }).toBe(1)
  const next = start(stack.url, 1)
  const nextDone = next.serve({ match: () => {} })
  await expect.poll(() => next.status, { timeout: 10_000 }).toBe('IDLE')
  process.emit('SIGTERM')
  await done
  const [ann] = await joined
  expect(loading).toEqual([ann.match_id])
  expect([...next.matches.keys()]).toEqual([ann.match_id])
  void next.matches.get(ann.match_id)?.over()
  void next.shutdown()
  await nextDone

  const listed = start(stack.url, 2, [], true)
  const listedDone = listed.serve({})
  listed.list({ name: 'Night', seats: 4 })
  const listings = () => stack.matchmaker.inspect().servers.map(({ listing }) => listing?.name)
  await expect.poll(listings, { timeout: 10_000 }).toEqual(['Night'])
  const { id } = stack.matchmaker.inspect().servers[0] ?? { id: '' }
  const { json } = await stack.call('zoe', 'POST', `/servers/${id}/seats`)
  const { assignment } = json as { readonly assignment: { readonly join_token: string } }
  await listed.admit(assignment.join_token)
  await expect.poll(() => stack.matchmaker.inspect().servers[0]?.playersIn, { timeout: 10_000 }).toBe(1)
  process.emit('SIGTERM')
  await listedDone
  expect(stack.matchmaker.inspect().servers).toEqual([])
  await stack.close()
})

test('a malformed MUSTER_SERVER_PORTS is an error that names the variable', () => {
  for (const ports of ['7777', 'game=', 'game=0', 'game=70000', 'game=7777/udp;web=8080']) {
    const env = { MUSTER_URL: 'http://muster.example', MUSTER_ENROL_KEY: KEY, MUSTER_SERVER_PORTS: ports }
    expect(() => createGameServer({ env })).toThrow(InvalidCall)
    expect(() => createGameServer({ env })).toThrow('MUSTER_SERVER_PORTS')
  }
})

describe('a pool that checks servers by a UDP knock', () => {
  const knocking = (withinMs?: number) => {
    const knock = { kind: 'udp' as const, port: 'game', withinMs }
    return pools.map((pool) => ({
      ...pool,
      enrol: pool.enrol.map((one) => ({ ...one, hosts: ['127.0.0.1'], knock })),
    }))
  }
  /** Starts a game on a socket that passes datagrams to the server. Also returns the datagrams that were no knocks. */
  const play = async (url: string, problems: string[]) => {
    const socket = createSocket('udp4')
    socket.bind(0, '127.0.0.1')
    await once(socket, 'listening')
    const server = createGameServer({
      env: {
        MUSTER_URL: url,
        MUSTER_ENROL_KEY: KEY,
        MUSTER_SERVER_PORTS: `game=${socket.address().port}/udp`,
        MUSTER_SERVER_ADDRESS: '127.0.0.1',
      },
      handleSignals: false,
      onProblem: ({ message }) => problems.push(message),
    })
    return { socket, server }
  }

  test('a pool with a UDP knock gives a match only once the game has passed on the datagram', async () => {
    const stack = await openStack(() => start('', 0), { pools: knocking() })
    const problems: string[] = []
    const ofGame: string[] = []
    const { socket, server } = await play(stack.url, problems)
    const states: string[] = []
    socket.on('message', (data) => {
      states.push(...stack.matchmaker.inspect().servers.map(({ state }) => state))
      if (!server.knocked(data)) ofGame.push(data.toString())
    })
    const done = server.serve({ match: () => {} })
    const stranger = createSocket('udp4')
    for (const text of ['hello', `muster-knock-${'x'.repeat(30)}`])
      await new Promise((resolve) => stranger.send(text, socket.address().port, '127.0.0.1', resolve))
    const [ann] = await Promise.all([stack.join('ann'), stack.join('ben')])
    expect([...server.matches.keys()]).toEqual([ann.match_id])
    expect(states[0]).toBe('STARTING')
    expect([ofGame, problems]).toEqual([['hello'], []])
    void server.matches.get(ann.match_id)?.over()
    void server.shutdown()
    await done
    socket.close()
    stranger.close()
    await stack.close()
  })

  test('a pool with a UDP knock stops a server that does not pass on the datagram, with the reason', async () => {
    const stack = await openStack(() => start('', 0), { pools: knocking(1000) })
    const { socket, server } = await play(stack.url, [])
    const reasons: string[] = []
    await server.serve({ match: () => {}, stop: (reason) => void reasons.push(reason) })
    expect(reasons).toEqual(['not-listening'])
    socket.close()
    await stack.close()
  })
})

test('an empty environment variable counts as not set, as in environment files of containers', () => {
  const modeOf = (env: Record<string, string>) => createGameServer({ env, handleSignals: false }).mode
  const url = 'http://muster.example'
  expect(modeOf({ MUSTER_URL: url, MUSTER_SERVER_TOKEN: '', MUSTER_ENROL_KEY: KEY })).toBe('muster')
  expect(modeOf({ MUSTER_URL: '', MUSTER_SERVER_TOKEN: 'a.b', MM_MATCH_ID: 'm1' })).toBe('environment')
  expect(modeOf({ MUSTER_URL: url, MUSTER_SERVER_TOKEN: '', MM_MATCH_ID: '' })).toBe('local')
})
