import { Forbidden, RouteMissing, Unauthorized } from '@muster/core'
import type { Random } from '@muster/core/clock'
import { backoffMs } from '@muster/core/internal'

/**
 * Why a source is asked for nothing now: `paused`, because it took nothing; or `unstoppable`, because it is not known
 * whether a server could be stopped again.
 */
export type GateHeld = 'paused' | 'unstoppable'

/**
 * Says how many servers a source may be asked for now. While it takes none there is a pause, in which one create at a
 * time finds out whether it is over; with the first answer, everything may be sent again.
 *
 * Until the source has answered a read, and while it refuses a stop, one of its servers may exist and no second: a
 * wrong address can serve creates alone, and each server would then run until its time limit.
 */
export type SourceGate = ReturnType<typeof createSourceGate>

/** One or two failures may be bad luck, and the others should not wait for it. */
const FAILURES_BEFORE_PAUSE = 3
/** Between two probes: the first answer after an outage is at most this late; an hour of it costs 1,500 creates. */
const PROBE_GAP = { baseMs: 500, capMs: 3000, jitter: 0.5 }
/** Failures of a stop that the next one will have too, until somebody changes the address, the token or the account. */
const stopRefusals = [RouteMissing, Unauthorized, Forbidden]

export function createSourceGate(random: Random) {
  /** Since the last answer, as far as they are counted. */
  let failures = 0
  /** Since the pause began. */
  let probes = 0
  let probeAt = 0
  /** The create that finds out whether the pause is over. */
  let probe: object | undefined
  let answeredAt = -Infinity
  let held: GateHeld | undefined
  /** Whether the source has answered a read or a stop, since a route was missing. */
  let canRead = false
  /** Servers whose stop is refused: as long as there is one, another might run for good as well. */
  const unstoppable = new Set<string>()

  const isPaused = () => failures >= FAILURES_BEFORE_PAUSE
  const pausedRoom = (now: number) => {
    if (!isPaused()) return Infinity
    return now < probeAt ? 0 : 1
  }
  /** One server may exist that cannot be stopped, and never two. */
  const stoppableRoom = (count: number) => (canRead && unstoppable.size === 0 ? Infinity : 1 - count)
  const putOff = (now: number) => {
    probes += 1
    probeAt = now + backoffMs(probes, random(), PROBE_GAP)
  }

  return {
    /** @param count its servers that exist or may exist */
    room: (count: number, now: number): number => {
      const rooms: readonly (readonly [GateHeld, number])[] = [
        ['unstoppable', stoppableRoom(count)],
        ['paused', pausedRoom(now)],
      ]
      held = rooms.find(([, room]) => room <= 0)?.[0]
      return Math.max(0, Math.min(...rooms.map(([, room]) => room)))
    },
    /** Notes that a create will be sent when its turn comes. */
    planned: (create: object, now: number) => {
      if (!isPaused()) return
      // It is the probe. If it gets no answer at all, the next one does not wait for it.
      probe = create
      putOff(now)
    },
    /**
     * Whether a planned create, whose turn has come, may be sent: the source may have failed since it was planned.
     * @param others servers of the source that exist or may exist, besides the one of this create
     */
    lets: (create: object, others: number): boolean => stoppableRoom(others) > 0 && (!isPaused() || create === probe),
    /** Notes that the source answered a create, even with a refusal. */
    answered: (now: number) => {
      failures = 0
      probes = 0
      probeAt = 0
      probe = undefined
      answeredAt = now
    },
    /** Notes that a create failed through no fault of its match. @param sentAt epoch milliseconds. */
    failed: (sentAt: number, now: number) => {
      // What was sent before the last answer, and fails after it, tells of an outage that is over.
      if (isPaused() || sentAt <= answeredAt) return
      failures += 1
      if (isPaused()) putOff(now)
    },
    /** Notes that the source answered a read: what it has created can be found again. */
    read: () => {
      canRead = true
    },
    /** Notes that a read failed. */
    unread: (error: unknown) => {
      if (error instanceof RouteMissing) canRead = false
    },
    /** Notes that the stop of a server was confirmed. */
    stopped: (handle: string) => void unstoppable.delete(handle),
    /** Notes that the stop of a server failed. */
    unstopped: (handle: string, error: unknown) => {
      if (stopRefusals.some((kind) => error instanceof kind)) unstoppable.add(handle)
    },
    /** Why `room` last returned 0; undefined if there was room. */
    held: (): GateHeld | undefined => held,
    /** Epoch milliseconds at which one create finds out whether the pause is over; in the past, or 0, without one. */
    pausedUntil: () => probeAt,
  }
}
