import { seededRandom } from '@muster/core/clock'
import type { PoolDefinition } from '@muster/matchmaker'
import { poolCost, poolSchema } from '@muster/matchmaker/internal'
import { describe, expect, test } from 'vitest'
import { CROWD_FORMAT, type Crowd, type CrowdParty } from '../crowd/crowd.js'
import { europeans } from './run-crowd.fixture.js'
import { runCrowd } from './run-crowd.js'

const deploy = { application: 'game', version: '1' }
const pair = { name: 'pair', matchSize: 2, pool: 'arena' } as const
const arena = { name: 'arena', deploy, warm: { hit: 0.95, max: 100 } } satisfies PoolDefinition

interface Load {
  readonly perHour: number
  readonly hours: number
  readonly matchSeconds: number
}

/** Generates pairs of friends at random times. Each pair is a match as soon as it arrives. */
function pairs({ perHour, hours, matchSeconds }: Load): Crowd {
  const random = seededRandom(perHour)
  const parties: CrowdParty[] = []
  for (let at = 0; ;) {
    at += (-Math.log(1 - random()) * 3_600_000) / perHour
    if (at >= hours * 3_600_000) break
    const id = parties.length
    const players = ['a', 'b'].map((one) => ({ id: `${one}${id}`, coordinates: { latitude: 50, longitude: 9 } }))
    const playMs = Math.round(matchSeconds * 1000 * (0.7 + 0.6 * random()))
    parties.push({ id: `g${id}`, at: Math.floor(at), players, visits: [{ patienceMs: 60_000, playMs }] })
  }
  return { header: { format: CROWD_FORMAT, startsAt: Date.UTC(2026, 0, 5), durationMs: hours * 3_600_000 }, parties }
}

describe('the share of simulated matches that find a warm server', () => {
  test.each([
    // pools.load.test.ts tests the pool alone, from 120 to 7,200 matches an hour.
    { perHour: 600, hours: 2 },
  ])(
    'the simulated share of warm matches is within two points of the formula at $perHour matches an hour',
    async ({ perHour, hours }) => {
      const load = { matchesPerHour: perHour, bootSeconds: 20, matchSeconds: 900 }
      const crowd = pairs({ perHour, hours, matchSeconds: 900 })
      const { matches } = await runCrowd(crowd, [pair], { pools: [arena], startMs: 20_000 })
      // The pool learns the demand within the first hour.
      const known = matches.filter(({ foundAt }) => foundAt >= 3_600_000)
      const found = known.filter(({ isWarm }) => isWarm).length / known.length
      const { hit } = poolCost(poolSchema.parse(arena), load)
      expect(hit).toBeGreaterThan(0.95)
      expect(Math.abs(found - hit)).toBeLessThanOrEqual(0.02)
    },
  )
})

test('the lab simulates the servers of a pool whatever source the pool has', async () => {
  const pools = [{ ...arena, source: 'metal' }]
  const { servers } = await runCrowd(europeans(60, 10), [pair], { pools, startMs: 20_000 })
  expect(servers.created).toBeGreaterThan(0)
})

describe('a run with pools', () => {
  const crowd = pairs({ perHour: 600, hours: 0.5, matchSeconds: 120 })

  test('a run with pools sends matches to warm servers at once, else after a boot, and reuses servers', async () => {
    const reused = { ...arena, reuse: { maxMatches: 10 } }
    const run = await runCrowd(crowd, [pair], { pools: [reused], startMs: 20_000 })
    const { matches, tickets, servers, pools, requests } = run
    expect(matches).toHaveLength(crowd.parties.length)
    expect(tickets.every(({ end }) => end === 'assigned')).toBe(true)
    for (const { isWarm, foundAt, assignedAt } of matches) expect(assignedAt - foundAt).toBe(isWarm ? 0 : 20_000)
    expect(servers.created).toBeLessThan(matches.length / 4)
    expect(requests['create']?.total).toBe(servers.created)
    expect(requests['stop']?.total).toBe(servers.created)
    expect(pools).toEqual({ arena: servers })
    const playedMs = tickets.reduce((sum, { party }) => sum + (crowd.parties[party]?.visits[0]?.playMs ?? 0), 0)
    expect(servers.bootSeconds).toBe(servers.created * 20)
    expect(servers.idleSeconds).toBeGreaterThan(0)
    expect(servers.seconds - servers.bootSeconds - servers.idleSeconds).toBeCloseTo(playedMs / 1000, 0)
  })

  test('a run with pools has the same result each time for the same seed', async () => {
    const options = { pools: [{ ...arena, reuse: { maxMatches: 3 } }], seed: 7 }
    const few = pairs({ perHour: 600, hours: 0.25, matchSeconds: 120 })
    expect(await runCrowd(few, [pair], options)).toEqual(await runCrowd(few, [pair], options))
  })

  test('one run can report queues with and without a pool', async () => {
    const own = { name: 'own', matchSize: 2, deploy }
    const all = europeans(60, 10)
    const halves = { ...all, parties: all.parties.map((one, at) => ({ ...one, queues: [at % 2 ? 'own' : 'pair'] })) }
    const { matches, servers, pools } = await runCrowd(halves, [pair, own], { pools: [arena] })
    const of = (queue: string) => matches.filter((match) => match.queue === queue)
    expect(new Set(of('own').map(({ isWarm }) => isWarm))).toEqual(new Set([undefined]))
    expect(new Set(of('pair').map(({ isWarm }) => typeof isWarm))).toEqual(new Set(['boolean']))
    expect(pools['arena']?.created).toBe(servers.created - of('own').length)
    expect(servers.bootSeconds).toBe(servers.created * 5)
  })

  test('a run with pools keeps servers warm at the scheduled times, even without players', async () => {
    const places = [{ name: 'Frankfurt', latitude: 50.1, longitude: 8.7 }]
    const at = [{ cron: '0 2 * * *', minutes: 30, min: 3 }]
    const late = { at: 8_400_000, visits: [{ patienceMs: 60_000, playMs: 60_000 }] }
    const [first] = crowd.parties
    const waiting = { ...crowd, parties: [{ ...(first as CrowdParty), ...late }] }
    const { servers } = await runCrowd(waiting, [pair], { pools: [{ name: 'arena', deploy, places, at }] })
    // Three servers are warm from 2:00 on. A match takes one at 2:20, and another one replaces it.
    expect(servers.created).toBe(4)
    expect(servers.idleSeconds / 60).toBeGreaterThan(60)
    expect(servers.idleSeconds / 60).toBeLessThan(63)
  })

  test('a run without pools creates a server for each match, even if the queue names a pool', async () => {
    const { matches, servers, pools } = await runCrowd(crowd, [{ ...pair, deploy }])
    expect(servers.created).toBe(matches.length)
    expect(servers.idleSeconds).toBe(0)
    expect(pools).toEqual({})
  })

  test('a run refuses an invalid or unknown pool', async () => {
    const wrong = { ...arena, warm: { hit: 2 } }
    await expect(runCrowd(crowd, [pair], { pools: [wrong] })).rejects.toThrow('pools.0.warm.hit: must be at most 0.999')
    await expect(runCrowd(crowd, [pair], { pools: [] })).rejects.toThrow('there is no such pool, got "arena"')
    const slow = { ...arena, deploy: { ...deploy, readyTimeoutMs: 5000 } }
    await expect(runCrowd(crowd, [pair], { pools: [slow], startMs: 5000 })).rejects.toThrow('less than readyTimeoutMs')
  })
})
