/** Tests that a game server's report affects only its own matches and seats. */
import { RegistrationBody, ReportBody, type SeatRefused } from '@muster/hosting/internal'
import { describe, expect, test } from 'vitest'
import { arena, open, world } from './listed-servers.fixture.js'
import { deploy, duel, setUp } from './matchmaker.fixture.js'

describe('a result reported by a hostile server', () => {
  const playing = async () => {
    const queues = [{ ...duel, deploy: { ...deploy, probe: { kind: 'registration' as const } } }]
    const all = setUp({ queues })
    const { matchmaker, service, join, run } = all
    join('ann', 'ben')
    await run(6000)
    const variables = service.calls.create[0]?.environment_variables
    const token = variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
    const id = matchmaker.inspect().matches[0]?.matchId ?? ''
    matchmaker.registerServer(token, RegistrationBody.parse({ instance: 'one' }))
    let seq = 0
    const report = (status: string, players: object, result?: object) =>
      matchmaker.reportServer(
        token,
        ReportBody.parse({ instance: 'one', seq: (seq += 1), matches: [{ id, status, players, result }] }),
      )
    await report('open', { ann: 'in', ben: 'in' })
    await run(250)
    return { ...all, report }
  }

  test('a result that ranks a player who did not play is refused by field, and nothing changes', async () => {
    const { report, seen } = await playing()
    await report('open', { ann: 'in', ben: 'left' })
    const players = { ann: 'in', ben: 'left', eve: 'in' }
    await expect(report('over', players, { ranking: [['ann'], ['eve']] })).rejects.toMatchObject({
      message: 'matches.0.result.ranking: lists "eve", who has not played the match',
      field: 'matches.0.result.ranking',
    })
    expect(seen.matchOver).toBeUndefined()
    await report('over', players, { ranking: [['ann'], ['ben']] })
    expect(seen.matchOver).toMatchObject([{ result: { ranking: [['ann'], ['ben']] } }])
  })
})

