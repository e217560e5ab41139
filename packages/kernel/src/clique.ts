// pure: finds candidates that may all be together
import type { Packed, Packing } from './packing.js'

/** Bits of a word of a set. */
const WORD = 32

/** Candidates by position, those that fit best first. */
export interface CliqueInput {
  readonly count: number
  /** The players of each candidate. */
  readonly sizes: ArrayLike<number>
  /**
   * Writes to `fitting` those of the candidates `wanted` that may be together with the one at `at`. Gives up, and
   * returns false, once those that may not have more than `spare` players together.
   */
  compare(at: number, wanted: Int32Array, fitting: Int32Array, spare: number): boolean
}

/**
 * Fills the teams with candidates, those that fit best first. Sets of candidates are bits: after each choice those are
 * left that may still join, so a choice that leaves too few players is given up at once. Two candidates are compared
 * when it first matters.
 */
export class Clique {
  /** The first `chosen` are the positions of the candidates found. */
  readonly members: Int32Array
  chosen = 0
  /** Whether the last search was given up because its tries were spent, or too many choices undone. */
  wasCut = false
  /** Tries of the last search. */
  tries = 0
  readonly #packing: Packing
  /** Words of a set. */
  #words = 0
  /** For each candidate those it has been compared with, and those of them that may be together with it. */
  #compared = new Int32Array(0)
  #fitting = new Int32Array(0)
  /** A set to be compared with a candidate, and what comes of it. */
  #wanted = new Int32Array(0)
  #result = new Int32Array(0)
  /** For each number of members, the candidates that may still join. */
  #open = new Int32Array(0)
  /** For each size, the candidates of this size. */
  #ofSize = new Int32Array(0)
  /** The sizes of the candidates. */
  #sizes: number[] = []
  readonly #packedAt: Packed[] = []

  constructor(packing: Packing) {
    this.#packing = packing
    this.members = new Int32Array(packing.players)
  }

  /**
   * False if there is no way to fill the teams, or the tries are spent.
   * @param most tries at most. @param mostUndone choices that may be undone at most.
   */
  find(packed: Packed, most: number, mostUndone: number, input: CliqueInput): boolean {
    const packing = this.#packing
    let undone = 0
    this.#begin(input)
    this.#packedAt[0] = packed
    for (let depth = 0; depth >= 0;) {
      const before = this.#packedAt[depth] as Packed
      const at = this.#nextAt(depth, packing.players - packing.count(before))
      if (at === -1) {
        depth -= 1
        undone += 1
        continue
      }
      const next = packing.add(before, input.sizes[at] as number)
      if (next === -1) continue
      if (this.tries >= most || undone > mostUndone) {
        this.wasCut = true
        return false
      }
      this.tries += 1
      this.members[depth++] = at
      this.chosen = depth
      if (packing.count(next) === packing.players) return true
      this.#packedAt[depth] = next
      if (!this.#keep(depth, at, packing.players - packing.count(next), input)) {
        depth -= 1
        undone += 1
      }
    }
    return false
  }

  #begin({ count, sizes }: CliqueInput): void {
    const words = Math.ceil(count / WORD)
    const { players } = this.#packing
    this.#words = words
    this.tries = 0
    this.wasCut = false
    this.chosen = 0
    if (this.#compared.length < count * words) {
      this.#compared = new Int32Array(count * words)
      this.#fitting = new Int32Array(count * words)
      this.#open = new Int32Array((players + 1) * words)
      this.#ofSize = new Int32Array((players + 1) * words)
    } else {
      this.#compared.fill(0, 0, count * words)
      this.#fitting.fill(0, 0, count * words)
    }
    if (this.#wanted.length !== words) {
      this.#wanted = new Int32Array(words)
      this.#result = new Int32Array(words)
    }
    for (let word = 0; word < words; word++) this.#open[word] = -1
    if (count % WORD !== 0) this.#open[words - 1] = (1 << (count % WORD)) - 1
    this.#sizes.length = 0
    for (let at = 0; at < count; at++) if (!this.#sizes.includes(sizes[at] as number)) this.#addSize(at, count, sizes)
  }

  /** Makes the set of the candidates that are as large as the one at `first`, which is the first of them. */
  #addSize(first: number, count: number, sizes: ArrayLike<number>): void {
    const size = sizes[first] as number
    const words = this.#words
    this.#sizes.push(size)
    this.#ofSize.fill(0, size * words, (size + 1) * words)
    for (let at = first; at < count; at++) if (sizes[at] === size) set(this.#ofSize, size * words, at)
  }

  /** Takes the first candidate that may still join; −1 if those that may have too few players together. */
  #nextAt(depth: number, missing: number): number {
    const open = this.#open
    const from = depth * this.#words
    if (this.#playersOf(from, missing) < missing) return -1
    for (let word = from; ; word++) {
      const bits = open[word] as number
      if (bits === 0) continue
      open[word] = bits & (bits - 1)
      return WORD * (word - from) + 31 - Math.clz32(bits & -bits)
    }
  }

  /** The players of a set of `#open` together; any number from `enough` on, if there are as many. */
  #playersOf(from: number, enough: number): number {
    const words = this.#words
    let players = 0
    for (const size of this.#sizes)
      for (let word = 0; word < words && players < enough; word++)
        players += size * bitsOf((this.#open[from + word] as number) & (this.#ofSize[size * words + word] as number))
    return players
  }

  /** Keeps the candidates that may join after a choice; false if they have too few players together. */
  #keep(depth: number, at: number, missing: number, input: CliqueInput): boolean {
    const words = this.#words
    const open = this.#open
    const to = depth * words
    const row = at * words
    let isWanted = 0
    for (let word = 0; word < words; word++) {
      const before = open[to - words + word] as number
      const wanted = before & ~(this.#compared[row + word] as number)
      this.#wanted[word] = wanted
      isWanted |= wanted
      open[to + word] = before & ((this.#fitting[row + word] as number) | wanted)
    }
    if (isWanted === 0) return true
    const spare = this.#playersOf(to, Infinity) - missing
    if (spare < 0 || !input.compare(at, this.#wanted, this.#result, spare)) return false
    for (let word = 0; word < words; word++) {
      const wanted = this.#wanted[word] as number
      const fitting = this.#result[word] as number
      this.#compared[row + word] = (this.#compared[row + word] as number) | wanted
      this.#fitting[row + word] = (this.#fitting[row + word] as number) | fitting
      open[to + word] = (open[to + word] as number) & (fitting | ~wanted)
    }
    return true
  }
}

/** Adds a number to the set that begins at a word. */
function set(sets: Int32Array, from: number, member: number): void {
  const word = from + (member >>> 5)
  sets[word] = (sets[word] as number) | (1 << (member & 31))
}

/** The number of bits that are 1. */
function bitsOf(word: number): number {
  let bits = word - ((word >>> 1) & 0x55555555)
  bits = (bits & 0x33333333) + ((bits >>> 2) & 0x33333333)
  return Math.imul((bits + (bits >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
