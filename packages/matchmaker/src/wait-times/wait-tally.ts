import { noRates, type Rates } from './life-table.js'
import { type MatchRateCurve, curveOf } from './wait-estimate.js'

/** Recent rates, and rates over a longer time. Where recent data is too little, the longer time counts. */
export interface ObservedRates {
  readonly lately: Rates
  readonly longer: Rates
}

export const nothingObserved = (): ObservedRates => ({ lately: noRates(), longer: noRates() })

/**
 * Milliseconds for which a result is reused: always for `atLeast`, and for `atMost` while few tickets come or leave.
 * Few are at most one per `FEW` tickets in memory (our choice).
 */
const GOOD_MS = { atLeast: 1000, atMost: 30_000 }
const FEW = 10

/**
 * The waits of similar tickets. They are computed on request, and only if something has changed. Data fades over a
 * quarter of an hour. A result that is 30 s old is therefore good enough if few tickets have come or left.
 */
export class WaitTally {
  /** Number of tickets that came or left. */
  #changes = 0
  /** Number of waiting tickets and players. */
  readonly waiting = { tickets: 0, players: 0 }
  readonly #read: (now: number, into: ObservedRates) => void
  /** The last result. It is overwritten each time, so that nothing is allocated. */
  readonly #observed = nothingObserved()
  /** The time of the last result, and the number of changes until then. */
  #kept: { readonly at: number; readonly changes: number } | undefined
  #curve: { readonly of: object; readonly value: MatchRateCurve | undefined } | undefined

  /** @param read computes the data until now and overwrites `into` with it. */
  constructor(read: (now: number, into: ObservedRates) => void) {
    this.#read = read
  }

  /** Counts tickets that come or, if both numbers are negative, leave. */
  count(tickets: number, players: number): void {
    this.#changes += 1
    this.waiting.tickets += tickets
    this.waiting.players += players
  }

  /** Returns the data until now or shortly before. Another call may overwrite it. */
  observed(now: number): ObservedRates {
    this.#renewed(now)
    return this.#observed
  }

  /**
   * Returns the curve; undefined if there is too little data.
   * @param further returns data of other tickets, the closest first; see `curveOf`.
   */
  curve(now: number, further: (own: ObservedRates) => readonly Rates[]): MatchRateCurve | undefined {
    const of = this.#renewed(now)
    if (this.#curve?.of !== of) this.#curve = { of, value: curveOf(further(this.#observed)) }
    return this.#curve.value
  }

  /** Discards the last result, so that the next call computes it again. */
  forget(): void {
    this.#kept = undefined
  }

  #renewed(now: number): object {
    if (this.#kept === undefined || this.#isStale(this.#kept, now)) {
      this.#kept = { at: now, changes: this.#changes }
      this.#read(now, this.#observed)
    }
    return this.#kept
  }

  #isStale({ at, changes }: { readonly at: number; readonly changes: number }, now: number): boolean {
    const age = now - at
    if (age >= 0 && age < GOOD_MS.atLeast) return false
    return age < 0 || age >= GOOD_MS.atMost || (this.#changes - changes) * FEW > this.#observed.lately.tickets
  }
}
