import type { Clock, Random } from '@muster/core/clock'
import { backoffMs } from '@muster/core/internal'
import type { StopOrder } from './source.js'

/** Stops servers, and repeats a stop until it is confirmed. */
export type Stops = ReturnType<typeof createStops>

export interface StopsOptions {
  /** Requests a stop. Resolves once that is confirmed, within a bounded time. */
  readonly request: (handle: string) => Promise<unknown>
  /** Whether an error says that the server is stopped. Default: none does. */
  readonly isConfirmedBy?: ((error: unknown, knownAt: number) => boolean) | undefined
  readonly clock: Clock
  readonly random: Random
  readonly problem: (handle: string, error: unknown) => void
}

const RETRY = { baseMs: 500, capMs: 15_000, jitter: 0.5 }

export function createStops({ request, isConfirmedBy, clock, random, problem }: StopsOptions) {
  interface Pending extends Omit<StopOrder, 'confirmed' | 'by' | 'first'> {
    /** By who has ordered it. */
    readonly confirmed: Map<unknown, () => void>
    failures: number
    /** Epoch milliseconds. */
    readonly orderedAt: number
    /** Epoch milliseconds of the next request; Infinity while one is under way. */
    nextAt: number
  }
  const pending = new Map<string, Pending>()

  const send = async (stop: Pending): Promise<void> => {
    stop.nextAt = Infinity
    try {
      await request(stop.handle)
    } catch (error) {
      if (isConfirmedBy?.(error, stop.knownAt) !== true) {
        stop.failures += 1
        stop.nextAt = clock.now() + backoffMs(stop.failures, random(), RETRY)
        problem(stop.handle, error)
        return
      }
    }
    pending.delete(stop.handle)
    for (const confirmed of stop.confirmed.values()) confirmed()
  }

  return {
    /** Requests the stop at once, or after `first`. If it was ordered already, all who ordered it are told. */
    order: ({ handle, knownAt, by, first, confirmed }: StopOrder) => {
      const before = pending.get(handle)
      if (before !== undefined) {
        if (!before.confirmed.has(by)) before.confirmed.set(by, confirmed)
        return
      }
      const stop: Pending = {
        handle,
        knownAt,
        confirmed: new Map([[by, confirmed]]),
        failures: 0,
        nextAt: Infinity,
        orderedAt: clock.now(),
      }
      pending.set(handle, stop)
      if (first === undefined) void send(stop)
      else void first().finally(() => send(stop))
    },
    /** Repeats the requests that are due. */
    advance: (now: number) => {
      for (const stop of pending.values()) if (stop.nextAt <= now) void send(stop)
    },
    /** Number of stops that are not confirmed. */
    pending: () => pending.size,
    /** Milliseconds since the oldest of these was ordered; 0 if there is none. */
    oldestMs: (): number => {
      const [oldest] = pending.values()
      return oldest === undefined ? 0 : clock.now() - oldest.orderedAt
    },
  }
}
