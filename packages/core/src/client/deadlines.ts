import type { Clock } from '../time.js'
import { createAlarm } from '../runtime/index.js'

/** An operation that ends at an instant unless it has ended before. In at most one `Deadlines` at a time. */
export interface Deadline {
  /** Epoch milliseconds. */
  readonly deadline: number
  readonly expire: () => void
  /** Ends the operation before its time, because the client is closed. */
  readonly abandon: () => void
  /** Set by `Deadlines`: its index in the list, or -1. */
  place: number
}

/** Ends many calls at their deadlines. */
export interface Deadlines {
  add(deadline: Deadline): void
  remove(deadline: Deadline): void
  /** Abandons all pending deadlines. */
  abandonAll(): void
}

/**
 * Uses one sleep for all deadlines. Most deadlines are removed within milliseconds, and a timer for each would cost
 * more than the rest of the call. Without pending deadlines there is no sleep, so the process may end.
 *
 * The deadlines are kept in an array, where the last one takes the place of a removed one, and not in a Set: the old
 * tables that a Set leaves behind when it is rebuilt keep calls alive until the next full garbage collection, which
 * cost as much as the call itself.
 */
export function createDeadlines(clock: Clock): Deadlines {
  const pending: Deadline[] = []
  const alarm = createAlarm(clock, () => ring())
  let wakeAt = Number.POSITIVE_INFINITY

  const wake = (instant: number) => {
    wakeAt = instant
    if (instant === Number.POSITIVE_INFINITY) alarm.clear()
    else alarm.set(instant)
  }

  const take = (deadline: Deadline) => {
    const last = pending.pop()
    if (last !== undefined && last !== deadline) {
      pending[deadline.place] = last
      last.place = deadline.place
    }
    deadline.place = -1
  }

  const ring = () => {
    const now = clock.now()
    for (const due of pending.filter(({ deadline }) => deadline <= now)) {
      take(due)
      due.expire()
    }
    wake(pending.reduce((next, { deadline }) => Math.min(next, deadline), Number.POSITIVE_INFINITY))
  }

  return {
    add: (deadline) => {
      deadline.place = pending.length
      pending.push(deadline)
      if (deadline.deadline < wakeAt) wake(deadline.deadline)
    },
    remove: (deadline) => {
      if (deadline.place === -1) return
      take(deadline)
      if (pending.length === 0) wake(Number.POSITIVE_INFINITY)
    },
    abandonAll: () => {
      // A copy, because each abandoned deadline leaves the list, and another one may take its place.
      for (const deadline of pending.slice()) deadline.abandon()
    },
  }
}
