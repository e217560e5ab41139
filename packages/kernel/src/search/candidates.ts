// pure: the tickets that a search may choose from
import { grown, isFree, isOlder } from '../data/columns.js'
import type { Slot } from '../data/model.js'
import type { PoolParts } from '../data/parts.js'
import type { Grid } from '../grid/grid.js'
import type { Packed, Packing } from '../teams/packing.js'
import type { Draft } from './draft.js'
import type { QuotaCounts } from './quota-counts.js'

export interface CandidatesInput<Facts> extends PoolParts<Facts> {
  readonly draft: Draft<Facts>
  readonly grid: Grid
  readonly counts: QuotaCounts<Facts>
  /** Returns the number of the current round, from 1. A round is one pass over the waiting tickets. */
  number(): number
}

/**
 * A match is tried once the candidates bring this many times the players that it lacks, in total and of each needed
 * kind.
 */
const AMPLE = 4
const AMPLE_NEEDED = 2
/**
 * Maximum number of candidates of a search, or `AMPLE` times the lacking players if more. A later search takes others.
 */
const MOST_CANDIDATES = 400
/** Weight of each further player of a party, and of a long wait, in units of the strictest limits. */
const PARTY_WORTH = 0.55
const AGE_WORTH = 1.5
/** Factor for the weight of a long wait if servers are scarce. */
const RATIONED = 8

/** Maximum number of random sets of candidates of one search, and the least number of tries of each. */
const MOST_DRAWS = 40
const TRIES_OF_DRAW = 100

/** Returns how many random sets of candidates fit into the tries of a search. */
export const drawsOf = (tries: number): number => Math.min(MOST_DRAWS, Math.ceil(tries / TRIES_OF_DRAW))

