import fc from 'fast-check'
import { seededRandom } from '../time.js'
import { createBucket } from './token-bucket.js'
import type { Limiter } from './limiter-types.js'
import { fixedWindow, slidingLog, tokenBucket } from './server-models.fixture.js'
import { type Fate, simulate } from './simulation.fixture.js'

/* All times are multiples of 1/8 ms. Sums of them are exact, so that rounding cannot decide whether a limit is kept. */
export const eighths = (ms: number) => Math.round(ms * 8) / 8
export const milliseconds = (min: number, max: number) =>
  fc.integer({ min: min * 8, max: max * 8 }).map((count) => count / 8)

/** The delay of the nth request on its way to the server, as a share of the jitter bound from 0 to 1. */
const weathers: Record<string, (n: number, tokens: number, random: () => number) => number> = {
  'anything between': (_n, _tokens, random) => random(),
  'at its best or at its worst': (_n, _tokens, random) => Math.round(random()),
  // The worst case: the first requests of a window are late, and those that reuse their tokens are on time.
  'late and on time by turns': (n, tokens) => (Math.floor(n / tokens) % 2 === 0 ? 1 : 0),
  'slowly changing': (n, tokens) => Math.abs(((n / (8 * tokens)) % 2) - 1),
}

export const endings: readonly Fate['end'][] = [
  'answered',
  'answered',
  'answered',
  'answer lost',
  'request lost',
  'never written',
]

const client = fc.record({
  weight: fc.integer({ min: 1, max: 5 }),
  wayOutMs: milliseconds(0, 200),
  wayBackMs: milliseconds(0, 200),
  weather: fc.constantFrom(...Object.keys(weathers)),
  /** Milliseconds from counting a request to its response; 0 if the server responds immediately. */
  thinkMs: fc.oneof(fc.constant(0), milliseconds(0, 3000)),
  connectMs: fc.oneof(fc.constant(0), milliseconds(0, 500)),
  losses: fc.boolean(),
  burst: fc.option(fc.integer({ min: 1, max: 10 }), { nil: undefined }),
  /** Gaps between bursts of calls as multiples of the window, and sizes of bursts as multiples of the limit. */
  bursts: fc.array(fc.tuple(fc.double({ min: 0, max: 3, noNaN: true }), fc.double({ min: 0, max: 2, noNaN: true })), {
    minLength: 1,
    maxLength: 6,
  }),
  seed: fc.integer(),
})

export const service = fc.record({
  limit: fc.integer({ min: 1, max: 40 }),
  windowMs: milliseconds(20, 2000),
  jitterMs: fc.oneof(fc.constant(50), milliseconds(0, 120)),
  clients: fc.array(client, { minLength: 1, maxLength: 4 }),
  phase: milliseconds(0, 2000),
})

/** Scenarios that are small enough for promises and a manual clock. */
export const smallService = service.map((scenario) => ({
  ...scenario,
  limit: 1 + (scenario.limit % 8),
  clients: scenario.clients.slice(0, 3),
}))

export type Service = typeof service extends fc.Arbitrary<infer T> ? T : never

export interface Process {
  readonly share: number
  readonly calls: readonly number[]
  readonly fate: (n: number) => Fate
  readonly burst: number | undefined
}

/**
 * Returns the processes of one account. A process whose share is less than one request cannot be created and is
 * omitted.
 */
export function processes({ limit, windowMs, jitterMs, clients }: Service): Process[] {
  const weights = clients.reduce((sum, { weight }) => sum + weight, 0)
  return clients.flatMap(
    ({ weight, wayOutMs, wayBackMs, weather, thinkMs, connectMs, losses, burst, bursts, seed }) => {
      const share = weight / weights
      const tokens = Math.floor(limit * share + 1e-9)
      if (tokens < 1) return []
      const random = seededRandom(seed)
      const late = weathers[weather] as (typeof weathers)[string]
      let at = 0
      const calls = bursts.flatMap(([gap, size]) => {
        at += eighths(gap * windowMs)
        return Array.from({ length: Math.ceil(size * limit) }, () => at)
      })
      const fate = (n: number): Fate => ({
        connectMs: eighths(random() * connectMs),
        outMs: wayOutMs + eighths(late(n, tokens, random) * jitterMs),
        thinkMs: eighths(random() * thinkMs),
        backMs: wayBackMs + eighths(random() * jitterMs),
        end: losses ? (endings[Math.floor(random() * endings.length)] as Fate['end']) : 'answered',
      })
      return [{ share, calls, fate, burst }]
    },
  )
}

export function refusals(counted: readonly number[], { limit, windowMs, phase }: Service) {
  return {
    slidingLog: slidingLog(counted, limit, windowMs),
    fixedWindow: fixedWindow(phase)(counted, limit, windowMs),
    tokenBucket: tokenBucket(counted, limit, windowMs),
  }
}

export const none = { slidingLog: 0, fixedWindow: 0, tokenBucket: 0 }

/** Returns the times at which the server counts requests of all processes, with limiters from `create`. */
export function countedWith(
  create: (scenario: Service, process: Process) => Limiter,
  scenario: Service,
): readonly number[] {
  const clients = processes(scenario).map((process) => ({
    limiter: create(scenario, process),
    calls: process.calls,
    fate: process.fate,
  }))
  return simulate(clients, Number.POSITIVE_INFINITY).counted
}

export const ours = ({ limit, windowMs, jitterMs }: Service, { share, burst }: Process) =>
  createBucket({ limit, windowMs, jitterMs, share, burst })
