import { Forbidden, RouteMissing, Unauthorized } from '@muster/core'
import type { Random } from '@muster/core/clock'
import { backoffMs } from '@muster/core/internal'
import type { SourceListener } from './source.js'

/**
 * Why a source may not be called now: `paused`, because it accepted nothing; or `unstoppable`, because it is unknown
 * whether a server could be stopped again.
 */
export type SourceBlock = 'paused' | 'unstoppable'

/**
 * Computes how many servers may be requested from a source now. While the source accepts no creates, there is a pause,
 * in which one create at a time tests whether it works again. With the first response, everything may be sent again.
 *
 * Until the source has answered a read, and while it rejects a stop, at most one of its servers may exist. A wrong
 * address may accept creates only, and each server would then run until its time limit.
 */
export type SourceCircuitBreaker = ReturnType<typeof createSourceCircuitBreaker>

/** Number of failures after which a pause begins. One or two may be chance, and should not delay other creates. */
const FAILURES_BEFORE_PAUSE = 3
/**
 * Milliseconds between two probes, which are creates that test whether the source works again. The first response after
 * an outage is at most this late. An hour of outage costs 1,500 creates.
 */
const PROBE_GAP = { baseMs: 500, capMs: 3000, jitter: 0.5 }
/** Errors of a stop that will recur until somebody changes the address, the token or the account. */
const stopRefusals = [RouteMissing, Unauthorized, Forbidden]

export function createSourceCircuitBreaker(random: Random) {
  /** Number of failures since the last response, as far as they are counted. */
  let failures = 0
  /** Number of probes since the pause began. */
  let probes = 0
  let probeAt = 0
  /** The create that tests whether the pause is over. */
  let probe: object | undefined
  let answeredAt = -Infinity
  let blockedBy: SourceBlock | undefined
  /** True if the source has answered a read or a stop since a route was last missing. */
  let canRead = false
  /** Servers whose stop is rejected. While there is one, another server might run forever as well. */
  const unstoppable = new Set<string>()

  const isPaused = () => failures >= FAILURES_BEFORE_PAUSE
  const pausedRoom = (now: number) => {
    if (!isPaused()) return Infinity
    return now < probeAt ? 0 : 1
  }
  /** One server that cannot be stopped may exist, but never two. */
  const stoppableRoom = (count: number) => (canRead && unstoppable.size === 0 ? Infinity : 1 - count)
  const putOff = (now: number) => {
    probes += 1
    probeAt = now + backoffMs(probes, random(), PROBE_GAP)
  }

  return {
    /** @param count number of the source's servers that exist or may exist */
    room: (count: number, now: number): number => {
      const rooms: readonly (readonly [SourceBlock, number])[] = [
        ['unstoppable', stoppableRoom(count)],
        ['paused', pausedRoom(now)],
      ]
      blockedBy = rooms.find(([, room]) => room <= 0)?.[0]
      return Math.max(0, Math.min(...rooms.map(([, room]) => room)))
    },
    /** Records that a create will be sent when its turn comes. */
    planned: (create: object, now: number) => {
      if (!isPaused()) return
      // While the source is paused, the planned create is the probe. Without any response, the next create is another.
      probe = create
      putOff(now)
    },
    /**
     * True if a planned create whose turn has come may be sent. The source may have failed since it was planned.
     * @param others number of servers of the source that exist or may exist, without that of this create
     */
    maySend: (create: object, others: number): boolean =>
      stoppableRoom(others) > 0 && (!isPaused() || create === probe),
    /** Records that the source answered a create, even with a rejection. */
    answered: (now: number) => {
      failures = 0
      probes = 0
      probeAt = 0
      probe = undefined
      answeredAt = now
    },
    /** Records that a create failed through no fault of its match. @param sentAt epoch milliseconds. */
    failed: (sentAt: number, now: number) => {
      // A create that was sent before the last response and fails after it is evidence of an outage that is over.
      if (isPaused() || sentAt <= answeredAt) return
      failures += 1
      if (isPaused()) putOff(now)
    },
    /** The listener for the source's reports. */
    listener: {
      answered: () => {
        canRead = true
      },
      unanswered: (error: unknown) => {
        if (error instanceof RouteMissing) canRead = false
      },
      stopped: (handle: string) => void unstoppable.delete(handle),
      unstopped: (handle: string, error: unknown) => {
        if (stopRefusals.some((kind) => error instanceof kind)) unstoppable.add(handle)
      },
    } satisfies Partial<SourceListener>,
    /** Returns why no server could be requested when `room` was last called. Undefined if one could. */
    blockedBy: (): SourceBlock | undefined => blockedBy,
    /** Returns the epoch milliseconds of the next probe of the pause. In the past, or 0, without a pause. */
    pausedUntil: () => probeAt,
  }
}
