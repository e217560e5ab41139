import type { Permit } from '@muster/core'
import { createBucket, Scheduler } from '@muster/core/internal'
import { createManualClock, seededRandom, type Clock } from '@muster/core/clock'
import { createFallback } from './limits.js'
import { createModelTokens } from './model-tokens.fixture.js'
import { createSharedLimiter, type SharedLimiter } from './shared-limiter.js'
import { limitTimes, type LimitTimes, type TokenStore } from './token-store.js'

export interface SimulatedProcess {
  readonly startsAt: number
  /** Time at which the process ends, like by kill -9. Default: never. */
  readonly diesAt?: number | undefined
  /** Spans in which the process is frozen, like by SIGSTOP. */
  readonly pauses: readonly { readonly from: number; readonly ms: number }[]
  /** Milliseconds by which the process's clock is ahead of the others. */
  readonly offsetMs: number
  /** Number of calls that start at the same time, and milliseconds between two starts. */
  readonly work: { readonly calls: number; readonly everyMs: number }
}

export interface Scenario {
  readonly limit: number
  readonly windowMs: number
  readonly processes: readonly SimulatedProcess[]
  /** Times at which Redis loses everything. */
  readonly wipes: readonly number[]
  /** Spans in which Redis does not respond. */
  readonly outages: readonly { readonly from: number; readonly ms: number }[]
  /** Maximum delay of a request to the service, and of the response. */
  readonly wayMs: number
  /** Maximum delay to Redis, and back. */
  readonly redisMs: number
  readonly connectMs: number
  /** One request in this many is lost, and one response in this many. 0 for none. */
  readonly lossOneIn: number
  readonly seed: number
  /** True if each process uses an equal share of the limit while Redis is unavailable. Default: none. */
  readonly fallback?: boolean
}

/** Faults that would exceed the limit, to test that the check finds them. */
export interface Sabotage {
  /** The times that the processes assume. */
  readonly times?: Partial<LimitTimes>
  /** The times that the store assumes. */
  readonly storeTimes?: Partial<LimitTimes>
  readonly store?: Partial<TokenStore>
  readonly limiter?: ((limiter: SharedLimiter) => SharedLimiter) | undefined
}

/**
 * Runs processes with real schedulers, one store and one service, in virtual time. Returns the times at which the
 * service counted, in order.
 */
export async function simulate(scenario: Scenario, untilMs: number, sabotage: Sabotage = {}): Promise<number[]> {
  const { limit, windowMs, wipes, outages, seed } = scenario
  const world = createManualClock({ start: 0 })
  const random = seededRandom(seed)
  const upTo = (ms: number) => Math.round(random() * ms * 8) / 8
  const isLost = () => scenario.lossOneIn > 0 && random() * scenario.lossOneIn < 1
  const times = limitTimes(windowMs)
  const model = createModelTokens(limit, { ...times, ...sabotage.storeTimes }, world)
  const tokens = { ...model, ...sabotage.store }
  const counted: number[] = []
  for (const at of wipes) void world.sleep(at).then(tokens.wipe)

  const begin = async (process: SimulatedProcess, index: number) => {
    await world.sleep(process.startsAt)
    const { clock, awake } = clockOf(world, process)
    const store = remote(tokens, async (ask) => {
      await world.sleep(upTo(scenario.redisMs))
      const outage = outages.find(({ from, ms }) => from <= world.now() && world.now() < from + ms)
      if (outage !== undefined) {
        await clock.sleep(200)
        throw new Error('away')
      }
      const answer = await ask()
      await world.sleep(upTo(scenario.redisMs))
      await awake()
      return answer
    })
    let made = 0
    const id = () => `${index}.${(made += 1)}`
    const believed = { ...times, ...sabotage.times }
    const limiter = createSharedLimiter({ name: 'status', limit, windowMs }, store, id, clock, believed)
    const share = 1 / scenario.processes.length
    const inUse = scenario.fallback
      ? createFallback(limiter, createBucket({ limit, windowMs, share }), store, clock, times)
      : (sabotage.limiter?.(limiter) ?? limiter)
    const scheduler = new Scheduler({ clock, limiter: inUse })

    const request = async (slot: Pick<Permit, 'mayWrite'> & { written(): void }): Promise<void> => {
      await clock.sleep(upTo(scenario.connectMs))
      if (slot.mayWrite?.() === false) throw new Error('expired')
      slot.written()
      const wayOut = upTo(scenario.wayMs)
      if (!isLost()) void world.sleep(wayOut).then(() => counted.push(world.now()))
      await world.sleep(wayOut + upTo(scenario.wayMs))
      await awake()
      if (isLost()) throw new Error('lost')
    }
    for (;;) {
      for (let n = 0; n < process.work.calls; n++) scheduler.run((slot) => request(slot as never)).catch(() => {})
      await clock.sleep(process.work.everyMs)
    }
  }
  scenario.processes.forEach((process, index) => void begin(process, index))
  await world.advance(untilMs)
  return counted.toSorted((a, b) => a - b)
}

/** Returns the clock of a process: nothing happens in it while it is frozen, nor after its end. */
function clockOf(world: Clock, { offsetMs, pauses, diesAt = Infinity }: SimulatedProcess) {
  const awake = async () => {
    for (;;) {
      const now = world.now()
      if (now >= diesAt) return new Promise<never>(() => {})
      const pause = pauses.find(({ from, ms }) => from <= now && now < from + ms)
      if (pause === undefined) return
      await world.sleep(pause.from + pause.ms - now)
    }
  }
  const clock: Clock = {
    now: () => world.now() + offsetMs,
    sleep: async (ms, signal) => {
      await world.sleep(ms, signal)
      await awake()
    },
  }
  return { clock, awake }
}

const remote = (store: TokenStore, call: <T>(ask: () => Promise<T>) => Promise<T>): TokenStore => ({
  take: (id) => call(() => store.take(id)),
  counted: (ids) => call(() => store.counted(ids)),
  keep: (ids) => call(() => store.keep(ids)),
  settle: (ids) => call(() => store.settle(ids)),
  unused: (id, dueMs) => call(() => store.unused(id, dueMs)),
  refused: (pauseMs) => call(() => store.refused(pauseMs)),
  reset: () => call(() => store.reset()),
})

/** Returns the number of requests refused by a service that accepts at most `limit` in any window. */
export function overLimit(counted: readonly number[], limit: number, windowMs: number): number {
  const accepted: number[] = []
  for (const at of counted) {
    const oldest = accepted[accepted.length - limit]
    if (oldest === undefined || at - oldest >= windowMs - 1e-6) accepted.push(at)
  }
  return counted.length - accepted.length
}
