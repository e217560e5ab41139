import type { Clock } from '../clock.js'
import { createAlarm } from '../scheduler/alarm.js'

/** Something that ends at an instant, unless it has ended before. In one `Deadlines` at a time. */
export interface Deadline {
  /** Epoch milliseconds. */
  readonly deadline: number
  readonly expire: () => void
  /** Ends it before its time, because the client is closed. */
  readonly abandon: () => void
  /** Kept by `Deadlines`: where it stands there, or -1. */
  place: number
}

/** Tells many calls when their time is up. */
export interface Deadlines {
  add(deadline: Deadline): void
  remove(deadline: Deadline): void
  /** Ends all that are pending. */
  abandonAll(): void
}

/**
 * One sleep for all deadlines, because most are removed within milliseconds and a timer for each would
 * cost more than the rest of the call. With no deadline pending nothing sleeps, so the process may end.
 *
 * An array whose holes the last one fills, not a Set: what a Set sheds when it is rebuilt keeps a call's
 * objects alive until the next full garbage collection, which cost as much as the call itself.
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
      // Each leaves the list, and others may come to stand in its place.
      for (const deadline of pending.slice()) deadline.abandon()
    },
  }
}
