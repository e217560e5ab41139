// pure: many short lists of numbers; each number is in one list at most
import { grown } from './growing.js'

/** Marks the end of a list. */
export const END = -1

/**
 * Doubly linked lists in columns. A list is named by a code, any 32-bit number. Codes that agree in the lower bits
 * share one list, so a list may hold members of other codes too: `codeOf` tells them apart. The columns are replaced
 * when they grow.
 *
 * With the members grows the number of lists, one at a time (linear hashing): its new neighbour takes over a part of a
 * list. So no append takes long, however many members there are.
 */
export interface Lists {
  append(member: number, list: number): void
  remove(member: number): void
  /** Makes room for members below this number. */
  reserve(capacity: number): void
  /** The position of a list in `heads`. */
  at(list: number): number
  /** Two numbers per list: its first member, and its length. The first member of an empty list is any number. */
  readonly heads: Int32Array
  /** For each member the member appended after it; `END` for the last. */
  readonly next: Int32Array
  /** For each member the code of the list it was appended to. */
  readonly codeOf: Int32Array
  readonly bytes: number
}

/** The number of lists at first, a power of two. */
const FIRST = 64

/** @param spare lists per possible member; a power of two. */
export function createLists(spare: number): Lists {
  return new LinkedLists(spare)
}

class LinkedLists implements Lists {
  heads = new Int32Array(2 * FIRST)
  next = new Int32Array(0)
  codeOf = new Int32Array(0)
  readonly #spare: number
  /** For each member the one before it; for the first member of a list, the last one. */
  #before = new Int32Array(0)
  #members = 0
  /** The number of lists, from `#half` to twice as many. Those before `#count − #half` have been divided. */
  #count = FIRST
  #half = FIRST

  constructor(spare: number) {
    this.#spare = spare
  }

  get bytes(): number {
    return 4 * (this.heads.length + 3 * this.next.length)
  }

  reserve(capacity: number): void {
    if (capacity <= this.next.length) return
    this.next = grown(this.next, capacity)
    this.codeOf = grown(this.codeOf, capacity)
    this.#before = grown(this.#before, capacity)
    this.heads = grown(this.heads, Math.max(this.heads.length, 2 * this.#spare * capacity))
    // There is nothing to divide yet.
    if (this.#members === 0) this.#count = this.#half = this.heads.length >> 1
  }

  at(list: number): number {
    const at = list & (2 * this.#half - 1)
    return 2 * (at < this.#count ? at : at - this.#half)
  }

  append(member: number, list: number): void {
    this.#members += 1
    for (let most = this.#spare; most > 0 && this.#count < this.#spare * this.#members; most--) this.#divide()
    this.codeOf[member] = list
    this.#append(member, this.at(list))
  }

  remove(member: number): void {
    this.#members -= 1
    this.#remove(member, this.at(this.codeOf[member] as number))
  }

  /** Moves the members of the next list to be divided whose codes belong to a new one, in their order. */
  #divide(): void {
    const from = 2 * (this.#count - this.#half)
    const to = 2 * this.#count
    this.#count += 1
    let member = this.heads[from] as number
    for (let left = this.heads[from + 1] as number; left > 0; left--) {
      const after = this.next[member] as number
      if (((this.codeOf[member] as number) & this.#half) !== 0) {
        this.#remove(member, from)
        this.#append(member, to)
      }
      member = after
    }
    if (this.#count === 2 * this.#half) this.#half = this.#count
  }

  #append(member: number, to: number): void {
    const { heads, next } = this
    const before = this.#before
    const length = heads[to + 1] as number
    if (length === 0) {
      heads[to] = member
      before[member] = member
    } else {
      const head = heads[to] as number
      const last = before[head] as number
      next[last] = member
      before[member] = last
      before[head] = member
    }
    next[member] = END
    heads[to + 1] = length + 1
  }

  #remove(member: number, from: number): void {
    const { heads, next } = this
    const before = this.#before
    const head = heads[from] as number
    const left = before[member] as number
    const right = next[member] as number
    if (member === head) heads[from] = right
    else next[left] = right
    if (right !== END) before[right] = left
    else if (member !== head) before[head] = left
    heads[from + 1] = (heads[from + 1] as number) - 1
  }
}
