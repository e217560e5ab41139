/** Tests what operators see of game servers and pools, and how they drain and stop a server. */
import { type PoolDefinition } from '@muster/hosting'
import { RegistrationBody, ReportBody } from '@muster/hosting/internal'
import { describe, expect, test } from 'vitest'
import { open, world as players } from './listed-servers.fixture.js'
import { setUp } from './matchmaker.fixture.js'

const arena: PoolDefinition = {
  name: 'arena',
  deploy: { application: 'game', version: '1' },
  places: [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }],
  reuse: { maxMatches: 20 },
  at: [{ cron: '* * * * *', minutes: 2, min: 1 }],
}
const queues = [{ name: 'duel', matchSize: 2, pool: 'arena' }]

type World = ReturnType<typeof setUp>
type Speaks = Pick<World['matchmaker'], 'registerServer' | 'reportServer'>

/** Returns the game server of the nth deployment, which accepts every match. */
function gameServer({ service }: Pick<World, 'service'>, nth: number) {
  const variables = service.calls.create[nth]?.environment_variables
  const token = variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
  const instance = `process-${nth}`
  let seq = 0
  let matches: readonly { readonly id: string; readonly status: string }[] = []
  return {
    register: (to: Speaks) => to.registerServer(token, RegistrationBody.parse({ instance, build: '7', seats: 8 })),
    report: async (to: Speaks, status = 'open') => {
      const players = status === 'open' ? { ann: 'in' } : {}
      const said = matches.map(({ id }) => ({ id, status, players }))
      const orders = await to.reportServer(token, ReportBody.parse({ instance, seq: (seq += 1), matches: said }))
      matches = orders.matches.map(({ id }) => ({ id, status }))
      return orders
    },
  }
}

/** Starts a pool with one warm server that has registered. */
async function warm(options: Parameters<typeof setUp>[0] = {}) {
  const world = setUp({ queues, pools: [arena], service: { fate: () => ({ readyMs: 1000 }) }, ...options })
  await world.run(2000)
  const server = gameServer(world, 0)
  const { id } = server.register(world.matchmaker)
  await world.run(500)
  return { ...world, server, id }
}

/** Ann and Ben play on the warm server. */
async function playing(options: Parameters<typeof setUp>[0] = {}) {
  const world = await warm(options)
  const { join, run, server, matchmaker } = world
  join('ann', 'ben')
  await run(250)
  await server.report(matchmaker)
  await server.report(matchmaker)
  await run(250)
  return { ...world, matchId: matchmaker.getTicket('ann-ben')?.matchId ?? '' }
}

describe('inspect and survey of servers', () => {
  test('`inspect` and `survey` show a warm server, and its pool by place', async () => {
    const { matchmaker, id, clock } = await warm()
    await clock.advance(7000)
    const { servers, pools, matches } = matchmaker.inspect()
    expect(servers).toEqual([
      {
        id,
        state: 'IDLE',
        pool: 'arena',
        place: 'Oslo',
        requestId: 'r1',
        build: '7',
        matches: [],
        matchesAtOnce: 1,
        matchesServed: 0,
        playersIn: 0,
        seats: 8,
        listing: undefined,
        registeredAt: clock.now() - 7500,
        seenAt: clock.now() - 7500,
        draining: undefined,
      },
    ])
    expect(pools).toMatchObject([
      { pool: 'arena', place: 'Oslo', wanted: 1, starting: 0, idle: 1, playing: 0, draining: 0, asked: 0, hits: 0 },
    ])
    expect(pools[0]?.idleHours).toBeCloseTo(7500 / 3_600_000)
    expect(matches).toMatchObject([{ matchId: id, pool: 'arena' }])
  })

  test('`inspect` and `survey` show the players on a server, and a starting server only as starting', async () => {
    const { matchmaker, id, matchId } = await playing()
    const { servers, pools, matches } = matchmaker.inspect()
    expect(servers).toMatchObject([{ id, state: 'PLAYING', matches: [matchId], matchesServed: 1, playersIn: 1 }])
    // Another server is created to replace the taken one.
    expect(pools).toMatchObject([{ starting: 1, idle: 0, playing: 1, asked: 1, hits: 1 }])
    expect(matches.find((match) => match.matchId === matchId)).toMatchObject({ hosted: { serverId: id, warm: true } })
    const survey = matchmaker.survey()
    while (survey.step(1));
    const { gameServers, pools: surveyed, servers: deployments } = survey.result()
    expect(gameServers).toEqual([{ pool: 'arena', state: 'PLAYING', servers: 1, players: 1 }])
    expect(surveyed).toEqual(pools)
    // The match has no deployment of its own, so there are two servers and not three.
    expect(deployments.reduce((sum, one) => sum + one.servers, 0)).toBe(2)
    expect(deployments.reduce((sum, one) => sum + one.players, 0)).toBe(2)
  })

  test('`inspect` and `survey` show taken, held and free seats of a listed server, and its players', async () => {
    const { matchmaker, servers: games, listed, report } = open({ pools: [players] })
    const [serverId = ''] = await listed({ password: 'open sesame' })
    const hold = { serverId, playerIds: ['cid'], password: 'open sesame' }
    matchmaker.holdSeats(hold)
    const [game] = games
    if (game === undefined) throw new Error('no server has registered')
    game.players = { ann: 'in' }
    await report(game)
    const { servers } = matchmaker.inspect()
    expect(servers.find(({ id }) => id === serverId)).toMatchObject({
      state: 'PLAYING',
      matches: [],
      playersIn: 1,
      listing: { name: 'world 0', seats: { total: 2, free: 0, held: 1, taken: 1, away: 0 } },
    })
    expect(JSON.stringify(servers)).not.toContain('sesame')
    const survey = matchmaker.survey()
    while (survey.step(1));
    expect(survey.result().gameServers).toEqual([{ pool: 'arena', state: 'PLAYING', servers: 2, players: 1 }])
  })

  test('`inspect` and `survey` of servers contain no token, no key and no address of a player', async () => {
    const { matchmaker, service } = await playing()
    const survey = matchmaker.survey()
    while (survey.step(1));
    const text = JSON.stringify([matchmaker.inspect().servers, matchmaker.inspect().pools, survey.result()])
    const secret = service.calls.create[0]?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')
    expect(secret?.value.length).toBeGreaterThan(20)
    expect(text).not.toContain(secret?.value)
    expect(text).not.toContain('198.51.100')
  })
})

