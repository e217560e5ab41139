// pure: the candidates for a match around one ticket or opening, best fit first
import type { Candidate } from './candidate-cache.js'
import { copied, type Columns } from './columns.js'
import type { CandidatesInput, CandidateTerms } from './candidates-input.js'
import type { Cost } from './cost.js'
import type { Draft } from './draft.js'
import type { IndexQuery } from './index-query.js'
import type { Slot } from './model.js'
import type { Neighbours } from './neighbours.js'
import { isOlder } from './order.js'

/** Slots read at most around one ticket at one scale. */
const MOST_READ = 4096
/** An index with more tickets than this is a crowd: a search that fails there does not fail for want of tickets. */
const CROWD = 10_000
/** Slots read in a crowd, per player of a match: in a ticket's first search, and in later ones. */
const FIRST_READ = 128
const NEXT_READ = 64
/** Slots read in one chunk; between chunks it is checked whether there are enough candidates. */
const AT_ONCE = 32

/**
 * Candidates accepted at most of one size, which bounds the work in a crowd. The limit is per size, because many
 * parties that fit nobody would otherwise hide the few tickets that fit.
 */
const mostOf = (size: number, players: number): number => Math.max(16, 4 * Math.floor(players / size))

export class Candidates {
  /** The first `count` are candidates, as indexes into the draft's cache; unordered until `sort`. */
  list = new Int32Array(0)
  count = 0
  /** Players of all candidates together. */
  players = 0
  /** Whether a ticket was skipped only because there were enough candidates. */
  more = false
  /** Slots read from the indexes since creation. */
  read = 0
  readonly #columns: Columns
  readonly #cost: Cost
  readonly #draft: Draft
  readonly #neighbours: Neighbours
  readonly #isRefused: (slot: Slot) => boolean
  readonly #looksTwice: boolean
  readonly #chunk = new Int32Array(AT_ONCE)
  #terms: CandidateTerms | undefined
  #costs = new Float64Array(0)
  #ofSize = new Int32Array(0)
  /** Number of sizes whose limit of candidates is reached. */
  #sizesFull = 0
  /** Tickets below the priority floor of the calls so far; a later call may accept them. */
  #later: Slot[] = []
  /** For each slot the last search that read it, because more than one index may return it. */
  #seenIn = new Float64Array(0)
  #searches = 0

  constructor({ columns, cost, draft, neighbours, isRefused, looksTwice }: CandidatesInput) {
    this.#looksTwice = looksTwice
    this.#columns = columns
    this.#cost = cost
    this.#draft = draft
    this.#neighbours = neighbours
    this.#isRefused = isRefused
  }

