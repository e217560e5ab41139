/** Time limits pass while the process is suspended (SIGSTOP), and messages arrive right afterwards. */
import { createMemoryServerLog, type ServerLog } from '@muster/hosting/internal'
import { describe, expect, test } from 'vitest'
import { arena, open } from './listed-servers.fixture.js'
import { deploy, duel, setUp } from './matchmaker.fixture.js'

type World = ReturnType<typeof setUp>

/** No tick runs for 10 s. Afterwards the first tick runs before anything that has arrived meanwhile is read. */
const suspend = async ({ clock, matchmaker }: World) => {
  await clock.advance(10_000)
  await matchmaker.tick()
}

const secretOf = ({ service }: World) =>
  service.calls.create[0]?.environment_variables?.find(({ key }) => key === 'MM_MATCH_SECRET')?.value ?? ''

describe('a match whose joinWithinMs passes while the process is suspended', () => {
  const assigned = async () => {
    const world = setUp({ queues: [{ ...duel, deploy: { ...deploy, joinWithinMs: 20_000 } }] })
    const { matchmaker, join, run, status } = world
    join('ann', 'ben')
    while (status('ann-ben') !== 'HOST_ASSIGNED') await run(250)
    await run(15_000)
    await suspend(world)
    return { ...world, matchId: matchmaker.getTicket('ann-ben')?.matchId ?? '' }
  }

  test('the match continues if its server reports within 25 s that a player has joined', async () => {
    const world = await assigned()
    await world.run(20_000)
    expect(world.matchmaker.playerCame(world.matchId, secretOf(world), 'ben')).toBe(true)
    await world.run(60_000)
    expect(world.service.unstopped()).toEqual(['r1'])
  })

  test('the match ends after 25 s if its server reports no player', async () => {
    const { run, seen } = await assigned()
    await run(27_000)
    expect(seen.deploymentStopped).toMatchObject([{ requestId: 'r1', reason: 'nobody-joined' }])
  })
})

test('a deployment that becomes READY while the process is suspended is used', async () => {
  const world = setUp({
    queues: [{ ...duel, deploy: { ...deploy, readyTimeoutMs: 12_000 } }],
    service: { fate: () => ({ readyMs: 9000 }), latencyMs: () => 50 },
  })
  const { join, run, service, clock, status } = world
  join('ann', 'ben')
  await run(5000)
  const ticked = suspend(world)
  await clock.until(ticked)
  await run(2000)
  expect(status('ann-ben')).toBe('HOST_ASSIGNED')
  expect(service.unstopped()).toEqual(['r1'])
})

test('a silent game server is lost after 25 s, though ticks are 10 s apart', async () => {
  const { matchmaker, clock, run, seen } = open()
  await run(8000)
  const late = async (ticks: number) => {
    for (let nth = 0; nth < ticks; nth += 1) {
      await clock.advance(10_000)
      await matchmaker.tick()
    }
  }
  await late(2)
  expect(seen.serverLost).toBeUndefined()
  await late(4)
  expect(seen.serverLost).toHaveLength(2)
})

test('a server whose match was given up in a suspension is stopped, even if it is recorded later', async () => {
  const memory = createMemoryServerLog()
  let write = () => {}
  const serverLog: ServerLog = {
    ...memory,
    append: async (entries) => {
      if (entries.some(({ kind }) => kind === 'up')) await new Promise<void>((resolve) => (write = resolve))
      await memory.append(entries)
    },
  }
  const world = setUp({ serverLog, service: { fate: () => ({ readyMs: 1000 }) } })
  const { join, run, status, service } = world
  join('ann', 'ben')
  await run(3000)
  expect(status('ann-ben')).toBe('MATCH_FOUND')
  await run(20_000)
  await suspend(world)
  write()
  await run(30_000)
  expect(service.unstopped()).not.toContain('r1')
})

describe('a seat that is held while the process is suspended', () => {
  const held = async () => {
    const all = open()
    const [serverId = ''] = await all.listed()
    const [seat] = all.matchmaker.holdSeats({ serverId, playerIds: ['ann'], by: 'ann' }).seats
    await all.run(5000)
    return { ...all, seatId: seat?.id ?? '' }
  }

  test.each(['the tick', 'a report'])('is still held if %s comes first', async (first) => {
    const { matchmaker, clock, servers, report, seatId, run } = await held()
    await clock.advance(900_000)
    if (first === 'a report') for (const server of servers) await report(server)
    await matchmaker.tick()
    expect(matchmaker.seatsOf('ann')).toMatchObject([{ id: seatId, state: 'held' }])
    await run(20_000)
    expect(matchmaker.followSeat(seatId, 'ann')).toMatchObject({ state: 'held' })
    expect(matchmaker.cooldownsOf('ann')).toEqual([])
    await run(120_000)
    expect(matchmaker.seatsOf('ann')).toEqual([])
    expect(matchmaker.cooldownsOf('ann')).toEqual([])
  })

  test('expires if only a tick waits, e.g. for the store, while reports arrive', async () => {
    const { matchmaker, clock, servers, report } = await held()
    for (let seconds = 0; seconds < 60; seconds += 1) {
      await clock.advance(1000)
      for (const server of servers) await report(server)
    }
    expect(matchmaker.seatsOf('ann')).toEqual([])
  })
})

test('a server that players start is kept if it lists itself right after the process was suspended', async () => {
  const { matchmaker, service, clock, run } = open({
    pools: [{ ...arena, at: [] }],
    service: { fate: () => ({ readyMs: 3000 }) },
  })
  await run(1000)
  const { seats } = await matchmaker.startServer({ pool: 'arena', playerIds: ['ann'], attributes: { mode: 'dm' } })
  await run(4000)
  await clock.advance(400_000)
  await matchmaker.tick()
  await run(10_000)
  expect(matchmaker.followSeat(seats[0]?.id ?? '', 'ann')).toMatchObject({ state: 'held' })
  expect(service.calls.stop).toEqual([])
})