describe('events about servers', () => {
  test('events report that a server has registered, was taken, was freed, was lost and has returned', async () => {
    const { matchmaker, seen, server, id, matchId, run } = await playing()
    const about = { serverId: id, pool: 'arena', requestId: 'r1' }
    expect(seen.serverRegistered).toEqual([{ ...about, build: '7', matches: 1 }])
    expect(seen.serverTaken).toEqual([{ ...about, matchId, queue: 'duel', warm: true }])
    // If the same process registers again, that does not count as a new server.
    server.register(matchmaker)
    expect(seen.serverRegistered).toHaveLength(1)
    await server.report(matchmaker, 'over')
    expect(seen.serverFreed).toEqual([{ ...about, matchId, queue: 'duel', reason: 'over' }])
    await run(26_000)
    expect(seen.serverLost).toMatchObject([about])
    expect(seen.serverLost?.[0]?.silentMs).toBeGreaterThanOrEqual(25_000)
    await server.report(matchmaker)
    expect(seen.serverReturned).toMatchObject([about])
    expect(JSON.stringify([seen.serverRegistered, seen.serverTaken, seen.serverFreed])).not.toContain('198.51.100')
  })

  test('an event reports a server that is created for its match', async () => {
    const cold = setUp({ queues, pools: [{ ...arena, at: [] }] })
    cold.join('ann', 'ben')
    await cold.run(250)
    expect(cold.seen.serverTaken).toMatchObject([{ warm: false, pool: 'arena', queue: 'duel' }])
  })

  test('no event reports a server as lost while it long-polls for orders', async () => {
    const { matchmaker, server, seen, run, service } = await warm()
    const { version } = await server.report(matchmaker)
    const token = service.calls.create[0]?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')
    const waiting = matchmaker.waitForServerOrders(token?.value ?? '', { version, waitMs: 30_000 })
    await run(30_000)
    await waiting
    expect(seen.serverLost).toBeUndefined()
  })
})

describe('a server that an operator drains', () => {
  test('a drained server without a match is stopped and replaced', async () => {
    const { matchmaker, id, run, service, seen } = await warm()
    await matchmaker.drainServer(id)
    await run(3000)
    expect(service.unstopped()).toEqual(['r2'])
    expect(seen.serverDraining).toMatchObject([{ serverId: id, reason: 'operator' }])
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'drained' }])
    // Repeating the drain changes nothing, even once the server is gone.
    await matchmaker.drainServer(id)
    expect(seen.serverDraining).toHaveLength(1)
  })

  test('a drained server serves its match to its end, and no further match', async () => {
    const { matchmaker, id, run, server, service, seen, join, status } = await playing()
    await matchmaker.drainServer(id)
    expect(matchmaker.inspect().servers[0]).toMatchObject({ state: 'DRAINING', draining: 'operator' })
    expect((await server.report(matchmaker)).want).toBe('drain')
    join('cid', 'dan')
    await run(1000)
    await server.report(matchmaker)
    expect(seen.serverTaken?.at(-1)).toMatchObject({ warm: false })
    expect(service.unstopped()).toContain('r1')
    expect(status('ann-ben')).toBe('HOST_ASSIGNED')
    expect((await server.report(matchmaker, 'over')).want).toBe('stop')
    await run(1000)
    expect(service.unstopped()).not.toContain('r1')
  })

  test('a drained server that has not registered is dropped, unless a match waits for it', async () => {
    const { matchmaker, run, service, join } = setUp({ queues, pools: [arena] })
    await run(500)
    const [first] = matchmaker.inspect().matches
    expect(service.unstopped()).toContain('r1')
    await matchmaker.drainServer(first?.matchId ?? '')
    await run(2000)
    expect(service.unstopped()).not.toContain('r1')
    join('ann', 'ben')
    await run(250)
    const waits = matchmaker.inspect().matches.find(({ hosted }) => hosted !== undefined)?.hosted?.serverId ?? ''
    await matchmaker.drainServer(waits)
    await run(500)
    expect(matchmaker.inspect().matches.map(({ matchId }) => matchId)).toContain(waits)
  })

  test('drainServer refuses the id of a match on a pool server as unknown', async () => {
    const { matchmaker, matchId } = await playing()
    for (const id of ['nobody', matchId])
      await expect(matchmaker.drainServer(id)).rejects.toThrow(`There is no game server "${id}"`)
  })
})

