// pure: how much a search may try

/**
 * What is left of the tries of one search, and what all searches have spent. One try is one candidate looked at, or one
 * way to make the teams: about a microsecond or two.
 */
export class Effort {
  #left = 0
  #spent = 0
  /** Whether a search was ended by its effort since `begin`. */
  wasCut = false

  /** All that was ever spent. */
  get spent(): number {
    return this.#spent
  }

  begin(tries: number): void {
    this.#left = tries
    this.wasCut = false
  }

  /** More tries for the same search. */
  grant(tries: number): void {
    this.#left += tries
  }

  get isSpent(): boolean {
    return this.#left <= 0
  }

  /** One try. False if there is none left. */
  take(): boolean {
    if (this.#left <= 0) {
      this.wasCut = true
      return false
    }
    this.#left -= 1
    this.#spent += 1
    return true
  }

  /** Tries that are made in any case: they are taken off what is left. */
  charge(tries: number): void {
    this.#left -= tries
    this.#spent += tries
  }
}
