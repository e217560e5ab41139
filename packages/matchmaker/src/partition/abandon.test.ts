import type { DeploymentService } from '@muster/hosting/internal'
import { expect, test } from 'vitest'
import { MatchmakerClosed } from '../errors.js'
import { createWorld } from './leader.fixture.js'

/** Starts a match of two players whose leader is abandoned at this age of the match. */
async function abandonedAfter(ms: number, world = createWorld()) {
  const process = world.process()
  const { leader, run } = process
  await leader.lead()
  leader.load([world.join('ann'), world.join('ben')])
  await run(ms)
  const { matchId = '' } = leader.getTicket('ann') ?? {}
  const told = { changes: process.changes.length, entries: world.entries.length }
  leader.abandon()
  return { ...world, ...process, matchId, told }
}

test.each([
  ['before any match was found', 0],
  ['while the server starts', 1500],
  ['while a match runs', 6500],
])('a leader abandoned %s changes nothing afterwards', async (_, ms) => {
  const { clock, service, leader, changes, entries, seen, told } = await abandonedAfter(ms)
  const calls = JSON.stringify(service.calls)
  const events = JSON.stringify(seen)
  await clock.advance(120_000)
  expect(JSON.stringify(service.calls)).toBe(calls)
  expect(JSON.stringify(seen)).toBe(events)
  expect({ changes: changes.length, entries: entries.length }).toEqual(told)
  expect(clock.sleepers).toBe(0)
  expect(() => leader.cancelTicket('ann')).toThrow(MatchmakerClosed)
  expect(() => leader.load([])).toThrow(MatchmakerClosed)
  expect(() => leader.start()).toThrow(MatchmakerClosed)
})

test('when a leader is abandoned, its ticks end and the promises of its callers reject', async () => {
  const { clock, join, process } = createWorld()
  const { leader } = process()
  await leader.lead()
  leader.load([join('ann'), join('ben')])
  leader.start()
  await clock.advance(6500)
  const { matchId = '', version = 0 } = leader.getTicket('ann') ?? {}
  leader.load([join('cas')])
  const waits = [leader.waitForChange('cas', { version: 1 }), leader.stopMatch(matchId), leader.tick()]
  expect(version).toBe(3)
  leader.abandon()
  leader.abandon()
  for (const wait of waits) await expect(wait).rejects.toThrow(MatchmakerClosed)
  await expect(leader.tick()).rejects.toThrow(MatchmakerClosed)
  await expect(leader.close()).rejects.toThrow(MatchmakerClosed)
  expect(clock.sleepers).toBe(0)
})

test('an answer that arrives after a leader was abandoned is ignored', async () => {
  const world = createWorld({ service: { latencyMs: () => 1000 } })
  const { clock, service, entries, told } = await abandonedAfter(500, world)
  expect(service.calls.create).toHaveLength(1)
  await clock.advance(60_000)
  // The request had been sent. The next leader finds the server by its tag.
  expect(service.calls.stop).toEqual([])
  expect(entries).toHaveLength(told.entries)
})

test('when a leader is abandoned, calls in flight are aborted and queued calls are never sent', async () => {
  const signals: (AbortSignal | undefined)[] = []
  const { join, process, service } = createWorld()
  const deployments: DeploymentService = {
    ...service.deployments,
    create: (_, options) => {
      signals.push(options?.signal)
      return new Promise(() => {})
    },
  }
  const { leader } = process({ deployments, maxCreatesInFlight: 1 })
  await leader.lead()
  leader.load(['ann', 'ben', 'cas', 'dee'].map((id) => join(id)))
  await leader.tick()
  leader.abandon()
  expect(signals.map((signal) => signal?.aborted)).toEqual([true])
})

test('a create is not sent if its entry is written only after the leader was abandoned', async () => {
  const { clock, join, process, serverLog, service } = createWorld()
  const slow = {
    open: () => serverLog.open(),
    append: async (entry: Parameters<typeof serverLog.append>[0]) => {
      await clock.sleep(100)
      await serverLog.append(entry)
    },
  }
  const { leader, seen } = process({ serverLog: slow })
  await leader.lead()
  leader.load([join('ann'), join('ben')])
  void leader.tick().catch(() => {})
  await clock.advance(150)
  leader.abandon()
  await clock.advance(1000)
  expect(service.calls.create).toEqual([])
  expect(seen.problem).toBeUndefined()
  // The store has the intent and the `sent` entry, so the next process looks for the server, and does not find one.
  expect(await serverLog.open()).toMatchObject({ servers: [{ sentAt: expect.any(Number) as number }] })
})

test('when a leader is abandoned, its call to a custom source is aborted, and no further call follows', async () => {
  const calls: string[] = []
  let signal: AbortSignal | undefined
  const place = { name: 'Oslo', latitude: 59.9, longitude: 10.7 }
  const world = createWorld({
    queues: [{ name: 'duel', matchSize: 2, pool: 'arena' }],
    pools: [{ name: 'arena', source: 'metal', deploy: { application: 'game', version: '1' }, places: [place] }],
    sources: {
      metal: {
        allocate: ({ id }, options) => {
          calls.push(`allocate ${id}`)
          signal = options.signal
          return new Promise(() => {})
        },
        poll: async (ids) => {
          calls.push(`poll ${ids.join(' ')}`)
          return []
        },
        stop: async (id) => void calls.push(`stop ${id}`),
      },
    },
  })
  const { clock } = await abandonedAfter(1500, world)
  expect(signal?.aborted).toBe(true)
  const before = [...calls]
  expect(before.some((one) => one.startsWith('allocate'))).toBe(true)
  await clock.advance(120_000)
  expect(calls).toEqual(before)
})
