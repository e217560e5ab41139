import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Permit } from '@muster/core'
import { overLimit, simulate, type Sabotage, type Scenario, type SimulatedProcess } from './simulation.fixture.js'
import { limitTimes } from './token-store.js'

const HORIZON_MS = 15_000
const { settleMs, permitMs } = limitTimes(1000)

const moment = fc.integer({ min: 0, max: HORIZON_MS })
const spell = (most: number) => fc.record({ from: moment, ms: fc.integer({ min: 1, max: most }) })

const process = fc.record({
  startsAt: fc.oneof(fc.constant(0), moment),
  diesAt: fc.option(moment, { nil: undefined }),
  pauses: fc.array(spell(4000), { maxLength: 4 }),
  offsetMs: fc.integer({ min: -1e9, max: 1e9 }),
  work: fc.record({ calls: fc.integer({ min: 1, max: 30 }), everyMs: fc.integer({ min: 100, max: 3000 }) }),
})

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  limit: fc.integer({ min: 1, max: 12 }),
  windowMs: fc.constantFrom(500, 1000, 3000),
  processes: fc.array(process, { minLength: 1, maxLength: 5 }),
  wipes: fc.array(moment, { maxLength: 3 }),
  outages: fc.array(spell(3000), { maxLength: 2 }),
  wayMs: fc.integer({ min: 0, max: settleMs }),
  redisMs: fc.integer({ min: 0, max: 60 }),
  connectMs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 1.2 * permitMs })),
  lossOneIn: fc.constantFrom(0, 0, 3, 20),
  seed: fc.integer(),
})

describe('the limit shared by Redis', () => {
  test('property: a limit shared by Redis is never exceeded when processes crash and Redis loses data', async () => {
    await fc.assert(
      fc.asyncProperty(scenarios, async (scenario) => {
        const counted = await simulate(scenario, HORIZON_MS)
        expect(overLimit(counted, scenario.limit, scenario.windowMs)).toBe(0)
      }),
      { numRuns: 25 },
    )
  })

  test('property: a limit shared by Redis is never exceeded, however slow the requests are', async () => {
    const slow = fc.record({ scenario: scenarios, wayMs: fc.integer({ min: 0, max: 6000 }) })
    await fc.assert(
      fc.asyncProperty(slow, async ({ scenario, wayMs }) => {
        const processes = scenario.processes.map((one) => ({ ...one, diesAt: undefined, pauses: [] }))
        const calm = { ...scenario, processes, wayMs, outages: [], lossOneIn: 0 }
        const counted = await simulate(calm, HORIZON_MS)
        expect(overLimit(counted, calm.limit, calm.windowMs)).toBe(0)
      }),
      { numRuns: 20 },
    )
  })
})

/** Processes that always have work, without any faults. */
const steady: Scenario = {
  limit: 10,
  windowMs: 1000,
  processes: Array.from({ length: 4 }, (_, n) => ({
    startsAt: 0,
    diesAt: undefined,
    pauses: [],
    offsetMs: 1e6 * n,
    work: { calls: 20, everyMs: 1000 },
  })),
  wipes: [],
  outages: [],
  wayMs: 40,
  redisMs: 2,
  connectMs: 3,
  lossOneIn: 0,
  seed: 1,
}

describe('the fallback to shares while Redis is down', () => {
  const away = fc.array(fc.record({ from: moment, ms: fc.integer({ min: 1000, max: 9000 }) }), {
    minLength: 1,
    maxLength: 2,
  })
  const falling = fc.record({ scenario: scenarios, limit: fc.integer({ min: 5, max: 15 }), outages: away })

  test('property: the fallback shares never exceed the limit if Redis goes down and comes back empty', async () => {
    await fc.assert(
      fc.asyncProperty(falling, async ({ scenario, ...changes }) => {
        const wipes = changes.outages.map(({ from, ms }) => from + ms - 1)
        const changed = { ...scenario, ...changes, wipes, lossOneIn: 0, fallback: true }
        const counted = await simulate(changed, 2 * HORIZON_MS)
        expect(overLimit(counted, changed.limit, changed.windowMs)).toBe(0)
      }),
      { numRuns: 20 },
    )
  })

  test('processes send within their fallback shares while Redis is down, and then use the whole limit', async () => {
    const outages = [{ from: 6000, ms: 12_000 }]
    const counted = await simulate({ ...steady, outages, limit: 20, fallback: true }, 30_000)
    const within = (from: number, until: number) => counted.filter((at) => at >= from && at < until).length / 20
    expect(within(12_000, 18_000)).toBeGreaterThan(4)
    expect(within(24_000, 30_000)).toBeGreaterThan(4)
    expect(overLimit(counted, 20, 1000)).toBe(0)
  })
})

