/** Tests that a server gets orders only after they are stored. */
import { createMemoryServerLog, type HostingEntry } from '@muster/hosting/internal'
import { expect, test } from 'vitest'
import { open, world } from './listed-servers.fixture.js'

/** Creates a log that writes entries of one kind only when the test allows it. */
function holding(kind: HostingEntry['kind']) {
  const memory = createMemoryServerLog()
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  const append = async (entries: readonly HostingEntry[]) => {
    if (entries.some((entry) => entry.kind === kind)) await released
    await memory.append(entries)
  }
  return { serverLog: { open: () => memory.open(), append }, release: () => release() }
}

test('a server gets the order for a match only after the claim is stored', async () => {
  const { serverLog, release } = holding('claimed')
  const { matchmaker, run, join, servers, report, clock } = open({ pools: [world], serverLog })
  await run(8000)
  join('ann', 'ben')
  // `tick` resolves only after its writes, so do not await it.
  for (let ticks = 0; ticks < 8; ticks += 1) {
    void matchmaker.tick()
    await clock.advance(250)
  }
  const orders = async () => (await Promise.all(servers.map(report))).flatMap(({ matches }) => matches)
  expect(await orders()).toEqual([])
  release()
  await run(1000)
  expect(await orders()).toHaveLength(1)
})

test('a server gets the order to end a match only after the end is stored', async () => {
  const { serverLog, release } = holding('over')
  const { run, join, servers, matchmaker, clock, status } = open({ pools: [world], serverLog })
  await run(8000)
  join('ann', 'ben')
  await run(3000)
  expect(status('ann-ben')).toBe('HOST_ASSIGNED')
  const server = servers.find(({ matches }) => matches.length > 0)
  if (server === undefined) throw new Error('no server has the match')
  void matchmaker.stopMatch(server.matches[0] ?? '').catch(() => {})
  let isTold = false
  const told = matchmaker.waitForServerOrders(server.token, { version: 0, waitMs: 1000 }).then((orders) => {
    isTold = true
    return orders
  })
  await clock.advance(2000)
  expect(isTold).toBe(false)
  release()
  expect((await told).matches).toEqual([])
})

test('a seat is free as soon as a report no longer lists its player', async () => {
  const { matchmaker, listed, run, servers, report } = open({ pools: [world] })
  const [first = ''] = await listed()
  matchmaker.holdSeats({ serverId: first, playerIds: ['ann'] })
  const [server] = servers
  if (server === undefined) throw new Error('no server')
  server.players = { ann: 'in' }
  await run(1000)
  const seats = () => matchmaker.listedServers().servers.find(({ id }) => id === first)?.seats
  expect(seats()).toMatchObject({ taken: 1, free: 1 })
  server.players = {}
  await report(server)
  expect(seats()).toMatchObject({ taken: 0, free: 2 })
  expect(matchmaker.seatsOf('ann')).toEqual([])
})
