/** Counts what happened within the last minute, second by second. */
export class MinuteCount {
  readonly #seconds = new Uint32Array(60)
  /** The second that was counted last. */
  #latest = Number.NEGATIVE_INFINITY
  #sum = 0

  add(now: number, count = 1): void {
    this.#pass(now)
    const index = this.#latest % 60
    this.#seconds[index] = (this.#seconds[index] as number) + count
    this.#sum += count
  }

  within(now: number): number {
    this.#pass(now)
    return this.#sum
  }

  /** Forgets the seconds that are over. */
  #pass(now: number): void {
    const second = Math.floor(now / 1000)
    if (second <= this.#latest) return
    for (let passed = Math.max(this.#latest + 1, second - 59); passed <= second; passed += 1) {
      this.#sum -= this.#seconds[passed % 60] as number
      this.#seconds[passed % 60] = 0
    }
    this.#latest = second
  }
}