describe('a listed server that reports players without a seat on it', () => {
  const hostile = async (pool = arena) => {
    const all = open({ pools: [pool] })
    const [first = '', second = ''] = await all.listed()
    const [server, other] = all.servers
    if (server === undefined || other === undefined) throw new Error('no servers')
    return { ...all, first, second, server, other }
  }

  test('players whom a server reports without a seat can still get seats elsewhere', async () => {
    const { matchmaker, run, second, server } = await hostile()
    server.players = { ann: 'in', ben: 'away' }
    await run(1000)
    const { seats } = matchmaker.holdSeats({ serverId: second, playerIds: ['ann', 'ben'] })
    expect(seats).toMatchObject([{ state: 'held' }, { state: 'held' }])
    await run(1000)
    expect(matchmaker.seatsOf('ann')).toMatchObject([{ serverId: second, state: 'held' }])
    server.players = { ann: 'in', ben: 'away', cat: 'in' }
    await run(1000)
    await expect(matchmaker.startServer({ pool: 'arena', playerIds: ['cat'], attributes: {} })).resolves.toBeDefined()
  })

  test('a server that reports a player without a seat cannot take the player’s seat elsewhere', async () => {
    const { matchmaker, run, second, server, other } = await hostile()
    const [seat] = matchmaker.holdSeats({ serverId: second, playerIds: ['ann'] }).seats
    other.players = { ann: 'in' }
    await run(1000)
    other.players = { ann: 'away' }
    server.players = { ann: 'in' }
    await run(3000)
    expect(matchmaker.seatsOf('ann')).toMatchObject([{ id: seat?.id, serverId: second, state: 'away' }])
  })

  test('a player whom a server reports after the player’s held seat expired gets the seat again', async () => {
    const { matchmaker, run, first, server } = await hostile()
    matchmaker.holdSeats({ serverId: first, playerIds: ['ann'] })
    await run(40_000)
    expect(matchmaker.seatsOf('ann')).toEqual([])
    server.players = { ann: 'in' }
    await run(1000)
    expect(matchmaker.seatsOf('ann')).toMatchObject([{ serverId: first, state: 'taken' }])
  })

  test('a server cannot reclaim players who gave their seat back or took another seat', async () => {
    const { matchmaker, run, first, second, server, other } = await hostile()
    const { seats } = matchmaker.holdSeats({ serverId: first, playerIds: ['ann', 'ben'] })
    server.players = { ann: 'in', ben: 'in' }
    await run(1000)
    for (const { id, playerId } of seats) await matchmaker.releaseSeat(id, playerId)
    matchmaker.holdSeats({ serverId: second, playerIds: ['ben'] })
    other.players = { ben: 'in' }
    server.players = {}
    await run(1000)
    other.players = { ben: 'away' }
    server.players = { ann: 'in', ben: 'in' }
    await run(1000)
    expect(matchmaker.seatsOf('ben')).toMatchObject([{ serverId: second, state: 'away' }])
    expect(matchmaker.holdSeats({ serverId: second, playerIds: ['ann'] }).seats).toMatchObject([{ state: 'held' }])
  })

  test('a server that names a player as its owner does not count as started by this player', async () => {
    const { matchmaker, run, servers } = await hostile()
    for (const { listing } of servers) if (listing !== undefined) listing['owner'] = 'ann'
    await run(1000)
    await expect(matchmaker.startServer({ pool: 'arena', playerIds: ['ann'], attributes: {} })).resolves.toMatchObject({
      isNew: true,
    })
  })

  test('players without a seat keep a drained or player-started server for at most about an hour', async () => {
    for (const pool of [arena, world]) {
      const { matchmaker, service, run, first, server, other, report, clock } = await hostile(pool)
      for (const one of [server, other]) one.players = { phantom: 'in' }
      await run(1000)
      if (pool === world) await matchmaker.drainServer(first)
      const isStopped = () => service.calls.stop.some(({ request_id }) => ['r1', 'r2'].includes(request_id))
      const pass = async (ms: number) => {
        for (let passed = 0; passed < ms; passed += 10_000) {
          await clock.until(matchmaker.tick())
          await clock.advance(10_000)
          if (isStopped()) return
          for (const one of [server, other]) await report(one)
        }
      }
      await pass(3_500_000)
      expect(isStopped()).toBe(false)
      await pass(300_000)
      expect(isStopped()).toBe(true)
    }
  })
})

test('one server that lists few seats does not keep players of its pool from sharing servers', async () => {
  const pool = { ...arena, at: [], custom: { perPlayer: 1, max: 20 } }
  const { matchmaker, service, run, servers } = open({ pools: [pool] })
  await run(1000)
  const start = (players: readonly string[]) =>
    Promise.all(players.map((id) => matchmaker.startServer({ playerIds: [id], attributes: {}, mayShare: true })))
  const players = Array.from({ length: 32 }, (_, nth) => `p${nth}`)
  await start(players.slice(8))
  await run(9000)
  expect(service.calls.create).toHaveLength(3)
  Object.assign(servers.at(-1)?.listing ?? {}, { seats: 1 })
  await run(2000)
  await start(players.slice(0, 8))
  await run(1000)
  expect(service.calls.create).toHaveLength(4)
})

test('players who share a started server guess no password of a server that has locked itself', async () => {
  const pool = { ...arena, at: [], custom: { perPlayer: 1, max: 40 } }
  const { matchmaker, run, servers } = open({ pools: [pool] })
  await run(1000)
  const { serverId } = await matchmaker.startServer({ playerIds: ['cat'], attributes: {} })
  await run(12_000)
  expect(matchmaker.seatsOf('cat')).toMatchObject([{ serverId, state: 'held' }])
  for (const { listing } of servers) Object.assign(listing ?? {}, { password: 'of friends' })
  await run(1000)
  for (let nth = 0; nth < 130; nth += 1) {
    const party = Array.from({ length: 8 }, (_, index) => `p${nth}-${index}`)
    const started = matchmaker.startServer({ playerIds: party, attributes: {}, mayShare: true })
    await started.catch(({ code }: SeatRefused) => expect(code).toBe('no-capacity'))
  }
  const { seats } = matchmaker.holdSeats({ serverId, playerIds: ['ann'], password: 'of friends' })
  expect(seats).toMatchObject([{ state: 'held' }])
})
