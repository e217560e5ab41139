/** Tests what a process after kill -9 knows about listed servers, seats and player-started servers. */
import type { Clock } from '@muster/core/clock'
import { createMemoryStore, type StoreMemory } from '@muster/hosting'
import { NO_SERVER_LOG, RegistrationBody, ReportBody, type ServerLog } from '@muster/hosting/internal'
import type { CallFault } from '@muster/hosting/service-fixture'
import { SendAborted, ServerError } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { createMatchmaker } from './create-matchmaker.js'
import { Unavailable, UnknownSeat, UnknownServer } from './errors.js'
import type { MatchmakerOptions } from './options.js'
import { arena, browser, open, type Players, queues, world } from './listed-servers.fixture.js'

/** Opens a process, and after its kill -9 the next one over the same store. */
function openBeforeKill(pool = arena, options: Parameters<typeof open>[0] = {}) {
  const memory: StoreMemory = new Map()
  const pools = [pool]
  const first = open({ store: createMemoryStore(memory), pools, ...options })
  const { service } = first
  const restart = async (clock: Clock = first.clock, changed: Partial<MatchmakerOptions> = {}) => {
    const copy: StoreMemory = new Map(Array.from(memory, ([kind, records]) => [kind, new Map(records)]))
    // From now on, the first process has no effect on anything.
    void first.matchmaker.close()
    const next = createMatchmaker({
      deployments: service.deployments,
      queues,
      pools,
      browser,
      clock,
      listLagMs: 4000,
      store: createMemoryStore(copy),
      ...changed,
    })
    await next.ready()
    await next.tick()
    let seq = 1000
    /** Acts as a game server that survives the restart: it registers and lists the requested session. */
    const register = (token: string) =>
      next.registerServer(token, RegistrationBody.parse({ instance: token.slice(0, 20) }))
    const report = (token: string, listing?: Record<string, unknown>, players: Players = {}) => {
      seq += 1
      const body = { instance: token.slice(0, 20), seq, ...(listing && { listing: { ...listing, players } }) }
      return next.reportServer(token, ReportBody.parse(body))
    }
    const run = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 500) {
        const ticked = next.tick()
        await first.clock.advance(500)
        await first.clock.until(ticked)
      }
    }
    return { next, register, report, run }
  }
  const tokens = () =>
    service.calls.create.map(({ environment_variables: given = [] }) => {
      const token = given.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')
      return token?.value ?? ''
    })
  return { ...first, restart, tokens, stored: () => JSON.stringify([...(memory.get('server')?.values() ?? [])]) }
}

describe('listed servers after a restart', () => {
  test('listed servers and their seats are unknown after a restart until the servers register again', async () => {
    const { matchmaker, listed, restart, tokens } = openBeforeKill(world)
    const [id = '', other = ''] = await listed()
    const [held] = matchmaker.holdSeats({ serverId: id, playerIds: ['ann'] }).seats
    const { next, register, report } = await restart()
    const seatId = held?.id ?? ''
    for (const unknown of [
      () => next.listedServers(),
      () => next.holdSeats({ serverId: id, playerIds: ['ann'] }),
      () => next.followSeat(seatId, 'ann'),
    ])
      expect(unknown).toThrow(Unavailable)
    await expect(next.releaseSeat(seatId, 'ann')).rejects.toThrow(Unavailable)
    expect(() => next.holdSeats({ serverId: 'none', playerIds: ['ann'] })).toThrow(UnknownServer)
    const [one = '', two = ''] = tokens()
    register(one)
    await report(one, { name: 'one', seats: 2 }, { ben: 'in' })
    expect(next.seatsOf('ben')[0]).toMatchObject({ serverId: id, state: 'taken' })
    // The hold was lost in the restart. Repeating the request holds the seat again.
    expect(next.holdSeats({ serverId: id, playerIds: ['ann'] }).seats[0]).toMatchObject({ serverId: id, state: 'held' })
    expect(() => next.listedServers()).toThrow(Unavailable)
    register(two)
    expect(() => next.followSeat(seatId, 'ann')).toThrow(Unavailable)
    await report(two)
    expect(() => next.followSeat(seatId, 'ann')).toThrow(UnknownSeat)
    expect(() => next.holdSeats({ serverId: other, playerIds: ['cat'] })).toThrow(UnknownServer)
    await report(one, { name: 'one', seats: 2 }, { ben: 'in', ann: 'in' })
    expect(next.listedServers().servers).toMatchObject([
      { id, seats: { total: 2, free: 0, held: 0, taken: 2, away: 0 } },
    ])
  })

  test('listed servers that do not register within 25 s of a restart are lost, and not listed', async () => {
    const { listed, restart } = openBeforeKill(world)
    await listed()
    const { next, run } = await restart()
    await run(24_000)
    expect(() => next.listedServers()).toThrow(Unavailable)
    await run(2000)
    expect(next.listedServers().servers).toEqual([])
  })

  test('a registered server that only waits for orders keeps the server list unavailable for 85 s', async () => {
    const { listed, restart, tokens } = openBeforeKill(world)
    await listed()
    const { next, register, run } = await restart()
    const [one = ''] = tokens()
    const { version } = register(one)
    const ending = new AbortController()
    const waiting = next.waitForServerOrders(one, { version, waitMs: 600_000, signal: ending.signal })
    await run(84_000)
    expect(() => next.listedServers()).toThrow(Unavailable)
    await run(2000)
    expect(next.listedServers().servers).toEqual([])
    ending.abort(new Error('the server stops waiting'))
    await expect(waiting).rejects.toThrow('the server stops waiting')
  })
})

