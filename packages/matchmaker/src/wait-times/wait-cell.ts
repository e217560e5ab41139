import { BINS, EDGES, LifeTable, type Rates } from './life-table.js'
import { nothingObserved, type ObservedRates, WaitTally } from './wait-tally.js'

/** Milliseconds within which tickets count as created at the same time. */
const SLOT_MS = 1000

interface Slot {
  readonly key: number
  tickets: number
  /**
   * The weight of each ticket in life tables. It is the smallest weight of any ticket of the slot, because a burst is
   * recognized only by its later tickets.
   */
  weight: number
}

/** Waiting tickets, counted by the second of their creation, with one slot for each second. */
export class WaitingTickets {
  readonly #slots = new Map<number, Slot>()
  /** The slot that was used last. It is cached because tickets are created and matched many at a time. */
  #last: Slot = newSlot(Number.NaN)
  #tickets = 0
  #players = 0

  get tickets(): number {
    return this.#tickets
  }
  get players(): number {
    return this.#players
  }

  /** Adds a waiting ticket. @param weight weight of a ticket in life tables */
  add(createdAt: number, players: number, weight = 1): void {
    const slot = this.#slotOf(createdAt)
    slot.tickets += 1
    slot.weight = Math.min(slot.weight, weight)
    this.#tickets += 1
    this.#players += players
  }

  /** Removes a waiting ticket. Returns the weight of each ticket created in the same second. */
  remove(createdAt: number, players: number): number {
    const slot = this.#slotOf(createdAt)
    slot.tickets -= 1
    if (slot.tickets <= 0) this.#slots.delete(slot.key)
    this.#tickets -= 1
    this.#players -= players
    return slot.weight
  }

  /**
   * Returns the total weight of the waiting tickets of each second, with the middle of that second in epoch
   * milliseconds.
   */
  weights(): (readonly [createdAt: number, tickets: number])[] {
    return Array.from(
      this.#slots.values(),
      ({ key, tickets, weight }) => [(key + 0.5) * SLOT_MS, tickets * weight] as const,
    )
  }

  /** Returns the number of waiting tickets of each second, with the middle of that second in epoch milliseconds. */
  byCreation(): (readonly [createdAt: number, tickets: number])[] {
    return Array.from(this.#slots.values(), ({ key, tickets }) => [(key + 0.5) * SLOT_MS, tickets] as const)
  }

  #slotOf(createdAt: number): Slot {
    const key = Math.floor(createdAt / SLOT_MS)
    if (this.#last.key === key && this.#last.tickets > 0) return this.#last
    let slot = this.#slots.get(key)
    if (slot === undefined) this.#slots.set(key, (slot = newSlot(key)))
    this.#last = slot
    return slot
  }
}

const newSlot = (key: number): Slot => ({ key, tickets: 0, weight: 1 })

/** Maximum age in milliseconds of a new ticket. An older ticket is imported and does not count as an arrival. */
const NEW_MS = 1000

/** Current waits and arrivals of the tickets of a region. */
export class RecentWaits {
  readonly #memoryMs: number
  readonly #table: LifeTable
  readonly #waiting = new WaitingTickets()
  readonly #since: number
  #arrivals: { at: number; count: number }
  /** True while the queue makes no matches for reasons other than its limits. Waits then say nothing about limits. */
  #isHeld = false

  /** @param memoryMs milliseconds after which an observation has faded to 1/e. */
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

