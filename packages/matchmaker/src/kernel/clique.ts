// pure: finds candidates that may all be together
import type { Packed, Packing } from './packing.js'

/** Bits of a word of a set. */
const WORD = 32

/** Candidates by position, those that fit best first. */
export interface CliqueInput {
  readonly count: number
  /** The players of each candidate. */
  readonly sizes: ArrayLike<number>
  /** Writes, from `to` on, the set of the candidates after `at` that may be together with it. */
  writeRow(at: number, rows: Int32Array, to: number): void
}

/**
 * Fills the teams with candidates, those that fit best first. Sets of candidates are bits: after each choice those are
 * left that may still join, so a choice that leaves too few players is given up at once.
 */
export class Clique {
  /** The first `chosen` are the positions of the candidates found. */
  readonly members: Int32Array
  chosen = 0
  /** Whether the last search was given up because its tries were spent. */
  wasCut = false
  /** Tries of the last search. */
  tries = 0
  readonly #packing: Packing
  /** Words of a set. */
  #words = 0
  #rows = new Int32Array(0)
  #hasRow = new Uint8Array(0)
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

  /** False if there is no way to fill the teams, or the tries are spent. */
  find(packed: Packed, most: number, input: CliqueInput): boolean {
    const packing = this.#packing
    this.#begin(input)
    this.#packedAt[0] = packed
    for (let depth = 0; depth >= 0;) {
      const before = this.#packedAt[depth] as Packed
      const at = this.#nextAt(depth, packing.players - packing.count(before))
      if (at === -1) {
        depth -= 1
        continue
      }
      const next = packing.add(before, input.sizes[at] as number)
      if (next === -1) continue
      if (this.tries >= most) {
        this.wasCut = true
        return false
      }
      this.tries += 1
      this.members[depth++] = at
      this.chosen = depth
      if (packing.count(next) === packing.players) return true
      this.#packedAt[depth] = next
      this.#keep(depth, at, input)
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
    if (this.#rows.length < count * words) {
      this.#rows = new Int32Array(count * words)
      this.#hasRow = new Uint8Array(count)
      this.#open = new Int32Array((players + 1) * words)
      this.#ofSize = new Int32Array((players + 1) * words)
    } else this.#hasRow.fill(0, 0, count)
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
    const words = this.#words
    const open = this.#open
    const from = depth * words
    let players = 0
    for (const size of this.#sizes)
      for (let word = 0; word < words && players < missing; word++)
        players += size * bitsOf((open[from + word] as number) & (this.#ofSize[size * words + word] as number))
    if (players < missing) return -1
    for (let word = from; ; word++) {
      const bits = open[word] as number
      if (bits === 0) continue
      open[word] = bits & (bits - 1)
      return WORD * (word - from) + 31 - Math.clz32(bits & -bits)
    }
  }

  /** Keeps the candidates that may join after a choice. */
  #keep(depth: number, at: number, input: CliqueInput): void {
    const words = this.#words
    const rows = this.#rows
    const open = this.#open
    const to = depth * words
    const from = to - words
    const row = at * words
    if (this.#hasRow[at] === 0) {
      this.#hasRow[at] = 1
      input.writeRow(at, rows, row)
    }
    for (let word = 0; word < words; word++)
      open[to + word] = (open[from + word] as number) & (rows[row + word] as number)
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