/** Returns a 32-bit number from two numbers, which looks random. */
export function scrambled(one: number, other: number): number {
  let hash = Math.imul(one ^ Math.imul(other, 0x9e37_79b1), 0x85eb_ca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2_ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The candidates of the current search. */
export class Candidates<Facts> {
  /** The first `count` entries are the candidates. */
  list = new Int32Array(256)
  /** The cost of each candidate to the first member. */
  costs = new Float64Array(256)
  count = 0
  /** Total number of players of the candidates. */
  players = 0
  /** The value of each candidate, by slot. */
  worth = new Float64Array(0)
  /** Number of players that the match lacks for each quota. The search updates it. */
  readonly lacking: number[]
  readonly #input: CandidatesInput<Facts>
  /** Number of players that the candidates bring for each quota. */
  readonly #supply: number[]
  readonly #partyWorth: number
  readonly #ageWorth: number
  #packing: Packing
  #longestMs = 0
  /** The value of the longest wait in the current search. */
  #wait = 0
  #skipRefused = false
  #isRationed = false

  constructor(input: CandidatesInput<Facts>, packing: Packing) {
    const { waiting = 1, parties = 1 } = input.model.prefer ?? {}
    this.#input = input
    this.#packing = packing
    this.lacking = input.counts.quotas.map(() => 0)
    this.#supply = [...this.lacking]
    this.#partyWorth = PARTY_WORTH * parties
    this.#ageWorth = AGE_WORTH * waiting
  }

  /**
   * @param longestMs the wait with the highest value. @param skipRefused leaves out tickets that no match of this round
   *   can hold.
   */
  begin(packing: Packing, longestMs: number, isRationed: boolean, skipRefused: boolean): void {
    const { capacity } = this.#input.columns
    if (this.worth.length < capacity) this.worth = grown(this.worth, capacity)
    this.#packing = packing
    this.#longestMs = longestMs
    this.#wait = this.#ageWorth * (isRationed ? RATIONED : 1)
    this.#isRationed = isRationed
    this.#skipRefused = skipRefused
    this.#supply.fill(0)
    this.count = 0
    this.players = 0
  }

  /** Adds tickets with players of lacking kinds, if the candidates bring too few of them. */
  gatherNeeded(packed: Packed, missing: number): void {
    const { counts, grid } = this.#input
    for (const [quota, holders] of counts.holders.entries()) {
      if (holders === undefined || (this.#supply[quota] as number) >= AMPLE_NEEDED * (this.lacking[quota] as number))
        continue
      const from = grid.count
      let left = Math.max(MOST_CANDIDATES, AMPLE * missing)
      for (const slot of holders) {
        if (left-- === 0) break
        grid.add(slot)
      }
      this.take(grid.found, from, grid.count, packed)
    }
  }

  /** Takes as candidates the slots that may meet the members and fit into the teams with them. */
  take(slots: ArrayLike<Slot>, from: number, to: number, packed: Packed): void {
    const { columns, draft, compare, counts, budget, levels } = this.#input
    const round = this.#input.number()
    const anchor = draft.members[0] as Slot
    for (let at = from; at < to; at++) {
      const slot = slots[at] as Slot
      const size = columns.size[slot] as number
      if (size === 0 || (this.#skipRefused && columns.refusedIn[slot] === round)) continue
      if (this.#packing.add(packed, size) === -1 || !isFree(columns, slot) || !draft.admits(slot)) continue
      if (draft.count > 1 && slot === draft.members[1]) continue
      if (this.count === this.list.length) {
        this.list = grown(this.list, 2 * this.count)
        this.costs = grown(this.costs, 2 * this.count)
      }
      const wait = levels.now - columns.sinceOf(slot)
      this.worth[slot] = this.#partyWorth * (size - 1) + this.#wait * Math.min(1, wait / this.#longestMs)
      this.list[this.count] = slot
      this.costs[this.count++] = compare.cost(anchor, slot)
      this.players += size
      for (let quota = 0; quota < this.#supply.length; quota++)
        this.#supply[quota] = (this.#supply[quota] as number) + counts.of(slot, quota)
    }
    budget.chargeTime((to - from) / 16)
  }

  /**
   * Shortens the list to the maximum of a search. After a search that was cut short, it keeps other candidates. Returns
   * true if some were dropped.
   */
  shorten(missing: number, before: number): boolean {
    const most = Math.max(MOST_CANDIDATES, AMPLE * missing)
    if (this.count <= most) return false
    const { columns, counts } = this.#input
    const order = Array.from({ length: this.count }, (_, at) => at)
    const [list, costs] = [this.list.slice(), this.costs.slice()]
    order.sort(
      (one, other) =>
        (columns.priority[list[other] as Slot] as number) - (columns.priority[list[one] as Slot] as number) ||
        (this.#isRationed ? 0 : (costs[one] as number) - (costs[other] as number)) ||
        (isOlder(columns, list[one] as Slot, list[other] as Slot) ? -1 : 1),
    )
    // A candidate and its check take two tries of the search budget. The tries of a ticket's first search suffice for a
    // quarter of the maximum number of candidates.
    const skip = before === 0 ? 0 : (before - 1) * most + most / 4
    const from = this.#input.ranked() ? 0 : skip % this.count
    const chosen = new Set<number>()
    for (let at = 0; at < most; at++) chosen.add(order[(from + at) % order.length] as number)
    for (let quota = 0; quota < this.lacking.length; quota++) {
      let lacking = AMPLE_NEEDED * (this.lacking[quota] as number)
      for (const at of order) {
        if (lacking <= 0) break
        const own = counts.of(list[at] as Slot, quota)
        if (own > 0) chosen.add(at)
        lacking -= own
      }
    }
    this.players = 0
    this.count = 0
    for (const at of chosen) {
      this.list[this.count] = list[at] as Slot
      this.costs[this.count++] = costs[at] as number
      this.players += columns.size[list[at] as Slot] as number
    }
    return true
  }

  /**
   * Keeps random candidates: enough for `missing` players, or fewer if `isAny`. Returns false if there are too few.
   * @param seed decides which candidates.
   */
  draw(missing: number, isAny: boolean, seed: number): boolean {
    const { list, costs, count } = this
    const needed = Math.ceil((missing * count) / Math.max(1, this.players))
    const many = isAny ? 1 + (seed % Math.max(1, Math.min(count, needed))) : needed
    if (many < 1 || many > count) return false
    let random = seed
    this.players = 0
    for (let at = 0; at < many; at++) {
      random = scrambled(random, at)
      const other = at + (random % (count - at))
      const [slot, cost] = [list[other] as Slot, costs[other] as number]
      list[other] = list[at] as Slot
      costs[other] = costs[at] as number
      list[at] = slot
      costs[at] = cost
      this.players += this.#input.columns.size[slot] as number
    }
    this.count = many
    return true
  }

  /** Returns the highest level of the candidates, at least the given one. */
  highestLevel(least: number): number {
    const { level } = this.#input.columns
    return this.list.subarray(0, this.count).reduce((highest, slot) => Math.max(highest, level[slot] as number), least)
  }

  /** True if any candidate has waited this long, in milliseconds. */
  hasWaited(ms: number): boolean {
    const { columns, levels } = this.#input
    return this.list.subarray(0, this.count).some((slot) => levels.now - columns.sinceOf(slot) >= ms)
  }

  isAmple(missing: number): boolean {
    return this.players >= AMPLE * missing && this.isEnough(missing, AMPLE_NEEDED)
  }

  /** True if the candidates bring enough players, and this many times the lacking ones of each kind. */
  isEnough(missing: number, times: number): boolean {
    if (this.players < missing) return false
    for (let quota = 0; quota < this.#supply.length; quota++)
      if ((this.#supply[quota] as number) < times * (this.lacking[quota] as number)) return false
    return true
  }
}