describe('a server that an operator stops', () => {
  test('stopServer immediately stops and replaces a server without a match', async () => {
    const { matchmaker, id, run, server, service, seen } = await warm()
    await matchmaker.stopServer(id)
    expect(matchmaker.inspect().pools).toMatchObject([{ idle: 0 }])
    await run(250)
    expect(service.unstopped()).not.toContain('r1')
    await run(3000)
    expect(service.unstopped()).toEqual(['r2'])
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'stopped' }])
    expect(() => server.register(matchmaker)).toThrow(/no longer needed/)
    // Again, and once it is gone, it changes nothing.
    await matchmaker.stopServer(id)
    await run(1000)
    expect(service.unstopped()).toEqual(['r2'])
  })

  test('stopServer ends the match on the server, and its players are free', async () => {
    const { matchmaker, id, matchId, run, server, service, seen, join } = await playing()
    await matchmaker.stopServer(id)
    await expect(server.report(matchmaker)).rejects.toThrow('no longer needed')
    expect(seen.serverFreed).toMatchObject([{ serverId: id, matchId, reason: 'stopped' }])
    expect(matchmaker.getTicket('ann-ben')).toMatchObject({ ended: { reason: 'match-over' } })
    expect(matchmaker.inspect().matches.map((match) => match.matchId)).not.toContain(matchId)
    expect(() => join('ann', 'cid')).not.toThrow()
    await run(1000)
    expect(service.unstopped()).not.toContain('r1')
  })

  test('players of a match about to use a server search for another match after stopServer', async () => {
    const { matchmaker, id, run, join, status } = await warm()
    join('ann', 'ben')
    await run(250)
    expect(matchmaker.inspect().servers).toMatchObject([{ id, state: 'TAKEN' }])
    await matchmaker.stopServer(id)
    await run(2000)
    expect(status('ann-ben')).toBe('MATCH_FOUND')
    expect(matchmaker.inspect().matches.find(({ hosted }) => hosted !== undefined)?.hosted?.serverId).not.toBe(id)
  })

  test('stopServer stops a server that has not registered, or was created for a single match', async () => {
    for (const pools of [[arena], undefined]) {
      const { matchmaker, run, service, join } = setUp(pools === undefined ? {} : { pools, queues })
      if (pools === undefined) join('ann', 'ben')
      await run(500)
      expect(service.unstopped()).toContain('r1')
      await matchmaker.stopServer(matchmaker.inspect().matches[0]?.matchId ?? '')
      await run(2000)
      expect(service.unstopped()).not.toContain('r1')
    }
  })

  test('stopServer refuses the id of a match on a pool server as unknown', async () => {
    const { matchmaker, matchId } = await playing()
    for (const id of ['nobody', matchId])
      await expect(matchmaker.stopServer(id)).rejects.toThrow(`There is no game server "${id}"`)
    expect(matchmaker.getTicket('ann-ben')?.status).toBe('HOST_ASSIGNED')
  })
})

describe('explain for a match that needs a server', () => {
  test('explain reports that a warm server was taken for a match, and when', async () => {
    const { matchmaker, join, run } = await warm()
    join('ann', 'ben')
    await run(2250)
    expect(matchmaker.getTicket('ann-ben')?.status).toBe('MATCH_FOUND')
    expect(matchmaker.explain('ann-ben')).toMatchObject({
      summary: 'Its match is found. A warm server was taken 2 s ago.',
      server: { warm: true, forMs: 2250 },
    })
  })

  test('explain reports that a match waits if its warm server is silent and no server may be created', async () => {
    const { matchmaker, join, run } = await warm({ maxServers: 1 })
    join('ann', 'ben')
    const heard = new Set<string>()
    for (let passed = 0; passed < 6000; passed += 250) {
      await run(250)
      heard.add(matchmaker.explain('ann-ben').summary.replace(/\d+ s/, 'some time'))
    }
    expect([...heard]).toEqual([
      'Its match is found. A warm server was taken some time ago.',
      'Its match is found. It waits for a server.',
      'Its match is found. A server starts for the match, since some time.',
    ])
  })

  test('explain reports that a server starts, either in a pool or for one match only', async () => {
    for (const pools of [[{ ...arena, at: [] }], undefined]) {
      const { matchmaker, join, run } = setUp(pools === undefined ? {} : { pools, queues })
      join('ann', 'ben')
      await run(3250)
      expect(matchmaker.explain('ann-ben')).toMatchObject({
        summary: 'Its match is found. A server starts for the match, since 3 s.',
        server: { warm: false, forMs: 3250 },
      })
    }
  })
})
