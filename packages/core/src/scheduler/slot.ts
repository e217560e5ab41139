import type { Clock } from '../clock.js'
import type { CountWatch } from './count-watch.js'
import type { Permit } from './limiter.js'

/** Passed to a job when it starts, to report the course of its request to the limiter. Reporting twice counts once. */
export interface Slot {
  /** Asked right before the request is written; if false, the job must not write it. Absent: it may. */
  readonly mayWrite?: (() => boolean) | undefined
  /**
   * The request's bytes have left on an open connection: not when it was put in line for one.
   * @param fresh the first on its connection.
   */
  written(fresh?: boolean): void
  /**
   * The first of the answer arrived. A job that fulfils says it by that; saying it before the body is read frees the
   * next start sooner.
   */
  answered(): void
}

/** The slot of calls that no limit holds back. */
export const unlimitedSlot: Slot = { written: () => {}, answered: () => {} }

/** The slot of a call that needs a permit. A class, because one is made for every request. */
export class LimitedSlot implements Slot {
  readonly mayWrite: Slot['mayWrite']
  readonly #permit: Permit
  readonly #clock: Clock
  readonly #watch: CountWatch

  constructor(permit: Permit, clock: Clock, watch: CountWatch) {
    this.#permit = permit
    this.#clock = clock
    this.#watch = watch
    this.mayWrite = permit.mayWrite === undefined ? undefined : () => permit.mayWrite?.() !== false
  }

  written(fresh?: boolean): void {
    const now = this.#clock.now()
    this.#permit.written(now, fresh)
    this.#watch.written(now)
  }

  answered(): void {
    this.#permit.answered(this.#clock.now())
  }
}