  /** Returns the recent number of tickets that arrive in `memoryMs`. */
  arrivals(now: number): number {
    const seen = 1 - Math.exp((this.#since - now) / this.#memoryMs)
    return seen === 0 ? 0 : this.#counted(now) / seen
  }

  /** Returns the number of arrived tickets. Older arrivals weigh less. */
  #counted(now: number): number {
    const { at, count } = this.#arrivals
    return count * Math.exp((at - now) / this.#memoryMs)
  }

  rates(now: number): Rates {
    return this.#table.rates(this.#isHeld ? [] : this.#waiting.byCreation(), now)
  }
}

/** Minimum milliseconds that a matched ticket counts as having waited, because ticks come at intervals. */
const LEAST_WAITED_MS = 10
/** The cumulated match rate at which one ticket in ten still waits. */
const P90 = Math.LN10

/** Returns the 90th percentile of the wait in milliseconds, at most `mostMs`. */
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

/** Milliseconds after which data fades to 1/e (our choice). */
const FADE_MS = { lately: 900_000, longer: 3_600_000 }

/** Milliseconds after which arrivals fade to 1/e, for the recent and for the usual rate (our choice). */
const ARRIVALS_FADE_MS = { now: 5000, usual: 3_600_000 }
/**
 * Milliseconds without arrivals that are assumed before the first ticket, so that a burst at the start does not count
 * as usual.
 */
const UNSEEN_MS = 300_000
const LEAST_WEIGHT = 0.001

/**
 * Weighs tickets by the rate of arrivals. In a burst, each ticket weighs less, so that a burst counts by its duration
 * instead of its tickets. Tickets that arrive in the minutes after a burst wait as long as tickets did before it.
 */
class ArrivalWeights {
  readonly #since: number
  #at: number
  #now = 0
  #usual = 0

  constructor(now: number) {
    this.#since = now
    this.#at = now
  }

  /** Counts an arriving ticket and returns its weight in life tables: 1 at or below the usual rate of arrivals. */
  arrive(now: number): number {
    const fadedMs = this.#at - now
    this.#at = now
    const { now: nowMs, usual: usualMs } = ARRIVALS_FADE_MS
    this.#now = this.#now * Math.exp(fadedMs / nowMs) + 1
    this.#usual = this.#usual * Math.exp(fadedMs / usualMs) + 1
    const seenMs = usualMs * (1 - Math.exp((this.#since - now) / usualMs)) + UNSEEN_MS
    const expected = (this.#usual * nowMs) / seenMs
    return Math.max(LEAST_WEIGHT, Math.min(1, expected / this.#now))
  }
}

/** Tickets of a queue with similar size and region: the waiting tickets, and the outcomes of ended ones. */
export class WaitCell {
  readonly waiting = new WaitingTickets()
  /** The list that is shared by all tickets that have only this cell. */
  readonly alone: readonly WaitCell[] = [this]
  /** The tally of the cell's tickets. */
  readonly own = new WaitTally((now, into) => this.observed(now, into))
  /** The tallies that count the cell's tickets: its own, and those that several cells share. */
  readonly #tallies: readonly WaitTally[]
  readonly #lately: LifeTable
  readonly #longer: LifeTable
  /** Epoch milliseconds of the last change. */
  #changedAt: number
  readonly #arrivals: ArrivalWeights
  /** True while the queue is paused. Waits then say nothing about its tickets. */
  #isPaused: boolean
  /** The waits of the cell's region, if they steer limits. */
  #region: RecentWaits | undefined

  constructor(now: number, isPaused = false, shared: readonly WaitTally[] = []) {
    this.#tallies = [this.own, ...shared]
    this.#lately = new LifeTable(FADE_MS.lately, now)
    this.#longer = new LifeTable(FADE_MS.longer, now)
    this.#changedAt = now
    this.#isPaused = isPaused
    this.#arrivals = new ArrivalWeights(now)
  }

  /** Sets the region that counts the cell's tickets; undefined if limits are not steered. */
  countIn(region: RecentWaits | undefined, now: number): void {
    this.#region = region
    if (region === undefined) return
    for (const [createdAt, tickets] of this.waiting.byCreation())
      for (let each = 0; each < tickets; each += 1) region.enter(createdAt, now)
  }

  enter(createdAt: number, players: number, now: number): void {
    this.#change(1, players, now)
    const weight = this.#arrivals.arrive(now)
    this.waiting.add(createdAt, players, weight)
    this.#region?.enter(createdAt, now)
    if (this.#isPaused) return
    this.#lately.enter(createdAt, now, weight)
    this.#longer.enter(createdAt, now, weight)
  }

  leave(createdAt: number, players: number, now: number, isMatched: boolean): void {
    this.#change(-1, -players, now)
    const weight = this.waiting.remove(createdAt, players)
    this.#region?.leave(createdAt, now, isMatched)
    if (this.#isPaused) return
    this.#lately.leave(createdAt, now, isMatched, weight)
    this.#longer.leave(createdAt, now, isMatched, weight)
  }

  setPaused(isPaused: boolean, now: number): void {
    if (this.#isPaused === isPaused) return
    this.#isPaused = isPaused
    for (const [created, tickets] of this.waiting.weights()) {
      const createdAt = Math.min(created, now)
      for (const table of [this.#lately, this.#longer]) {
        if (isPaused) table.leave(createdAt, now, false, tickets)
        else table.enter(createdAt, now, tickets)
      }
    }
  }

  /** Returns the data until now. @param into overwritten and returned. */
  observed(now: number, into: ObservedRates = nothingObserved()): ObservedRates {
    const waiting = this.#isPaused ? [] : this.waiting.weights()
    this.#lately.rates(waiting, now, into.lately)
    this.#longer.rates(waiting, now, into.longer)
    return into
  }

  /** True if no ticket waits and all data has faded. */
  isFaded(now: number): boolean {
    return this.waiting.tickets === 0 && now - this.#changedAt > 6 * FADE_MS.longer
  }

  #change(tickets: number, players: number, now: number): void {
    this.#changedAt = now
    for (const tally of this.#tallies) tally.count(tickets, players)
  }
}
