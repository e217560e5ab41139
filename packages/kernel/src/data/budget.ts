// pure: the search budget: how many tries a search has, and when it pauses

/** Work that may pause: yields the tries made since the last pause. The pool may change in between. */
export type Pausable<Result> = Generator<number, Result>

/** Tries after which a pause is due: some milliseconds at most. */
const PAUSE = 500
/** Tries after which the clock is read again; it is also read after each check that may be slow. */
const UNTIMED = 16

/**
 * Counts the tries left for one search and the tries spent by all searches. One try is one candidate considered or one
 * arrangement of teams: one or two microseconds, unless a rule's own check takes longer.
 */
export class Budget {
  /** Whether the budget ran out since `begin`. */
  wasCut = false
  /** Pauses since creation. */
  pauses = 0
  /** Tries taken or charged since creation; and with the time charged. */
  tries = 0
  spent = 0
  #left = 0
  /** The tries that were spent when the last pause began, and from which on the clock is read again. */
  #pausedAt = 0
  #untimedUntil = 0
  readonly #isTimeUp: () => boolean

  /** @param isTimeUp whether a pause is due, however few tries were made since the last one. */
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

  /** Whether no try is left although one was wanted. */
  isOut(): boolean {
    if (this.#left > 0) return false
    this.wasCut = true
    return true
  }

  /** Takes one try; false if none is left. */
  take(): boolean {
    if (this.isOut()) return false
    this.charge(1)
    return true
  }

  /** Charges tries that are made even if none are left; the rest may become negative. */
  charge(tries: number): void {
    this.#left -= tries
    this.tries += tries
    this.spent += tries
  }

  /** Charges work to the time budget without using up the search's tries. */
  chargeTime(tries: number): void {
    this.spent += tries
  }

  /** Notes that a check of the backend's own was made, which takes as long as it likes. */
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

  /** Begins a pause; returns the tries made since the last one. */
  pause(): number {
    const made = this.spent - this.#pausedAt
    this.#pausedAt = this.spent
    this.pauses += 1
    return made
  }
}
