import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../time.js'
import { createBucket } from './token-bucket.js'
import { fixedWindow, slidingLog, tokenBucket } from './server-models.fixture.js'
import { type Fate, type SimulatedClient, simulate, standstills } from './simulation.fixture.js'

/*
 * Simulates blocked times of the server and of the client's event loop (with or without the server in it), and delays
 * of new connections. All times are multiples of 1/8 ms, so that sums are exact.
 */
const eighths = (ms: number) => Math.round(ms * 8) / 8
const WINDOW_MS = 1000
const MINUTES = 2

/** Generates blocked times within two minutes, each up to `longest` and at least 1.5 s apart. */
const stills = (longest: number) =>
  fc
    .array(fc.tuple(fc.integer({ min: 1500, max: 8000 }), fc.integer({ min: 1, max: longest })), { maxLength: 30 })
    .map((gaps) => {
      let at = 0
      return gaps.map(([gap, length]) => {
        const from = at + gap
        at = from + length
        return { from, until: at }
      })
    })

const scene = fc.record({
  limit: fc.integer({ min: 1, max: 40 }),
  /** Processes with equal shares. */
  processes: fc.integer({ min: 1, max: 3 }),
  thinkMs: fc.integer({ min: 0, max: 3000 }),
  /** Maximum delay of the first requests, each of which opens a connection. */
  coldMs: fc.integer({ min: 0, max: 3000 }),
  server: stills(2500),
  loop: stills(800),
  phase: fc.integer({ min: 0, max: 1000 }),
  seed: fc.integer(),
})
type Scene = typeof scene extends fc.Arbitrary<infer T> ? T : never

type FateOf = (scene: Scene, random: () => number, n: number) => Fate

interface Setting {
  readonly jitterMs?: number
  /** True if the server runs in the client's process. */
  readonly inProcess?: boolean
  readonly fate: FateOf
}

/** Returns the number of requests that each kind of server refuses, while more calls wait than the limit allows. */
function refused(scenario: Scene, { jitterMs, inProcess, fate }: Setting) {
  const { limit, phase, seed } = scenario
  const processes = Math.min(scenario.processes, limit, inProcess ? 1 : 3)
  const loop = standstills(scenario.loop)
  const clients = Array.from({ length: processes }, (_, index): SimulatedClient => {
    const random = seededRandom(seed + index)
    return {
      limiter: createBucket({ limit, windowMs: WINDOW_MS, share: 1 / processes, jitterMs }),
      calls: new Array<number>(Math.ceil((limit / processes) * 60 * MINUTES)).fill(0),
      fate: (n) => fate(scenario, random, n),
      loop,
    }
  })
  const { counted } = simulate(clients, MINUTES * 60_000, inProcess ? loop : standstills(scenario.server))
  return {
    slidingLog: slidingLog(counted, limit, WINDOW_MS),
    fixedWindow: fixedWindow(phase)(counted, limit, WINDOW_MS),
    tokenBucket: tokenBucket(counted, limit, WINDOW_MS),
  }
}

const none = { slidingLog: 0, fixedWindow: 0, tokenBucket: 0 }
// Few, to save time: `pnpm fuzz` tries others.
const runs = { numRuns: 12 }

/**
 * The first request of a connection may be counted at any time; later ones within `jitterMs`, except while the server
 * is blocked.
 */
const coldThenWarm =
  (jitterMs: number, think: (scenario: Scene, random: () => number) => number): FateOf =>
  (scenario, random, n) => {
    const cold = n < scenario.limit
    return {
      connectMs: cold ? 1 + eighths(random() * scenario.coldMs) : 0,
      outMs: eighths(random() * (cold ? scenario.coldMs : jitterMs)),
      thinkMs: eighths(think(scenario, random)),
      backMs: eighths(random() * jitterMs),
      end: 'answered',
    }
  }

describe('the limit during standstills', () => {
  test('no request is refused if tokens return only after answers, for any standstills and request durations', () => {
    const anything: FateOf = ({ thinkMs, coldMs }, random) => ({
      connectMs: eighths(random() * coldMs),
      outMs: eighths(random() * coldMs),
      thinkMs: eighths(random() * thinkMs),
      backMs: eighths(random() * coldMs),
      end: 'answered',
    })
    fc.assert(
      fc.property(scene, (scenario) => void expect(refused(scenario, { jitterMs: 1e9, fate: anything })).toEqual(none)),
      runs,
    )
  })

  test('no request on a new connection is refused if answers come within the bound, despite standstills', () => {
    const fate = coldThenWarm(25, () => 0)
    fc.assert(
      fc.property(scene, (scenario) => void expect(refused(scenario, { fate })).toEqual(none)),
      runs,
    )
  })

  test('no request on a new connection is refused if a slow server shares the busy event loop', () => {
    const fate = coldThenWarm(50, ({ thinkMs }, random) => random() * thinkMs)
    fc.assert(
      fc.property(scene, (scenario) => void expect(refused(scenario, { inProcess: true, fate })).toEqual(none)),
      runs,
    )
  })
})

/** Requests that are written during the outage arrive when the network is back, long after their callers timed out. */
describe('a minute without network', () => {
  const limit = 40
  const blackHole = { from: 60_000, until: 120_000 }
  const arrivals = (thinkMs: number) => {
    const calls = Array.from({ length: 180 * limit }, (_, n) => (n * 1000) / limit)
    const fate = (n: number): Fate => ({
      connectMs: n < limit ? 1 : 0,
      outMs: 10,
      thinkMs,
      backMs: 10,
      end: 'answered',
      giveUpMs: 10_000,
    })
    return simulate(
      [{ limiter: createBucket({ limit, windowMs: WINDOW_MS }), calls, fate }],
      180_000,
      standstills([blackHole]),
    ).counted
  }

  test.each([
    // One probe in the first window, two in the next, then four in each.
    [20, 20],
    // Slow responses are missed late, so up to twice the limit may be sent until then.
    [1500, 80],
  ])('after a minute without network, answers of %i ms let at most %i requests be refused', (thinkMs, most) => {
    expect(slidingLog(arrivals(thinkMs), limit, WINDOW_MS)).toBeLessThanOrEqual(most)
  })

  test('the full rate is used again within ten seconds after a minute without network', () => {
    const later = arrivals(20).filter((at) => at >= 130_000 && at < 140_000)
    expect(later.length).toBeGreaterThan(0.9 * 10 * limit)
  })
})
