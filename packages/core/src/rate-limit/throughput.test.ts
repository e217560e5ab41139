import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../time.js'
import { createBucket } from './token-bucket.js'
import { type Fate, simulate } from './simulation.fixture.js'
import { eighths, milliseconds, endings } from './processes.fixture.js'

describe('the throughput of one process with enough work', () => {
  const SECONDS = 20

  /**
   * Returns the used share of the limit: from the mean time that `limit` starts take on open connections, measured
   * after `afterSeconds`.
   */
  const part = (
    limit: number,
    fate: (n: number) => Fate,
    { jitterMs, afterSeconds = 0 }: { jitterMs?: number; afterSeconds?: number } = {},
  ) => {
    const calls = new Array<number>(limit * (afterSeconds + SECONDS + 2)).fill(0)
    const { starts } = simulate(
      [{ limiter: createBucket({ limit, windowMs: 1000, jitterMs }), calls, fate }],
      (afterSeconds + SECONDS) * 1000,
    )
    const later = starts.filter((at) => at >= afterSeconds * 1000)
    const times = later.slice(limit).map((at, n) => at - (later[n] as number))
    return 1000 / (times.reduce((sum, time) => sum + time, 0) / times.length)
  }

  const network = fc.record({
    limit: fc.integer({ min: 10, max: 60 }),
    wayOutMs: milliseconds(0, 300),
    wayBackMs: milliseconds(0, 300),
    thinkMs: fc.oneof(fc.constant(0), milliseconds(0, 5000)),
    losses: fc.boolean(),
    seed: fc.integer(),
  })
  type Network = typeof network extends fc.Arbitrary<infer T> ? T : never

  const fates = ({ wayOutMs, wayBackMs, thinkMs, losses, seed }: Network, jitterMs: number) => {
    const random = seededRandom(seed)
    return (): Fate => ({
      connectMs: 0,
      outMs: wayOutMs + eighths(random() * jitterMs),
      thinkMs: eighths(random() * thinkMs),
      backMs: wayBackMs + eighths(random() * jitterMs),
      end: losses ? (endings[Math.floor(random() * 5)] as Fate['end']) : 'answered',
    })
  }

  /** Returns the smallest share over 12 networks. */
  const leastPart = (scenarios: fc.Arbitrary<Network>, partOf: (scenario: Network) => number) =>
    Math.min(...fc.sample(scenarios, 12).map(partOf))
  const without = (losses: boolean) => network.map((scenario) => ({ ...scenario, losses: scenario.losses && !losses }))

  test('throughput is 97 % of the limit if answers come at once and network delays vary by up to 30 ms', () => {
    const near = without(true).map((scenario) => ({ ...scenario, wayOutMs: 0, wayBackMs: 0, thinkMs: 0 }))
    expect(leastPart(near, (scenario) => part(scenario.limit, fates(scenario, 15)))).toBeGreaterThanOrEqual(0.97)
  })

  test('throughput is 93 % of the limit after a minute, regardless of how slow the answers are', () => {
    expect(
      leastPart(without(true), (scenario) => part(scenario.limit, fates(scenario, 50), { afterSeconds: 60 })),
    ).toBeGreaterThanOrEqual(0.93)
  })

  test('throughput is 95 % of the limit after a minute if delays vary by up to 30 ms and jitterMs is 30', () => {
    expect(
      leastPart(without(true), (scenario) =>
        part(scenario.limit, fates(scenario, 30), { jitterMs: 30, afterSeconds: 60 }),
      ),
    ).toBeGreaterThanOrEqual(0.95)
  })

  test('throughput is 70 % of the limit even if two of five answers never come', () => {
    expect(
      leastPart(network, (scenario) => part(scenario.limit, fates(scenario, 50), { afterSeconds: 60 })),
    ).toBeGreaterThanOrEqual(0.7)
  })
})
