import { cancel, type Cancellation } from './cancellation.js'
import type { Deadline, Deadlines } from './deadlines.js'

/** One who waits for a flight. */
export interface Waiter {
  readonly signal: AbortSignal | undefined
  /** Epoch milliseconds. */
  readonly deadline: number
  /** Makes the error for a waiter whose time is up. */
  readonly timedOut: () => unknown
}

/** Work that one or more callers wait for, each with a deadline and a signal of its own. */
export interface Flight {
  /** Settles with the work, or as soon as this waiter's signal is aborted or time is up, whichever comes first. */
  join(waiter: Waiter): Promise<unknown>
}

export interface FlightOptions {
  /** Begins the work; called when the first waiter has joined. */
  readonly depart: () => Promise<unknown>
  /** Cancelled when the last waiter leaves, with that waiter's reason. */
  readonly cancellation: Cancellation
  readonly deadlines: Deadlines
  /** Called once, when nobody may join any more: the work has ended or was abandoned. */
  readonly closed: () => void
  /** Called when the work has ended. */
  readonly landed: () => void
}

interface Waiting extends Deadline {
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
  readonly signal: AbortSignal | undefined
  readonly abort: (() => void) | undefined
}

/** A waiter who leaves does not disturb the others; when the last one leaves, the work is cancelled. */
export function createFlight({ depart, cancellation, deadlines, closed, landed }: FlightOptions): Flight {
  const waiters: Waiting[] = []
  let departed = false
  let open = true

  const close = () => {
    if (open) closed()
    open = false
  }

  const release = (waiting: Waiting) => {
    deadlines.remove(waiting)
    if (waiting.abort !== undefined) waiting.signal?.removeEventListener('abort', waiting.abort)
  }

  const leave = (waiting: Waiting, reason: unknown) => {
    waiters.splice(waiters.indexOf(waiting), 1)
    release(waiting)
    waiting.reject(reason)
    if (waiters.length > 0) return
    close()
    cancel(cancellation, reason)
  }

  const land = (settle: (waiting: Waiting) => void) => {
    close()
    landed()
    for (const waiting of waiters) {
      release(waiting)
      settle(waiting)
    }
  }

  return {
    join: ({ signal, deadline, timedOut }) =>
      new Promise((resolve, reject) => {
        const abort = signal === undefined ? undefined : () => leave(waiting, signal.reason)
        const waiting: Waiting = { resolve, reject, signal, abort, deadline, expire: () => leave(waiting, timedOut()), place: -1 }
        waiters.push(waiting)
        deadlines.add(waiting)
        if (abort !== undefined) signal?.addEventListener('abort', abort, { once: true })
        if (departed) return
        departed = true
        depart().then(
          (value) => land((one) => one.resolve(value)),
          (error: unknown) => land((one) => one.reject(error)),
        )
      }),
  }
}