describe('a listed server with players on it, after a restart of Muster', () => {
  const deploy = { application: 'game', version: '2' }
  const matchesElsewhere = [{ name: 'duel', matchSize: 2, deploy: world.deploy }]
  /** What differs in the next process, and what an operator does before or after its start. */
  const cases: readonly { name: string; changed: Partial<MatchmakerOptions>; drained?: 'before' | 'after' }[] = [
    { name: 'new deploy.version', changed: { pools: [{ ...world, deploy, at: [] }] } },
    { name: 'pool removed', changed: { pools: [], queues: matchesElsewhere } },
    {
      name: 'older than the new maxAgeMinutes',
      changed: { pools: [{ ...world, reuse: { maxMatches: 1, maxAgeMinutes: 1 } }] },
    },
    { name: 'drained before the restart', changed: {}, drained: 'before' },
    { name: 'drained after the restart', changed: {}, drained: 'after' },
  ]
  test.each(cases)(
    'a listed server with players is kept after a restart until they have left: $name',
    async ({ changed, drained }) => {
      const { matchmaker, listed, run, restart, tokens, servers, service, clock } = openBeforeKill(world)
      const [id = ''] = await listed()
      for (const server of servers) server.players = { [server.token.slice(0, 8)]: 'in' }
      await run(60_000)
      if (drained === 'before') await matchmaker.drainServer(id)
      expect(service.calls.stop).toEqual([])
      const { next, register, report, run: pass } = await restart(clock, changed)
      if (drained === 'after') await next.drainServer(id)
      await pass(5000)
      expect(service.calls.stop).toEqual([])
      const [token = ''] = tokens()
      register(token)
      await pass(5000)
      const orders = await report(token, { name: 'one', seats: 2 }, { ann: 'in' })
      expect([orders.want, service.calls.stop]).toEqual(['drain', []])
      await pass(5000)
      expect(service.calls.stop).toEqual([])
      await report(token, { name: 'one', seats: 2 })
      await pass(5000)
      expect(service.calls.stop).toEqual([{ request_id: 'r1' }])
    },
  )

  test.each([
    ['registered again', true],
    ['not registered again', false],
  ] as const)(
    'after a restart, a listed server with players that has %s is kept while silent',
    async (_, registers) => {
      const { listed, restart, tokens, service } = openBeforeKill(world)
      await listed()
      const { register, report, run: pass } = await restart()
      const [one = '', two = ''] = tokens()
      if (registers) register(one)
      for (let beat = 0; beat < 30; beat += 1) {
        register(two)
        await report(two)
        await pass(10_000)
      }
      expect(service.calls.stop).toEqual([])
    },
  )

  test('a silent server that was not listed before a restart is stopped', async () => {
    const { run, restart, service } = openBeforeKill(world)
    await run(8000)
    const { run: pass } = await restart()
    await pass(95_000)
    expect(service.calls.stop).toEqual([{ request_id: 'r1' }, { request_id: 'r2' }])
  })
})

