import { Forbidden, RouteMissing, Unauthorized } from '@muster/core'
import type { Random } from '@muster/core/clock'
import { backoffMs } from '@muster/core/internal'
import type { SourceListener } from './source.js'

/** Why a source may get no create. `paused`: it accepts none. `unstoppable`: its servers can perhaps not be stopped. */
export type SourceBlock = 'paused' | 'unstoppable'

/**
 * Computes how many servers may be created now at a source. After several failed creates the source is paused, and
 * single creates probe whether it works again. The first answer to a create ends the pause.
 *
 * Until the source has answered a read, and while it rejects a stop, at most one of its servers may exist. With a
 * wrong address, creates might work while stops do not, and each server would run until its time limit.
 */
export type SourceCircuitBreaker = ReturnType<typeof createSourceCircuitBreaker>

/** Number of failed creates that begin a pause. One or two may be chance. */
const FAILURES_BEFORE_PAUSE = 3
/**
 * Milliseconds between two probes: creates that test whether the source works. An hour of outage costs 1,500 creates.
 */
const PROBE_GAP = { baseMs: 500, capMs: 3000, jitter: 0.5 }
/** Errors of a stop that recur until somebody corrects the address, the token or the account. */
const stopRefusals = [RouteMissing, Unauthorized, Forbidden]

export function createSourceCircuitBreaker(random: Random) {
  /** Number of failed creates since the last answer. */
  let failures = 0
  let probes = 0
  let probeAt = 0
  /** The create that may be sent during the pause. */
  let probe: object | undefined
  let answeredAt = -Infinity
  let blockedBy: SourceBlock | undefined
  /** True if the source has answered a read. False again when a read fails with `RouteMissing`. */
  let canRead = false
  /** Handles of servers whose stop was rejected. Meanwhile, further servers might be unstoppable too. */
  const unstoppable = new Set<string>()

  const isPaused = () => failures >= FAILURES_BEFORE_PAUSE
  const pausedRoom = (now: number) => {
    if (!isPaused()) return Infinity
    return now < probeAt ? 0 : 1
  }
  /** At most one server may exist that perhaps cannot be stopped. */
  const stoppableRoom = (count: number) => (canRead && unstoppable.size === 0 ? Infinity : 1 - count)
  const putOff = (now: number) => {
    probes += 1
    probeAt = now + backoffMs(probes, random(), PROBE_GAP)
  }

  return {
    /** Returns how many servers may be created. @param count number of the source's servers that exist or may exist */
    room: (count: number, now: number): number => {
      const rooms: readonly (readonly [SourceBlock, number])[] = [
        ['unstoppable', stoppableRoom(count)],
        ['paused', pausedRoom(now)],
      ]
      blockedBy = rooms.find(([, room]) => room <= 0)?.[0]
      return Math.max(0, Math.min(...rooms.map(([, room]) => room)))
    },
    planned: (create: object, now: number) => {
      if (!isPaused()) return
      // During a pause, the planned create becomes the probe. If it gets no answer, the next planned create does.
      probe = create
      putOff(now)
    },
    /**
     * True if a planned create may be sent now. The source may have failed since it was planned.
     * @param others number of the source's other servers that exist or may exist
     */
    maySend: (create: object, others: number): boolean =>
      stoppableRoom(others) > 0 && (!isPaused() || create === probe),
    /** Records that the source has answered a create, even with a rejection. */
    answered: (now: number) => {
      failures = 0
      probes = 0
      probeAt = 0
      probe = undefined
      answeredAt = now
    },
    /** Records that the source has failed a create. @param sentAt when the create was sent, in epoch milliseconds */
    failed: (sentAt: number, now: number) => {
      // The create was sent before the last answer, so its failure says nothing about the time since.
      if (isPaused() || sentAt <= answeredAt) return
      failures += 1
      if (isPaused()) putOff(now)
    },
    /** The parts of the source's listener that this circuit breaker needs. */
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
    /** Returns why `room` has last allowed no server. Undefined if it has allowed one. */
    blockedBy: (): SourceBlock | undefined => blockedBy,
    /** Returns the epoch milliseconds of the next probe. In the past, or 0, if there is no pause. */
    pausedUntil: () => probeAt,
  }
}
