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

/**
 * Work that one or more callers wait for, each with a deadline and a signal of its own. A waiter who leaves
 * does not disturb the others; when the last one leaves, the work is cancelled.
 */
export class Flight {
  readonly #options: FlightOptions
  #waiting: Waiting[] = []
  #departed = false
  #open = true

  constructor(options: FlightOptions) {
    this.#options = options
  }

  /** Settles with the work, or as soon as this waiter's signal is aborted or time is up, whichever comes first. */
  join(waiter: Waiter): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const waiting = new Waiting(waiter, resolve, reject, this)
      this.#waiting.push(waiting)
      this.#options.deadlines.add(waiting)
      waiter.signal?.addEventListener('abort', waiting, { once: true })
      if (!this.#departed) this.#depart()
    })
  }

  leave(waiting: Waiting, reason: unknown): void {
    this.#waiting = this.#waiting.filter((one) => one !== waiting)
    this.#release(waiting)
    waiting.reject(reason)
    if (this.#waiting.length > 0) return
    this.#close()
    cancel(this.#options.cancellation, reason)
  }

  #depart(): void {
    this.#departed = true
    this.#options.depart().then(
      (value) => {
        for (const waiting of this.#land()) waiting.resolve(value)
      },
      (error: unknown) => {
        for (const waiting of this.#land()) waiting.reject(error)
      },
    )
  }

  #land(): readonly Waiting[] {
    this.#close()
    this.#options.landed()
    const landed = this.#waiting
    this.#waiting = []
    for (const waiting of landed) this.#release(waiting)
    return landed
  }

  #release(waiting: Waiting): void {
    this.#options.deadlines.remove(waiting)
    waiting.waiter.signal?.removeEventListener('abort', waiting)
  }

  #close(): void {
    if (this.#open) this.#options.closed()
    this.#open = false
  }
}

/** A waiter on board, as its signal and its deadline call it. */
class Waiting implements Deadline {
  readonly waiter: Waiter
  readonly resolve: (value: unknown) => void
  readonly reject: (reason: unknown) => void
  readonly deadline: number
  place = -1
  readonly #flight: Flight

  constructor(waiter: Waiter, resolve: (value: unknown) => void, reject: (reason: unknown) => void, flight: Flight) {
    this.waiter = waiter
    this.resolve = resolve
    this.reject = reject
    this.deadline = waiter.deadline
    this.#flight = flight
  }

  expire(): void {
    this.#flight.leave(this, this.waiter.timedOut())
  }

  handleEvent(): void {
    this.#flight.leave(this, this.waiter.signal?.reason)
  }
}
