import { LifeTable, type Rates } from './life-table.js'
import type { RecentWaits } from './recent-waits.js'
import { WaitingTickets } from './waiting-tickets.js'

/** What was seen lately, and over a longer time, which counts where little was seen lately. */
export interface Seen {
  readonly lately: Rates
  readonly longer: Rates
}

/** Milliseconds in which what was seen fades to 1/e (our choice). */
const FADE_MS = { lately: 300_000, longer: 3_600_000 }

/** The tickets of a queue that are alike in size and region: those that wait, and what became of others. */
export class WaitCell {
  readonly waiting = new WaitingTickets()
  /** The list that all tickets of this cell alone share. */
  readonly alone: readonly WaitCell[] = [this]
  readonly #lately: LifeTable
  readonly #longer: LifeTable
  /** Epoch milliseconds. */
  #changedAt: number
  /** While its queue makes no matches, waiting tells nothing. */
  #isPaused: boolean
  /** The waits of its region, where they steer limits. */
  #region: RecentWaits | undefined

  constructor(now: number, isPaused = false) {
    this.#lately = new LifeTable(FADE_MS.lately, now)
    this.#longer = new LifeTable(FADE_MS.longer, now)
    this.#changedAt = now
    this.#isPaused = isPaused
  }

  /** Counts its tickets in their region from now on. None: they steer nothing. */
  countIn(region: RecentWaits | undefined, now: number): void {
    this.#region = region
    if (region === undefined) return
    for (const [createdAt, tickets] of this.waiting.byCreation())
      for (let each = 0; each < tickets; each += 1) region.enter(createdAt, now)
  }

  enter(createdAt: number, players: number, now: number): void {
    this.#changedAt = now
    this.waiting.add(createdAt, players)
    this.#region?.enter(createdAt, now)
    if (this.#isPaused) return
    this.#lately.enter(createdAt, now)
    this.#longer.enter(createdAt, now)
  }

  leave(createdAt: number, players: number, now: number, isMatched: boolean): void {
    this.#changedAt = now
    this.waiting.remove(createdAt, players)
    this.#region?.leave(createdAt, now, isMatched)
    if (this.#isPaused) return
    this.#lately.leave(createdAt, now, isMatched)
    this.#longer.leave(createdAt, now, isMatched)
  }

  setPaused(isPaused: boolean, now: number): void {
    if (this.#isPaused === isPaused) return
    this.#isPaused = isPaused
    for (const [created, tickets] of this.waiting.byCreation()) {
      const createdAt = Math.min(created, now)
      for (const table of [this.#lately, this.#longer]) {
        if (isPaused) table.leave(createdAt, now, false, tickets)
        else table.enter(createdAt, now, tickets)
      }
    }
  }

  seen(now: number): Seen {
    const waiting = this.#isPaused ? [] : this.waiting.byCreation()
    return { lately: this.#lately.rates(waiting, now), longer: this.#longer.rates(waiting, now) }
  }

  /** Whether nobody waits, and all that was seen has faded. */
  isFaded(now: number): boolean {
    return this.waiting.tickets === 0 && now - this.#changedAt > 6 * FADE_MS.longer
  }
}
