import { BINS, EDGES } from './ages.js'
import { LifeTable, type Rates } from './life-table.js'
import { WaitingTickets } from './waiting-tickets.js'

/** A ticket that is older when it comes was elsewhere before: it does not tell how many come. */
const NEW_MS = 1000

/** How long the tickets of a region wait just now, and how many come. */
export class RecentWaits {
  readonly #memoryMs: number
  readonly #table: LifeTable
  readonly #waiting = new WaitingTickets()
  readonly #since: number
  #arrivals: { at: number; count: number }
  /** Whether the queue makes no matches now, whatever its limits: then waits tell nothing of them. */
  #isHeld = false

  /** @param memoryMs in which what was seen fades to 1/e. */
  constructor(memoryMs: number, now: number) {
    this.#memoryMs = memoryMs
    this.#table = new LifeTable(memoryMs, now)
    this.#since = now
    this.#arrivals = { at: now, count: 0 }
  }

  enter(createdAt: number, now: number): void {
    this.#waiting.add(createdAt, 0)
    if (now - createdAt < NEW_MS) this.#arrivals = { at: now, count: this.#counted(now) + 1 }
    if (!this.#isHeld) this.#table.enter(createdAt, now)
  }

  leave(createdAt: number, now: number, isMatched: boolean): void {
    this.#waiting.remove(createdAt, 0)
    if (!this.#isHeld) this.#table.leave(createdAt, now, isMatched)
  }

  setHeld(isHeld: boolean, now: number): void {
    if (this.#isHeld === isHeld) return
    this.#isHeld = isHeld
    for (const [created, tickets] of this.#waiting.byCreation()) {
      const createdAt = Math.min(created, now)
      if (isHeld) this.#table.leave(createdAt, now, false, tickets)
      else this.#table.enter(createdAt, now, tickets)
    }
  }

  /** Tickets that come in `memoryMs`, by those that came lately. */
  arrivals(now: number): number {
    const seen = 1 - Math.exp((this.#since - now) / this.#memoryMs)
    return seen === 0 ? 0 : this.#counted(now) / seen
  }

  /** Tickets that came, of which older ones count less. */
  #counted(now: number): number {
    const { at, count } = this.#arrivals
    return count * Math.exp((at - now) / this.#memoryMs)
  }

  rates(now: number): Rates {
    return this.#table.rates(this.#isHeld ? [] : this.#waiting.byCreation(), now)
  }
}

/** Milliseconds for which a ticket has waited where it was matched, at least: ticks come at intervals. */
const LEAST_WAITED_MS = 10
/** Of a hundred tickets, ten wait longer. */
const P90 = Math.LN10

/** What nine of ten tickets wait at most, in milliseconds; `mostMs` if it is as much or more. */
export function p90Of({ matched, waited }: Rates, mostMs: number): number {
  let left = P90
  for (let bin = 0; bin < BINS - 1; bin += 1) {
    const [from, to] = [EDGES[bin] as number, EDGES[bin + 1] as number]
    if (from >= mostMs) return mostMs
    const matches = matched[bin] as number
    const spentMs = Math.max(waited[bin] as number, matches * LEAST_WAITED_MS)
    const rate = spentMs === 0 ? 0 : matches / spentMs
    if (rate * (to - from) >= left) return Math.min(mostMs, from + left / rate)
    left -= rate * (to - from)
  }
  return mostMs
}
