// pure: the candidates accepted for a match, best fit first
import type { Candidate, CandidateCache } from './candidate-cache.js'
import type { Columns } from './columns.js'
import type { Slot } from './model.js'
import { isOlder } from './order.js'

/**
 * Candidates accepted at most of one size, which bounds the work in a crowd. The limit is per size, because many
 * parties that fit nobody would otherwise hide the few tickets that fit.
 */
export const mostOf = (size: number, players: number): number => Math.max(16, 4 * Math.floor(players / size))

export class CandidateList {
  /** The first `count` are candidates, as indexes into the cache; unordered until `sort`. */
  candidates = new Int32Array(0)
  count = 0
  /** Players of all candidates together. */
  players = 0
  readonly #columns: Columns
  readonly #cache: CandidateCache
  #costs = new Float64Array(0)
  /** Whether priorities differ: then a candidate of higher priority takes the place of one of lower. */
  #ranked = false
  /** For each size the number of candidates, and its limit. */
  #ofSize = new Int32Array(0)
  #most = new Int32Array(0)
  /** Number of sizes whose limit of candidates is reached. */
  #sizesFull = 0

  constructor(columns: Columns, cache: CandidateCache) {
    this.#columns = columns
    this.#cache = cache
  }

  /** Starts a new list. @param full players of a full match. */
  begin(full: number, ranked: boolean): void {
    this.#ranked = ranked
    this.players = 0
    this.count = 0
    this.#sizesFull = 0
    if (this.#most.length === full + 1) this.#ofSize.fill(0)
    else this.#reserve(full)
  }

  /** Whether no further candidate can enter. */
  isFull(): boolean {
    return this.#sizesFull === this.#columns.largest && !this.#ranked
  }

  /** Whether the list has as many candidates of this size as it takes. */
  isFullOf(size: number): boolean {
    return (this.#ofSize[size] as number) >= (this.#most[size] as number)
  }

  /** The position for a ticket of this size; −1 if there is none. */
  positionFor(slot: Slot, size: number): number {
    if (!this.isFullOf(size)) return this.count
    return this.#ranked ? this.#lowestOf(size, this.#columns.priority[slot] as number) : -1
  }

  /** Writes a candidate to the position that `positionFor` gave. */
  set(at: number, candidate: Candidate, size: number, cost: number): void {
    this.candidates[at] = candidate
    this.#costs[at] = cost
    if (at < this.count) return
    this.count += 1
    this.players += size
    const many = (this.#ofSize[size] as number) + 1
    this.#ofSize[size] = many
    if (many === this.#most[size]) this.#sizesFull += 1
  }

  slotAt(at: number): Slot {
    return this.#cache.slots[this.candidates[at] as Candidate] as Slot
  }

  /**
   * Orders the candidates: highest priority first, if priorities differ; then the best fit (nearest and most alike);
   * then the oldest.
   */
  sort(): void {
    const { candidates, count } = this
    const costs = this.#costs
    for (let from = 1; from < count; from++) {
      const candidate = candidates[from] as Candidate
      const cost = costs[from] as number
      let to = from
      for (
        ;
        to > 0 && this.#comesBefore(candidate, cost, candidates[to - 1] as Candidate, costs[to - 1] as number);
        to--
      ) {
        candidates[to] = candidates[to - 1] as Candidate
        costs[to] = costs[to - 1] as number
      }
      candidates[to] = candidate
      costs[to] = cost
    }
  }

  /** Rotates the order, so that the candidate at `by` comes first. */
  rotate(by: number): void {
    const first = by % Math.max(1, this.count)
    const sorted = this.candidates.slice(0, this.count)
    const costs = this.#costs.slice(0, this.count)
    for (let at = 0; at < this.count; at++) {
      this.candidates[at] = sorted[(at + first) % this.count] as Candidate
      this.#costs[at] = costs[(at + first) % this.count] as number
    }
  }

  #reserve(full: number): void {
    this.#ofSize = new Int32Array(full + 1)
    this.#most = Int32Array.from(this.#ofSize, (_, size) => (size === 0 ? 0 : mostOf(size, full)))
    const all = this.#most.reduce((sum, most) => sum + most, 0)
    if (all <= this.candidates.length) return
    this.candidates = new Int32Array(all)
    this.#costs = new Float64Array(all)
  }

  /**
   * The position of the candidate of a size with the lowest priority under `below`, the worst fit of several; −1 for
   * none.
   */
  #lowestOf(size: number, below: number): number {
    const { slots, sizes } = this.#cache
    let found = -1
    let lowest = below
    for (let at = 0; at < this.count; at++) {
      const candidate = this.candidates[at] as Candidate
      if (sizes[candidate] !== size) continue
      const priority = this.#columns.priority[slots[candidate] as Slot] as number
      const isWorse =
        found !== -1 && priority === lowest && (this.#costs[at] as number) > (this.#costs[found] as number)
      if (priority >= lowest && !isWorse) continue
      found = at
      lowest = priority
    }
    return found
  }

  #comesBefore(one: Candidate, cost: number, other: Candidate, otherCost: number): boolean {
    const { slots } = this.#cache
    const [slot, otherSlot] = [slots[one] as Slot, slots[other] as Slot]
    if (this.#ranked) {
      const higher = (this.#columns.priority[slot] as number) - (this.#columns.priority[otherSlot] as number)
      if (higher !== 0) return higher > 0
    }
    return cost < otherCost || (cost === otherCost && isOlder(this.#columns, slot, otherSlot))
  }
}