describe('the simulation of limiters', () => {
  /** Returns the number of requests above the limit in 60 scenarios, which are always the same. */
  const refused = async (sabotage: Sabotage, changes: Partial<Scenario> = {}) => {
    let sum = 0
    for (const scenario of fc.sample(scenarios, { numRuns: 25, seed: 1 })) {
      const { limit, windowMs } = scenario
      const counted = await simulate({ ...scenario, ...changes }, HORIZON_MS, sabotage)
      sum += overLimit(counted, limit, windowMs)
    }
    return sum
  }
  const permits =
    (change: (permit: Permit) => void): Sabotage['limiter'] =>
    (limiter) => ({
      ...limiter,
      reserve: async (now) => {
        const permit = await limiter.reserve(now)
        if (typeof permit !== 'number') change(permit)
        return permit
      },
    })

  test('a limiter whose permits never expire exceeds the limit in the simulation', async () => {
    expect(await refused({ times: { permitMs: 1e9 } })).toBeGreaterThan(0)
  })

  test('a limiter that does not check permits before the write exceeds the limit in the simulation', async () => {
    const limiter = permits((permit) => void (permit.mayWrite = () => true))
    expect(await refused({ limiter }, { connectMs: 3000 })).toBeGreaterThan(0)
  })

  test('a limiter that trusts a store that starts empty exceeds the limit in the simulation', async () => {
    expect(await refused({ storeTimes: { coldMs: 0 } })).toBeGreaterThan(0)
  })

  test('a limiter that frees a silent process’s tokens after a window exceeds the limit in simulation', async () => {
    expect(await refused({ storeTimes: { holdMs: 1000 } })).toBeGreaterThan(0)
  })

  test('a limiter that counts from the write of a request exceeds the limit in the simulation', async () => {
    const limiter = permits((permit) => {
      const written = permit.written.bind(permit)
      permit.written = (now) => (written(now), permit.answered(now))
    })
    expect(await refused({ limiter })).toBeGreaterThan(0)
  })

  test('a limiter that frees the tokens of late-answered requests exceeds the limit in the simulation', async () => {
    const { processes, outages, lossOneIn } = steady
    const slow = { processes, outages, lossOneIn, wayMs: 6000 }
    expect(await refused({}, slow)).toBe(0)
    expect(await refused({ store: { keep: async () => {} } }, slow)).toBeGreaterThan(0)
  })
})

describe('the use of the limit by all processes together, with work waiting', () => {
  /** Returns the used share of the limit, from the time that as many requests as the limit take. */
  const part = async (changes: Partial<Scenario>) => {
    const scenario = { ...steady, limit: 40, ...changes }
    const { limit, windowMs } = scenario
    const counted = await simulate(scenario, 30_000)
    const later = counted.filter((at) => at > 5000)
    const times = later.slice(limit).map((at, n) => at - (later[n] as number))
    expect(overLimit(counted, limit, windowMs)).toBe(0)
    return windowMs / (times.reduce((sum, time) => sum + time, 0) / times.length)
  }
  const light = { calls: 1, everyMs: 500 }

  test('processes with work use 97 % of a shared limit if answers take up to 40 ms', async () => {
    expect(await part({ wayMs: 20 })).toBeGreaterThanOrEqual(0.97)
  })

  test('97 % of a shared limit is used if one process has much work and three have little', async () => {
    const [first, ...others] = steady.processes.map((one) => ({ ...one, work: { calls: 60, everyMs: 1000 } }))
    const processes = [first as SimulatedProcess, ...others.map((one) => ({ ...one, work: light }))]
    expect(await part({ wayMs: 20, processes })).toBeGreaterThanOrEqual(0.97)
  })

  test('85 % of a shared limit is used if one in 20 requests and one in 20 answers is lost', async () => {
    expect(await part({ wayMs: 20, lossOneIn: 20 })).toBeGreaterThanOrEqual(0.85)
  })
})
