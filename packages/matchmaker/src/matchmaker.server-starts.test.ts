/** Tests servers that players start: the limit of a pool, and players with promised seats on two servers. */
import { describe, expect, test } from 'vitest'
import { UnknownSeat } from './errors.js'
import { arena, open } from './listed-servers.fixture.js'

const cold = { ...arena, at: [] }
const custom = { pool: 'arena', attributes: { mode: 'dm' } }

test('a server that replaces a failed one counts against `custom.max` before it is created', async () => {
  const { matchmaker, run, clock, service } = open({
    pools: [{ ...cold, custom: { perPlayer: 1, max: 1, emptySeconds: 60 } }],
    maxCreatesPerMinute: 1,
    service: { fate: (nth) => (nth === 1 ? { errorMs: 2000 } : { readyMs: 3000 }) },
  })
  await run(1000)
  const { seats } = await matchmaker.startServer({ ...custom, playerIds: ['ann'] })
  await run(20_000)
  expect(service.unstopped()).toEqual([])
  // One more server may be created now. Ann waits for it.
  await clock.advance(60_000)
  await expect(matchmaker.startServer({ ...custom, playerIds: ['ben'] })).rejects.toMatchObject({ code: 'no-capacity' })
  await run(12_000)
  expect(service.calls.create).toHaveLength(2)
  expect(matchmaker.followSeat(seats[0]?.id ?? '', 'ann')).toMatchObject({ state: 'held' })
})

describe('a player whose party starts another server while the player’s seat is on a server that still starts', () => {
  test('the player’s own earlier server is stopped if nobody else waits for it', async () => {
    const { matchmaker, run, service } = open({ pools: [cold] })
    await run(1000)
    const earlier = await matchmaker.startServer({ ...custom, playerIds: ['ben'] })
    const { seats } = await matchmaker.startServer({ ...custom, playerIds: ['ann', 'ben'], by: 'ann' })
    expect(() => matchmaker.followSeat(earlier.seats[0]?.id ?? '', 'ben')).toThrow(UnknownSeat)
    await run(12_000)
    expect(matchmaker.followSeat(seats[1]?.id ?? '', 'ben')).toMatchObject({ state: 'held' })
    expect(service.unstopped()).toEqual(['r2'])
  })

  test('the player’s own earlier server is stopped if the party shares a server that others started', async () => {
    const { matchmaker, run, service } = open({ pools: [cold] })
    await run(1000)
    await matchmaker.startServer({ ...custom, password: 'pw', playerIds: ['ben'] })
    const { serverId } = await matchmaker.startServer({ ...custom, playerIds: ['cat'] })
    const shared = await matchmaker.startServer({ ...custom, playerIds: ['ann', 'ben'], mayShare: true, by: 'ann' })
    expect(shared.serverId).toBe(serverId)
    expect(matchmaker.seatsOf('ben')).toMatchObject([{ serverId, state: 'starting' }])
    await run(12_000)
    expect(matchmaker.seatsOf('ben')).toMatchObject([{ serverId, state: 'held' }])
    expect(service.unstopped()).toEqual(['r2'])
  })

  test('the player keeps one seat if the party shares the starting server that has this seat', async () => {
    const { matchmaker, run, service } = open({ pools: [cold] })
    await run(1000)
    const { serverId } = await matchmaker.startServer({ ...custom, playerIds: ['cat', 'dan'] })
    const shared = await matchmaker.startServer({ ...custom, playerIds: ['ann', 'dan'], mayShare: true, by: 'ann' })
    expect(shared).toMatchObject({ serverId, isNew: true })
    expect(matchmaker.seatsOf('dan')).toMatchObject([{ id: shared.seats[1]?.id }])
    const ids = ['e', 'f', 'g', 'h', 'i']
    expect(await matchmaker.startServer({ ...custom, playerIds: ids, mayShare: true })).toMatchObject({ serverId })
    await run(12_000)
    for (const id of ['ann', 'cat', 'dan', ...ids])
      expect(matchmaker.seatsOf(id)).toMatchObject([{ serverId, state: 'held' }])
    expect(service.unstopped()).toEqual(['r1'])
  })
})
