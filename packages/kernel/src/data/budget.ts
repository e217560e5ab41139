// pure: the search budget: the number of tries of a search, and when it pauses

/** Work that may pause: yields the tries made since the last pause. The pool may change in between. */
export type Pausable<Result> = Generator<number, Result>

/** Number of tries after which a pause is due. They take a few milliseconds at most. */
const PAUSE = 500
/** Number of tries after which the clock is read again. It is also read after each check that may be slow. */
const UNTIMED = 16

/**
 * Counts the tries left for one search and the tries spent by all searches. One try is one candidate considered or one
 * arrangement of teams: one or two microseconds, unless a rule's own check takes longer.
 */
export class Budget {
  /** True if the budget ran out since `begin`. */
  wasCut = false
  /** Number of pauses since creation. */
  pauses = 0
  /** Number of tries since creation: `tries` without the charged time, `spent` with it. */
  tries = 0
  spent = 0
  #left = 0
  /** The number of tries spent when the last pause began, and the number at which the clock is read again. */
  #pausedAt = 0
  #untimedUntil = 0
  readonly #isTimeUp: () => boolean

  /** @param isTimeUp returns true if a pause is due, regardless of the tries made since the last one. */
  constructor(isTimeUp: () => boolean = () => false) {
    this.#isTimeUp = isTimeUp
  }

  begin(tries: number): void {
    this.#left = tries
    this.wasCut = false
  }

  /** Adds tries for the current search. */
  grant(tries: number): void {
    this.#left += tries
  }

  /** True if no try is left. Then `wasCut` becomes true. */
  isOut(): boolean {
    if (this.#left > 0) return false
    this.wasCut = true
    return true
  }

  /** Spends one try. Returns false if none is left. */
  spend(): boolean {
    if (this.isOut()) return false
    this.charge(1)
    return true
  }

  /** Charges tries even if none are left. The remaining number may become negative. */
  charge(tries: number): void {
    this.#left -= tries
    this.tries += tries
    this.spent += tries
  }

  /** Charges work to the time budget without using up the search's tries. */
  chargeTime(tries: number): void {
    this.spent += tries
  }

  /** Records that a custom check of the backend ran, which may take any time. */
  noteSlow(): void {
    this.#untimedUntil = 0
  }

  isPauseDue(): boolean {
    if (this.spent - this.#pausedAt >= PAUSE) return true
    if (this.spent < this.#untimedUntil) return false
    if (this.#isTimeUp()) return true
    this.#untimedUntil = this.spent + UNTIMED
    return false
  }

  /** Begins a pause. Returns the number of tries made since the last one. */
  pause(): number {
    const made = this.spent - this.#pausedAt
    this.#pausedAt = this.spent
    this.pauses += 1
    return made
  }
}
