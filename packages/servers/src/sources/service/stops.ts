import { AlreadyTerminated, NotFound } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { backoffMs } from '@muster/core/internal'
import type { StopOrder } from '../source.js'
import type { DeploymentService } from './deployment-service.js'

/** Stops deployments, and repeats a stop until it is confirmed. */
export type Stops = ReturnType<typeof createStops>

export interface StopsOptions {
  readonly service: DeploymentService
  readonly clock: Clock
  readonly random: Random
  /** Milliseconds for which the service may not know yet what it has created. */
  readonly listLagMs: number
  readonly problem: (handle: string, error: unknown) => void
}

const RETRY = { baseMs: 500, capMs: 15_000, jitter: 0.5 }
/** Milliseconds for one request; then it is repeated. */
const TIMEOUT_MS = 20_000

/**
 * An answer of success (200 or 202, which the service keeps when the deployment is READY or ERROR), and the
 * news that it has ended or is unknown, confirm a stop. Of a deployment that is as new as `listLagMs`
 * 'unknown' is not believed: the service may not have written it down yet.
 */
export function createStops({ service, clock, random, listLagMs, problem }: StopsOptions) {
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

  const isConfirmedBy = (error: unknown, { knownAt }: Pick<StopOrder, 'knownAt'>) =>
    error instanceof AlreadyTerminated || (error instanceof NotFound && clock.now() - knownAt >= listLagMs)

  const send = async (stop: Pending): Promise<void> => {
    stop.nextAt = Infinity
    try {
      await service.stop({ request_id: stop.handle }, { timeoutMs: TIMEOUT_MS })
    } catch (error) {
      if (!isConfirmedBy(error, stop)) {
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
