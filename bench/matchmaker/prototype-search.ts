import { COST_PER_CHORD, COST_PER_SKILL } from './prototype-columns.js'
import type { Level, TicketIndex } from './prototype-index.js'

/** Where a search looks first: its own row or column, then the one before, then the one after. */
const NEAREST_FIRST = [0, -1, 1] as const

/** Finds those whom a ticket may meet, from the nearest level outwards, and makes a match of the cheapest. */
export class Search {
  readonly #index: TicketIndex
  readonly #most: number
  readonly #candidates: Int32Array
  readonly #costs: Float32Array
  #found = 0
  /** The number of the search that saw a ticket last, as several levels hold it. */
  readonly #seenIn: Uint32Array
  #searches = 0

  /** @param most candidates of a search */
  constructor(index: TicketIndex, most: number) {
    this.#index = index
    this.#most = most
    this.#candidates = new Int32Array(most)
    this.#costs = new Float32Array(most)
    this.#seenIn = new Uint32Array(index.capacity)
  }

  /** Greedy: the cheapest candidate that may meet all chosen so far is next. Returns whether the match is full. */
  form(ticket: number, match: Int32Array): boolean {
    const size = match.length
    this.#query(ticket)
    match[0] = ticket
    let chosen = 1
    for (let from = 0; from < this.#found; from++) {
      // Too few are left.
      if (this.#found - from < size - chosen) return false
      const candidate = this.#takeCheapest(from)
      let suits = true
      for (let member = 1; member < chosen && suits; member++)
        suits = this.#index.mayMeet(match[member] as number, candidate)
      if (suits) match[chosen++] = candidate
      if (chosen === size) return true
    }
    return false
  }

  /** Moves the cheapest candidate from a place on to that place. */
  #takeCheapest(from: number): number {
    const candidates = this.#candidates
    const costs = this.#costs
    const found = this.#found
    let best = from
    for (let at = from + 1; at < found; at++) if ((costs[at] as number) < (costs[best] as number)) best = at
    const candidate = candidates[best] as number
    const cost = costs[best] as number
    candidates[best] = candidates[from] as number
    costs[best] = costs[from] as number
    candidates[from] = candidate
    costs[from] = cost
    return candidate
  }

  /** Ends with the level that gives half of the most candidates. */
  #query(ticket: number): void {
    const { levels, step } = this.#index
    this.#found = 0
    this.#searches += 1
    this.#seenIn[ticket] = this.#searches
    for (const level of levels) {
      if (level.step > (step[ticket] as number)) break
      if (this.#queryLevel(level, ticket) || this.#found >= this.#most >> 1) break
    }
  }

  /** Returns whether there is no room for more. */
  #queryLevel(level: Level, ticket: number): boolean {
    const { facts, fromSouth, fromWest } = this.#index
    const ownRow = ((fromSouth[ticket] as number) * level.rowsPerDegree) | 0
    const band = ((facts[ticket * 4 + 3] as number) * level.bandsPerSkill) | 0
    const [lowest, highest] = [Math.max(band - 1, 0), Math.min(band + 1, level.bands - 1)]
    for (const rows of NEAREST_FIRST) {
      const row = ownRow + rows
      if (row < 0 || row >= level.rows) continue
      const inRow = level.inRow[row] as number
      const ownColumn = Math.min(((fromWest[ticket] as number) * inRow) | 0, inRow - 1)
      for (let nth = 0; nth < 3 && nth < inRow; nth++) {
        const column = ownColumn + (NEAREST_FIRST[nth] as number)
        const around = column < 0 ? column + inRow : column >= inRow ? column - inRow : column
        const cell = ((level.before[row] as number) + around) * level.bands
        if (this.#readLists(level, cell + lowest, cell + highest, ticket)) return true
      }
    }
    return false
  }

  #readLists(level: Level, from: number, to: number, ticket: number): boolean {
    const index = this.#index
    const seenIn = this.#seenIn
    const search = this.#searches
    const { first, next } = level
    for (let list = from; list <= to; list++)
      for (let other = first[list] as number; other >= 0; other = next[other] as number) {
        if (seenIn[other] === search || !index.mayMeet(ticket, other)) continue
        seenIn[other] = search
        const found = this.#found
        this.#candidates[found] = other
        this.#costs[found] = this.#costOf(ticket, other)
        this.#found = found + 1
        if (found + 1 >= this.#most) return true
      }
    return false
  }

  #costOf(one: number, other: number): number {
    const { facts } = this.#index
    const [a, b] = [one * 4, other * 4]
    const x = (facts[a] as number) - (facts[b] as number)
    const y = (facts[a + 1] as number) - (facts[b + 1] as number)
    const z = (facts[a + 2] as number) - (facts[b + 2] as number)
    const gap = (facts[a + 3] as number) - (facts[b + 3] as number)
    return Math.sqrt(x * x + y * y + z * z) * COST_PER_CHORD + Math.abs(gap) * COST_PER_SKILL
  }
}
