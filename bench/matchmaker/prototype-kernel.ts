import { matchWithinCells, type Matches } from './prototype-bulk.js'
import { Cells } from './prototype-cells.js'
import type { Columns } from './prototype-columns.js'
import { TicketIndex } from './prototype-index.js'
import { Search } from './prototype-search.js'
import { RadixSort } from './prototype-sort.js'

/** Neighbours in the order of these cells are near each other in memory too. */
const LOCALITY = new Cells(100)
/** Tickets are served by whole milliseconds of waiting, up to these. */
const MOST_MS = 1e6
const AGE_BITS = 20
/** Candidates of a search: for pairs, and for larger matches. */
const MOST_CANDIDATES = { pairs: 16, larger: 40 }

/**
 * The laboratory's kernel: what a round may cost at least. It knows one queue of single players, a distance and a
 * difference in skill in steps, no parties, teams, roles, priorities, custom rules or marks of players, and nobody who
 * waits from one round to the next. First it makes matches of neighbours in cells, then it searches for each ticket
 * left, the oldest first, and takes the cheapest candidates that may all meet.
 */
export class PrototypeKernel {
  readonly #columns: Columns
  readonly #size: number
  readonly #radix = new RadixSort()
  #index = new TicketIndex(0)

  constructor(columns: Columns, size: number) {
    this.#columns = columns
    this.#size = size
  }

  round(): Matches {
    const { count } = this.#columns
    const matches: Matches = { tickets: new Int32Array(count), count: 0 }
    const left = matchWithinCells(this.#columns, this.#size, matches, this.#radix)
    if (left.length >= this.#size) this.#matchLeft(left, matches)
    return matches
  }

  #matchLeft(left: Uint32Array, matches: Matches): void {
    const count = left.length
    if (this.#index.capacity < count) this.#index = new TicketIndex(count)
    const index = this.#index
    const tickets = this.#byPlace(left)
    this.#fill(tickets)
    const oldestFirst = this.#byAge(tickets)
    // The oldest are at the heads of their lists.
    for (let at = count - 1; at >= 0; at--) index.insert(oldestFirst[at] as number)

    const search = new Search(index, this.#size === 2 ? MOST_CANDIDATES.pairs : MOST_CANDIDATES.larger)
    const isMatched = new Uint8Array(count)
    const match = new Int32Array(this.#size)
    for (let at = 0; at < count; at++) {
      const ticket = oldestFirst[at] as number
      if (isMatched[ticket] === 1 || !search.form(ticket, match)) continue
      for (let seat = 0; seat < match.length; seat++) {
        const member = match[seat] as number
        matches.tickets[matches.count * this.#size + seat] = tickets[member] as number
        isMatched[member] = 1
        index.remove(member)
      }
      matches.count += 1
    }
    // The lists are empty for the next round.
    for (let at = 0; at < count; at++) if (isMatched[at] === 0) index.remove(at)
  }

  #byPlace(left: Uint32Array): Uint32Array {
    const { latitude, longitude, skill } = this.#columns
    const keys = new Uint32Array(left.length)
    for (let at = 0; at < left.length; at++) {
      const ticket = left[at] as number
      keys[at] = LOCALITY.key(latitude[ticket] as number, longitude[ticket] as number, skill[ticket] as number)
    }
    return this.#radix.sort(keys, left.length, LOCALITY.bits, left).slice()
  }

  #byAge(tickets: Uint32Array): Uint32Array {
    const { waitedS } = this.#columns
    const keys = new Uint32Array(tickets.length)
    for (let at = 0; at < tickets.length; at++)
      keys[at] = MOST_MS - Math.min(MOST_MS, Math.round((waitedS[tickets[at] as number] as number) * 1000))
    return this.#radix.sort(keys, tickets.length, AGE_BITS).slice()
  }

  /** Of the index: its tickets are numbered by place. */
  #fill(tickets: Uint32Array): void {
    const { latitude, longitude, x, y, z, skill, step } = this.#columns
    const { facts, fromSouth, fromWest, step: steps } = this.#index
    for (let at = 0; at < tickets.length; at++) {
      const ticket = tickets[at] as number
      facts[at * 4] = x[ticket] as number
      facts[at * 4 + 1] = y[ticket] as number
      facts[at * 4 + 2] = z[ticket] as number
      facts[at * 4 + 3] = skill[ticket] as number
      fromSouth[at] = (latitude[ticket] as number) + 90
      fromWest[at] = ((longitude[ticket] as number) + 180) / 360
      steps[at] = step[ticket] as number
    }
  }
}
