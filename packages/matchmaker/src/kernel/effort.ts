// pure: the effort a search may spend

/**
 * Counts the tries left for one search and the tries spent by all searches. One try is one candidate considered or one
 * arrangement of teams: one or two microseconds.
 */
export class Effort {
  #left = 0
  #spent = 0
  /** Whether the effort ran out since `begin`. */
  wasCut = false

  /** Tries spent since creation. */
  get spent(): number {
    return this.#spent
  }

  begin(tries: number): void {
    this.#left = tries
    this.wasCut = false
  }

  /** Adds tries for the current search. */
  grant(tries: number): void {
    this.#left += tries
  }

  get isSpent(): boolean {
    return this.#left <= 0
  }

  /** Takes one try; false if none is left. */
  take(): boolean {
    if (this.#left <= 0) {
      this.wasCut = true
      return false
    }
    this.#left -= 1
    this.#spent += 1
    return true
  }

  /** Charges tries that are made even if none are left; the rest may become negative. */
  charge(tries: number): void {
    this.#left -= tries
    this.#spent += tries
  }
}
