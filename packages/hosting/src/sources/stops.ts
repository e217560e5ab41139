import type { Clock, Random } from '@muster/core/clock'
import { backoffMs } from '@muster/core/internal'
import type { SourceListener, StopOrder } from './source.js'

/** Stops servers, and repeats each stop until it is confirmed. */
export type Stops = ReturnType<typeof createStops>

export interface StopsOptions {
  /** Requests a stop. Resolves if it is confirmed. Must settle within a limited time. */
  readonly request: (handle: string) => Promise<unknown>
  /** Returns true if an error proves that the server has ended. Default: no error does. */
  readonly isConfirmedBy?: ((error: unknown, stop: FailedStop) => boolean) | undefined
  readonly clock: Clock
  readonly random: Random
  readonly on: Pick<SourceListener, 'stopped' | 'unstopped' | 'problem'>
}

/** What is known about a server whose stop has failed. */
export interface FailedStop {
  /** Milliseconds for which the server was known to exist when the request began. */
  readonly ageMs: number
  /** Epoch milliseconds at which the stop was ordered. */
  readonly orderedAt: number
  /** Epoch milliseconds at which the source last listed the server since then. -Infinity if it has not. */
  readonly listedAt: number
}

const RETRY = { baseMs: 500, capMs: 15_000, jitter: 0.5 }

type PendingStop = ReturnType<typeof newStop>

const newStop = ({ handle, knownAt, by, confirmed }: StopOrder, orderedAt: number) => ({
  handle,
  knownAt,
  orderedAt,
  confirmed: new Map([[by, confirmed]]),
  listedAt: -Infinity,
  failures: 0,
  /** Epoch milliseconds of the next request. Infinity while one is in flight. */
  nextAt: Infinity,
})

export function createStops({ request, isConfirmedBy, clock, random, on }: StopsOptions) {
  const pending = new Map<string, PendingStop>()

  const send = async (stop: PendingStop): Promise<void> => {
    stop.nextAt = Infinity
    const ageMs = clock.now() - stop.knownAt
    try {
      await request(stop.handle)
    } catch (error) {
      if (isConfirmedBy?.(error, { ...stop, ageMs }) !== true) {
        stop.failures += 1
        stop.nextAt = clock.now() + backoffMs(stop.failures, random(), RETRY)
        on.unstopped(stop.handle, error)
        return on.problem('stop', error, { handle: stop.handle })
      }
    }
    on.stopped(stop.handle)
    pending.delete(stop.handle)
    for (const confirmed of stop.confirmed.values()) confirmed()
  }

  return {
    /** Requests a stop, after `first` if given. If the stop was ordered before, the new owner is notified too. */
    order: ({ handle, knownAt, by, first, confirmed }: StopOrder) => {
      const before = pending.get(handle)
      if (before !== undefined) {
        if (!before.confirmed.has(by)) before.confirmed.set(by, confirmed)
        return
      }
      const stop = newStop({ handle, knownAt, by, confirmed }, clock.now())
      pending.set(handle, stop)
      if (first === undefined) void send(stop)
      else void first().finally(() => send(stop))
    },
    /** Records that the source lists the server. */
    listed: (handle: string) => {
      const stop = pending.get(handle)
      if (stop !== undefined) stop.listedAt = clock.now()
    },
    advance: (now: number) => {
      for (const stop of pending.values()) if (stop.nextAt <= now) void send(stop)
    },
    pending: () => pending.size,
    /** Returns the age of the oldest unconfirmed stop in milliseconds. 0 if there is none. */
    oldestMs: (): number => {
      const [oldest] = pending.values()
      return oldest === undefined ? 0 : clock.now() - oldest.orderedAt
    },
  }
}