describe('a player-started server after a restart of Muster', () => {
  const custom = { pool: 'arena', name: "ann's", attributes: { mode: 'dm' }, password: 'hush7f3a' }
  const cold = { ...arena, at: [] }

  test('a warm server started by a player is listed after a restart with the same data and seats', async () => {
    const { matchmaker, run, restart, stored, tokens, service } = openBeforeKill()
    await run(8000)
    const { seats, serverId } = await matchmaker.startServer({ ...custom, playerIds: ['ann', 'ben'], groupId: 'g' })
    expect(stored()).not.toContain('hush')
    const { next, register, report } = await restart()
    expect(next.followSeat(seats[1]?.id ?? '', 'ben')).toEqual(seats[1])
    // A player who got no response repeats the request.
    expect(await next.startServer({ ...custom, playerIds: ['ann', 'ben'] })).toEqual({ seats, serverId, isNew: false })
    for (const token of tokens()) {
      const { host } = register(token)
      if (host === undefined) continue
      expect(host).toMatchObject({ name: "ann's", attributes: { mode: 'dm' }, password: 'hush7f3a', owner: 'ann' })
      await report(token, { ...host, seats: 8 })
    }
    expect(next.followSeat(seats[0]?.id ?? '', 'ann')).toMatchObject({ id: seats[0]?.id, serverId, state: 'held' })
    expect(next.followSeat(seats[1]?.id ?? '', 'ben')).toMatchObject({ id: seats[1]?.id, groupId: 'g', state: 'held' })
    // Another warm server replaces the taken one.
    expect(service.calls.create).toHaveLength(3)
  })

  test('after a restart, a player-started server frees seats of leavers, and still counts for its player', async () => {
    const { matchmaker, run, restart, tokens } = openBeforeKill(cold)
    await run(1000)
    const { seats, serverId } = await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
    await run(9000)
    await matchmaker.releaseSeat(seats[0]?.id ?? '', 'ann')
    const { next, register, report, run: pass } = await restart()
    const start = () => next.startServer({ ...custom, playerIds: ['ann'] })
    await expect(start()).rejects.toMatchObject({ code: 'too-many-servers' })
    const [token = ''] = tokens()
    const { host } = register(token)
    await report(token, { ...host, seats: 8, owner: undefined })
    await expect(start()).rejects.toMatchObject({ code: 'too-many-servers' })
    expect(next.seatsOf('ann')).toEqual([])
    expect(next.listedServers().servers).toMatchObject([{ id: serverId, hasPassword: true }])
    await pass(500)
  })

  test('a player-started server that had listed itself gets no match before it reports again', async () => {
    const { matchmaker, run, restart, tokens } = openBeforeKill(cold)
    await run(1000)
    await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
    await run(9000)
    const { next, register, report, run: pass } = await restart()
    const [token = ''] = tokens()
    const { host } = register(token)
    for (const id of ['ben', 'cat']) next.createTicket({ id, queue: 'duel', players: [{ id, ip: '192.0.2.1' }] })
    await pass(1000)
    expect(next.getTicket('ben')?.status).toBe('MATCH_FOUND')
    expect((await report(token, { ...host, seats: 8 })).matches).toEqual([])
  })

  test('after a restart, a player-started server that listed other attributes joins the pool again', async () => {
    const { matchmaker, run, restart, servers, tokens } = openBeforeKill(cold)
    await run(1000)
    await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
    await run(9000)
    for (const server of servers) server.listing = { name: 'other', seats: 8 }
    await run(1000)
    const { register } = await restart()
    expect(register(tokens()[0] ?? '').host).toBeUndefined()
  })

  test('after a restart, a player in a match has no seat, and an unused started server expires on time', async () => {
    const { matchmaker, run, restart, join, clock, servers, report } = openBeforeKill()
    await run(8000)
    await matchmaker.startServer({ ...custom, playerIds: ['ann', 'eve'] })
    join('eve', 'fay')
    await matchmaker.tick()
    // The match begins, and the other server is not listed yet.
    for (const server of servers) await report(server)
    for (const server of servers.filter(({ matches }) => matches.length > 0)) await report(server)
    expect(matchmaker.seatsOf('eve')).toEqual([])
    expect(matchmaker.seatsOf('ann')).toMatchObject([{ state: 'starting' }])
    const life = await restart({ ...clock, now: () => clock.now() - 3_600_000 })
    expect(life.next.seatsOf('eve')).toEqual([])
    const token = servers.find(({ matches }) => matches.length === 0)?.token ?? ''
    expect(life.register(token).host).toBeDefined()
    for (let beat = 0; beat < 31; beat += 1) {
      if (beat < 30) expect(life.next.seatsOf('ann')).toMatchObject([{ state: 'starting' }])
      await life.report(token)
      await life.run(10_000)
    }
    expect(life.next.seatsOf('ann')).toEqual([])
  })

  test('after a restart with a clock that is ahead, a started server may still list itself', async () => {
    const { matchmaker, run, restart, clock, servers } = openBeforeKill()
    await run(8000)
    const { seats } = await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
    await matchmaker.tick()
    const life = await restart({ ...clock, now: () => clock.now() + 3_600_000 })
    await life.run(5000)
    const [{ token } = { token: '' }] = servers.filter((one) => life.register(one.token).host !== undefined)
    await life.report(token, { ...life.register(token).host, seats: 8 })
    expect(life.next.seatsOf('ann')).toMatchObject([{ serverId: seats[0]?.serverId, state: 'held' }])
  })

  test('a player-started server boots at the requested place, even if a restart precedes its create', async () => {
    const places = [...(cold.places ?? []), { name: 'Tokyo', latitude: 35.7, longitude: 139.7 }]
    const { matchmaker, run, restart, tokens, service } = openBeforeKill(
      { ...cold, places },
      {
        maxCreatesInFlight: 1,
        service: { fate: () => ({ readyMs: 2000 }), latencyMs: (method) => (method === 'list' ? 0 : 1000) },
      },
    )
    await run(1000)
    const near = { latitude: 35, longitude: 139 }
    const starts = new Map<string, string>()
    for (const player of ['ann', 'ben']) {
      const { seats } = await matchmaker.startServer({ ...custom, playerIds: [player], near })
      starts.set(player, seats[0]?.id ?? '')
    }
    expect(service.calls.create).toHaveLength(1)
    const { next, register, report, run: pass } = await restart()
    await pass(8000)
    const toTokyo = [{ user_type: 'geo_coordinates', user_data: { latitude: 35.7, longitude: 139.7 } }]
    expect(service.calls.create.map(({ users }) => users)).toEqual([toTokyo, toTokyo])
    for (const token of tokens()) {
      const { host } = register(token)
      await report(token, { ...host, seats: 8 })
    }
    for (const [player, seatId] of starts)
      expect(next.followSeat(seatId, player)).toMatchObject({ id: seatId, playerId: player, state: 'held' })
  })

  test('a player-started server that was given back before a restart belongs to the pool again', async () => {
    const { matchmaker, run, restart, tokens } = openBeforeKill()
    await run(8000)
    const { seats } = await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
    await matchmaker.releaseSeat(seats[0]?.id ?? '', 'ann')
    const { next, register, report } = await restart()
    for (const token of tokens()) {
      expect(register(token).host).toBeUndefined()
      await report(token)
    }
    expect(() => next.followSeat(seats[0]?.id ?? '', 'ann')).toThrow(UnknownSeat)
  })

  describe('a player-started server that meets failures', () => {
    const refused = new SendAborted('the request was not sent', { sent: false })
    const overloaded = new ServerError('overloaded')
    const faults: readonly (readonly [string, readonly (CallFault | undefined)[]])[] = [
      ['the service answers 503', [{ error: overloaded }]],
      ['a connection is lost before the service acts', [{}]],
      ['a connection is lost after the service has acted', [{ effect: true }]],
      ['five creates cannot be sent', Array.from({ length: 5 }, (): CallFault => ({ error: refused }))],
    ]
    test.each(faults)('a player-started server starts although %s', async (_, wrong) => {
      const fault = (method: string, nth: number) => (method === 'create' ? wrong[nth - 1] : undefined)
      const { matchmaker, run, service } = open({ pools: [cold], service: { fault, fate: () => ({ readyMs: 3000 }) } })
      await run(1000)
      const { seats } = await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
      const seatId = seats[0]?.id ?? ''
      for (let second = 0; second < 60; second += 1) {
        expect(matchmaker.followSeat(seatId, 'ann')).toMatchObject({ id: seatId })
        await run(1000)
        if (matchmaker.followSeat(seatId, 'ann').state === 'held') break
      }
      expect(matchmaker.followSeat(seatId, 'ann').state).toBe('held')
      await run(60_000)
      expect(service.unstopped().length).toBeLessThanOrEqual(1)
    })

    test('a player-started server starts although its deployment fails twice', async () => {
      const fate = (nth: number) => (nth < 3 ? { errorMs: 2000 } : { readyMs: 3000 })
      const { matchmaker, run, service } = open({ pools: [cold], service: { fate } })
      await run(1000)
      const { seats } = await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
      await run(25_000)
      expect(matchmaker.followSeat(seats[0]?.id ?? '', 'ann')).toMatchObject({ state: 'held' })
      expect(service.unstopped()).toEqual(['r3'])
    })

    test('a player-started server is abandoned after four failed deployments', async () => {
      const { matchmaker, run, service } = open({ pools: [cold], service: { fate: () => ({ errorMs: 2000 }) } })
      await run(1000)
      const { seats } = await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
      await run(60_000)
      expect(() => matchmaker.followSeat(seats[0]?.id ?? '', 'ann')).toThrow(UnknownSeat)
      expect([service.calls.create.length, service.unstopped()]).toEqual([4, []])
    })

    test('after kill -9 a player-started server starts although its old server is gone and creates fail', async () => {
      const { matchmaker, run, restart, tokens, service, stored } = openBeforeKill(cold, {
        maxCreatesPerMinute: 1,
        service: { fate: (nth) => (nth === 1 ? { errorMs: 2000 } : { readyMs: 3000 }) },
      })
      await run(1000)
      const [seat] = (await matchmaker.startServer({ ...custom, playerIds: ['ann'] })).seats
      const seatId = seat?.id ?? ''
      await run(20_000)
      expect([service.calls.create.length, service.unstopped()]).toEqual([1, []])
      expect(matchmaker.followSeat(seatId, 'ann')).toMatchObject({ state: 'starting' })
      const again = await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
      expect(again).toMatchObject({ isNew: false, seats: [{ id: seatId }] })
      const { next, register, report, run: pass } = await restart()
      expect(next.followSeat(seatId, 'ann')).toMatchObject({ id: seatId, state: 'starting' })
      await pass(10_000)
      // Each server has its own id and token, so the replacement has new ones.
      const [before, after] = tokens()
      expect([service.calls.create.length, service.unstopped(), after === before]).toEqual([2, ['r2'], false])
      const { host } = register(after ?? '')
      await report(after ?? '', { ...host, seats: 8 })
      await pass(1000)
      expect(next.followSeat(seatId, 'ann')).toMatchObject({ state: 'held' })
      expect(stored()).toContain(seatId)
    })

    test('a player-started server that has failed is removed from the store once it is given back', async () => {
      const { matchmaker, run, restart, service, stored } = openBeforeKill(cold, {
        maxCreatesPerMinute: 1,
        service: { fate: () => ({ errorMs: 2000 }) },
      })
      await run(1000)
      const { seats } = await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
      await run(20_000)
      expect(stored()).toContain('ann')
      await matchmaker.releaseSeat(seats[0]?.id ?? '', 'ann')
      expect(stored()).toBe('[]')
      const { next, run: pass } = await restart()
      await pass(10_000)
      expect(() => next.followSeat(seats[0]?.id ?? '', 'ann')).toThrow(UnknownSeat)
      expect(service.calls.create).toHaveLength(1)
    })

    test('the record of a player-started server is removed after four failed deployments', async () => {
      const { matchmaker, run, service, stored } = openBeforeKill(cold, {
        service: { fate: () => ({ errorMs: 2000 }) },
      })
      await run(1000)
      await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
      await run(60_000)
      expect([service.calls.create.length, stored()]).toEqual([4, '[]'])
    })

    test.each([0, 5, 20, 1200])(
      'a player-started server starts although kill -9 comes %i ms after the answer',
      async (ms) => {
        let isDead = false
        const { matchmaker, run, restart, clock, tokens, service } = openBeforeKill(cold, {
          // A killed process is disconnected: its requests in flight never arrive.
          service: {
            fate: () => ({ readyMs: 2000 }),
            latencyMs: () => 30,
            fault: (method) => (method === 'create' && !isDead ? {} : undefined),
          },
        })
        await run(1000)
        const { seats } = await clock.until(matchmaker.startServer({ ...custom, playerIds: ['ann'] }))
        await clock.advance(ms)
        isDead = true
        const { next, register, report, run: pass } = await restart()
        const seatId = seats[0]?.id ?? ''
        for (let second = 0; second < 30; second += 1) {
          expect(next.followSeat(seatId, 'ann')).toMatchObject({ id: seatId })
          await pass(1000)
        }
        for (const { tags } of service.records) {
          const nth = service.calls.create.findIndex((input) => JSON.stringify(input.tags) === JSON.stringify(tags))
          const { host } = register(tokens()[nth] ?? '')
          await report(tokens()[nth] ?? '', { ...host, seats: 8 })
        }
        await pass(1000)
        expect(next.followSeat(seatId, 'ann')).toMatchObject({ state: 'held' })
      },
    )
  })

  test('startServer is refused if the store cannot record it', async () => {
    for (const broken of ['server', 'wanted']) {
      const append: ServerLog['append'] = async (entries) => {
        if (entries.some(({ kind }) => kind === broken)) throw new Error('full')
      }
      const { matchmaker, run, service } = open({ pools: [cold], serverLog: { ...NO_SERVER_LOG, append } })
      await run(1000)
      await expect(matchmaker.startServer({ ...custom, playerIds: ['ann'] })).rejects.toBeInstanceOf(Unavailable)
      await run(1000)
      expect([service.calls.create, matchmaker.seatsOf('ann')]).toEqual([[], []])
    }
  })
})
