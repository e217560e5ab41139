const DIGIT_BITS = 11
const DIGITS = 1 << DIGIT_BITS

/** Sorts tickets by whole numbers, digit by digit from the least. Its arrays are kept from one sort to the next. */
export class RadixSort {
  #tickets = new Uint32Array(0)
  #otherTickets = new Uint32Array(0)
  #keys = new Uint32Array(0)
  #otherKeys = new Uint32Array(0)
  readonly #ends = new Uint32Array(DIGITS)

  /** The keys of the last sort, ascending. */
  keys(): Uint32Array {
    return this.#keys
  }

  /**
   * @param keys of the tickets, of which the first `count` are sorted by so many of their lowest bits
   * @param tickets without them, the places of the keys
   * @returns the tickets by ascending key, valid until the next sort
   */
  sort(keys: Uint32Array, count: number, bits: number, tickets?: Uint32Array): Uint32Array {
    if (this.#tickets.length < count) {
      this.#tickets = new Uint32Array(count)
      this.#otherTickets = new Uint32Array(count)
      this.#keys = new Uint32Array(count)
      this.#otherKeys = new Uint32Array(count)
    }
    if (tickets === undefined) for (let at = 0; at < count; at++) this.#tickets[at] = at
    else this.#tickets.set(tickets.subarray(0, count))
    this.#keys.set(keys.subarray(0, count))
    for (let shift = 0; shift < bits; shift += DIGIT_BITS) this.#sortByDigit(count, shift)
    return this.#tickets.subarray(0, count)
  }

  #sortByDigit(count: number, shift: number): void {
    const ends = this.#ends
    const [tickets, keys, toTickets, toKeys] = [this.#tickets, this.#keys, this.#otherTickets, this.#otherKeys]
    ends.fill(0)
    for (let at = 0; at < count; at++) {
      const digit = ((keys[at] as number) >>> shift) & (DIGITS - 1)
      ends[digit] = (ends[digit] as number) + 1
    }
    let sum = 0
    for (let digit = 0; digit < DIGITS; digit++) {
      const many = ends[digit] as number
      ends[digit] = sum
      sum += many
    }
    for (let at = 0; at < count; at++) {
      const key = keys[at] as number
      const digit = (key >>> shift) & (DIGITS - 1)
      const to = ends[digit] as number
      ends[digit] = to + 1
      toTickets[to] = tickets[at] as number
      toKeys[to] = key
    }
    this.#tickets = toTickets
    this.#otherTickets = tickets
    this.#keys = toKeys
    this.#otherKeys = keys
  }
}