  /** Starts a new search around the first member of the draft. */
  begin(terms: CandidateTerms): void {
    const { players } = terms.packing
    this.#terms = terms
    this.#searches += 1
    this.players = 0
    this.count = 0
    this.more = false
    this.#sizesFull = 0
    if (this.#later.length > 0) this.#later = []
    this.#neighbours.query.startAround(this.#draft.members[0] as Slot)
    if (this.#ofSize.length <= players) {
      this.#ofSize = new Int32Array(players + 1)
      const most = this.#ofSize.reduce((sum, _, size) => (size === 0 ? 0 : sum + mostOf(size, players)), 0)
      this.list = new Int32Array(most)
      this.#costs = new Float64Array(most)
    } else this.#ofSize.fill(0, 0, players + 1)
  }

  /**
   * Accepts tickets near the first member at a scale, if they may be matched with it. Where the index has fewer than
   * `least` there, none are read. Tickets below priority `floor` are kept for a later call.
   */
  gather(scale: number, least: number, floor: number): void {
    if (this.#isFull()) {
      this.more = true
      return
    }
    const { query } = this.#neighbours
    const players = this.#terms?.packing.players ?? 0
    const tries = this.#columns.tries[this.#draft.members[0] as Slot] as number
    // In a crowd each repeated search for a ticket reads other slots than the one before.
    const most =
      this.#neighbours.count > CROWD ? Math.min(MOST_READ, players * (tries === 0 ? FIRST_READ : NEXT_READ)) : MOST_READ
    const near = query.turnTo(scale, most, tries * most)
    if (query.cut) this.more = true
    if (near + this.#later.length < least) return
    const later = this.#later
    this.#later = []
    for (const slot of later) this.#take(slot, floor)
    this.#readAll(query, floor)
  }

  /** Accepts up to `most` tickets from an index of some of the tickets, whatever their distance. */
  gatherFrom(part: Neighbours, scale: number, most: number): void {
    const { query } = part
    query.startAround(this.#draft.members[0] as Slot)
    query.turnTo(scale, MOST_READ, (this.#columns.tries[this.#draft.members[0] as Slot] as number) * most)
    if (query.cut) this.more = true
    const until = this.count + most
    let returned = this.#chunk.length
    while (returned === this.#chunk.length && this.count < until) {
      returned = query.next(this.#chunk)
      this.read += returned
      for (let at = 0; at < returned; at++) this.#take(this.#chunk[at] as Slot, -Infinity)
    }
    if (returned === this.#chunk.length) this.more = true
  }

  /**
   * Orders the candidates: highest priority first, if priorities differ; then the best fit (nearest and most alike);
   * then the oldest.
   */
  sort(): void {
    const { list, count } = this
    const costs = this.#costs
    for (let from = 1; from < count; from++) {
      const candidate = list[from] as Candidate
      const price = costs[from] as number
      let to = from
      for (; to > 0 && this.#comesBefore(candidate, price, list[to - 1] as Candidate, costs[to - 1] as number); to--) {
        list[to] = list[to - 1] as Candidate
        costs[to] = costs[to - 1] as number
      }
      list[to] = candidate
      costs[to] = price
    }
  }

  /** Rotates the order, so that the candidate at `by` comes first. */
  rotate(by: number): void {
    const first = by % Math.max(1, this.count)
    const sorted = this.list.slice(0, this.count)
    const costs = this.#costs.slice(0, this.count)
    for (let at = 0; at < this.count; at++) {
      this.list[at] = sorted[(at + first) % this.count] as Candidate
      this.#costs[at] = costs[(at + first) % this.count] as number
    }
  }

  slotAt(at: number): Slot {
    return this.#draft.cache.slots[this.list[at] as Candidate] as Slot
  }

  #readAll(query: IndexQuery, floor: number): void {
    const chunk = this.#chunk
    let returned = chunk.length
    while (returned === chunk.length && !this.#isFull()) {
      returned = query.next(chunk)
      this.read += returned
      for (let at = 0; at < returned; at++) this.#take(chunk[at] as Slot, floor)
    }
    if (returned === chunk.length) this.more = true
  }

  /** Where priorities differ, a candidate of higher priority can always replace one of lower. */
  #isFull(): boolean {
    return this.#sizesFull === this.#columns.largest && this.#terms?.ranked !== true
  }

  #take(slot: Slot, floor: number): void {
    const { packing, packed, ranked, skipRefused } = this.#terms as CandidateTerms
    const draft = this.#draft
    // The ticket that must join an opening is already its second member.
    if (draft.count > 1 && slot === draft.members[1]) return
    if (ranked && (this.#columns.priority[slot] as number) < floor) {
      this.#later.push(slot)
      return
    }
    if ((this.#looksTwice && this.#wasSeen(slot)) || (skipRefused && this.#isRefused(slot))) return
    const size = this.#columns.size[slot] as number
    if (packing.add(packed, size) === -1) return
    const most = mostOf(size, packing.players)
    let at = this.count
    if ((this.#ofSize[size] as number) >= most) {
      this.more = true
      at = ranked ? this.#lowestOf(size, this.#columns.priority[slot] as number) : -1
      if (at === -1) return
    }
    const candidate = draft.invite(slot)
    if (candidate === undefined) return
    this.list[at] = candidate
    this.#costs[at] = this.#cost(draft.members[0] as Slot, slot)
    if (at < this.count) return
    this.count += 1
    this.players += size
    this.#ofSize[size] = (this.#ofSize[size] as number) + 1
    if (this.#ofSize[size] === most) this.#sizesFull += 1
  }

  #wasSeen(slot: Slot): boolean {
    if (slot >= this.#seenIn.length) this.#seenIn = copied(new Float64Array(this.#columns.born.length), this.#seenIn)
    if (this.#seenIn[slot] === this.#searches) return true
    this.#seenIn[slot] = this.#searches
    return false
  }

  /**
   * The position of the candidate of a size with the lowest priority under `below`, the worst fit of several; −1 for
   * none.
   */
  #lowestOf(size: number, below: number): number {
    const { slots, sizes } = this.#draft.cache
    let found = -1
    let lowest = below
    for (let at = 0; at < this.count; at++) {
      const candidate = this.list[at] as Candidate
      if (sizes[candidate] !== size) continue
      const priority = this.#columns.priority[slots[candidate] as Slot] as number
      if (
        priority >= lowest &&
        !(found !== -1 && priority === lowest && (this.#costs[at] as number) > (this.#costs[found] as number))
      )
        continue
      found = at
      lowest = priority
    }
    return found
  }

  #comesBefore(one: Candidate, price: number, other: Candidate, otherPrice: number): boolean {
    const { slots } = this.#draft.cache
    const [slot, otherSlot] = [slots[one] as Slot, slots[other] as Slot]
    if (this.#terms?.ranked === true) {
      const higher = (this.#columns.priority[slot] as number) - (this.#columns.priority[otherSlot] as number)
      if (higher !== 0) return higher > 0
    }
    return price < otherPrice || (price === otherPrice && isOlder(this.#columns, slot, otherSlot))
  }
}
