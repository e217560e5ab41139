import { createManualClock, seededRandom } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { createMatchmaker } from './create-matchmaker.js'
import type { QueueDefinition } from './queues/queue.js'
import { createStubService } from './replay/stub-service.js'
import type { WaitEstimate } from './wait-times/wait-estimate.js'

const deploy = { application: 'game', version: '1' }
const trio: QueueDefinition = { name: 'trio', matchSize: 3, deploy }
const SECOND = 1000
const MINUTE = 60 * SECOND
const coordinates = { latitude: 50, longitude: 8 }

function setUp(queues: readonly QueueDefinition[]) {
  const clock = createManualClock()
  const matchmaker = createMatchmaker({
    deployments: createStubService(clock, 1000),
    queues,
    clock,
    random: seededRandom(1),
    tickMs: 500,
    maxServers: Infinity,
    maxStarting: Infinity,
    stopwatch: () => 0,
  })
  let came = 0
  const come = (size = 1, inQueues: readonly string[] = ['trio']) => {
    came += 1
    const players = Array.from({ length: size }, (_, index) => ({ id: `p${came}-${index}`, coordinates }))
    return matchmaker.createTicket({ id: `t${came}`, queues: inQueues, players }).id
  }
  /** Players arrive every `everyMs`, until `players` have come. */
  const days = async (players: number, everyMs: number, size = 1) => {
    for (let each = 0; each < players; each += 1) {
      come(size)
      await clock.advance(everyMs)
    }
  }
  matchmaker.start()
  return { clock, matchmaker, come, days }
}

describe('estimated waits of a queue', () => {
  test('about half of new tickets are matched within the estimated p50 while the load changes', async () => {
    const { clock, matchmaker, come } = setUp([trio])
    const random = seededRandom(7)
    const open = new Map<string, { estimate: WaitEstimate | undefined; at: number }>()
    const outcomes: { estimate: WaitEstimate | undefined; waited: number }[] = []
    matchmaker.on('matchFound', ({ tickets }) => {
      for (const { id } of tickets) {
        const { estimate, at } = open.get(id) ?? { estimate: undefined, at: Number.NaN }
        if (open.delete(id)) outcomes.push({ estimate, waited: clock.now() - at })
      }
    })
    const giveUp = (id: string) => {
      if (matchmaker.getTicket(id)?.status === 'SEARCHING') matchmaker.cancelTicket(id)
    }
    const start = clock.now()
    for (let passed = 0; passed < 120 * MINUTE; passed = clock.now() - start) {
      // One player per 3 s, down to one per 30 s and back, twice. For ten minutes, half of the players are missing.
      const lost = passed > 50 * MINUTE && passed < 60 * MINUTE ? 2 : 1
      const meanMs = lost * SECOND * (16.5 - 13.5 * Math.cos((2 * Math.PI * passed) / (60 * MINUTE)))
      await clock.advance(-Math.log(1 - random()) * meanMs)
      const id = come()
      // Every tenth ticket is cancelled later.
      if (random() < 0.1) void clock.sleep(20 * SECOND * random()).then(() => giveUp(id))
      else open.set(id, { estimate: matchmaker.estimateWait(id), at: clock.now() })
    }
    const known = outcomes.filter(({ estimate }) => estimate !== undefined)
    const share = (within: (one: (typeof known)[number]) => boolean) => known.filter(within).length / known.length
    expect(known.length).toBeGreaterThan(500)
    expect(known.length / outcomes.length).toBeGreaterThan(0.95)
    const within50 = share(({ estimate, waited }) => waited <= (estimate?.p50Ms ?? 0))
    const within90 = share(({ estimate, waited }) => waited <= (estimate?.p90Ms ?? Infinity))
    expect([within50 >= 0.45 && within50 <= 0.55, within50]).toEqual([true, within50])
    expect([within90 >= 0.85 && within90 <= 0.95, within90]).toEqual([true, within90])
  })

  test('estimated waits grow with the waits of tickets that are not matched yet', async () => {
    const { matchmaker, days } = setUp([trio])
    await days(60, 2 * SECOND)
    const before = matchmaker.estimateQueueWaits()[0]?.estimate?.p50Ms ?? Infinity
    // From now on no matches are made. The estimate grows before any of these tickets has ended.
    await matchmaker.stop()
    await days(30, 2 * SECOND)
    const after = matchmaker.estimateQueueWaits()[0]?.estimate?.p50Ms ?? Infinity
    expect(before).toBeLessThan(5 * SECOND)
    expect(after).toBeGreaterThan(1.5 * before)
  })

  test('estimated waits do not count cancelled tickets as matched', async () => {
    const { clock, matchmaker, come, days } = setUp([trio])
    await days(60, 20 * SECOND)
    const before = matchmaker.estimateQueueWaits()[0]?.estimate?.p50Ms ?? Infinity
    for (let each = 0; each < 100; each += 1) {
      const id = come()
      await clock.advance(SECOND)
      matchmaker.cancelTicket(id)
    }
    expect(matchmaker.estimateQueueWaits()[0]?.estimate?.p50Ms ?? 0).toBeGreaterThan(before - 2 * SECOND)
  })

  test('estimated waits differ by the size of the party', async () => {
    const pairs: QueueDefinition = { ...trio, matchSize: 4 }
    const { clock, matchmaker, come } = setUp([pairs])
    // Parties of four are matched at once. Single players wait for three others.
    for (let each = 0; each < 60; each += 1) {
      come(4)
      come(1)
      await clock.advance(5 * SECOND)
    }
    await clock.advance(3 * MINUTE)
    const [party, alone] = [come(4), come(1)]
    const p50Of = (id: string) => matchmaker.estimateWait(id)?.p50Ms ?? Number.NaN
    expect(p50Of(party)).toBeLessThan(SECOND)
    expect(p50Of(alone)).toBeGreaterThan(4 * SECOND)
  })

  test('estimated waits are not longer for a ticket in two queues, and unknown for a private match', async () => {
    const { clock, matchmaker, come, days } = setUp([trio, { ...trio, name: 'other', matchSize: 2 }])
    await days(60, 5 * SECOND)
    for (let each = 0; each < 60; each += 1) {
      come(1, ['other'])
      await clock.advance(5 * SECOND)
    }
    const p50Of = (id: string) => matchmaker.estimateWait(id)?.p50Ms ?? Number.NaN
    const [both, one] = [p50Of(come(1, ['trio', 'other'])), p50Of(come(1, ['trio']))]
    expect(both).toBeLessThanOrEqual(one)
    expect(matchmaker.estimateWait('nobody')).toBeUndefined()
    const teams = [{ name: 'team', players: [{ id: 'a', coordinates }] }]
    const { tickets } = matchmaker.createMatch({ queue: 'trio', teams })
    expect(matchmaker.estimateWait(tickets[0]?.id ?? '')).toBeUndefined()
  })

  test('estimated waits survive new rules of the queue, and still count the waiting tickets', async () => {
    const { matchmaker, come, days } = setUp([trio])
    await days(60, 2 * SECOND)
    come()
    const before = matchmaker.estimateQueueWaits()
    expect(before).toMatchObject([{ queue: 'trio', tickets: 1, players: 1, paused: false }])
    matchmaker.reconfigure([{ ...trio, expireAfterMs: 60_000 }])
    expect(matchmaker.estimateQueueWaits()).toEqual(before)
    matchmaker.reconfigure([{ ...trio, name: 'another' }])
    expect(matchmaker.estimateQueueWaits()).toEqual([
      { queue: 'another', tickets: 0, players: 0, paused: false, estimate: undefined },
    ])
  })
})
