import { type Curve, curveOf, noRates, type Rates } from './wait-curve.js'

/** What was seen lately, and over a longer time, which counts where little was seen lately. */
export interface Seen {
  readonly lately: Rates
  readonly longer: Rates
}

export const nothingSeen = (): Seen => ({ lately: noRates(), longer: noRates() })

/**
 * What was computed is used again for the first number of milliseconds, and up to the second while few tickets come or
 * go: no more than one for `FEW` that are remembered (our choice).
 */
const GOOD_MS = { atLeast: 1000, atMost: 30_000 }
const FEW = 10

/**
 * What tickets did that are alike in some way. It is computed when somebody asks, and again only once something has
 * changed: what was seen fades over a quarter of an hour, so half a minute is little where a few of many have moved.
 */
export class WaitTally {
  /** Tickets that came or went. */
  #changes = 0
  /** Those that wait now, and their players. */
  readonly waiting = { tickets: 0, players: 0 }
  readonly #read: (now: number, into: Seen) => void
  /** Overwritten each time: nothing is allocated. */
  readonly #seen = nothingSeen()
  /** When it was computed, and the changes until then. */
  #kept: { readonly at: number; readonly changes: number } | undefined
  #curve: { readonly of: object; readonly value: Curve | undefined } | undefined

  /** @param read computes what was seen until now, and overwrites `into` with it. */
  constructor(read: (now: number, into: Seen) => void) {
    this.#read = read
  }

  /** Counts tickets that come, or go: then both are negative. */
  count(tickets: number, players: number): void {
    this.#changes += 1
    this.waiting.tickets += tickets
    this.waiting.players += players
  }

  /** What was seen until now, or shortly before. Another call may overwrite it. */
  seen(now: number): Seen {
    this.#renewed(now)
    return this.#seen
  }

  /** Undefined where too little was seen. @param further what was seen elsewhere, the closest first: see `curveOf`. */
  curve(now: number, further: (own: Seen) => readonly Rates[]): Curve | undefined {
    const of = this.#renewed(now)
    if (this.#curve?.of !== of) this.#curve = { of, value: curveOf(further(this.#seen)) }
    return this.#curve.value
  }

  /** Computes all anew when it is asked next. */
  forget(): void {
    this.#kept = undefined
  }

  #renewed(now: number): object {
    if (this.#kept === undefined || this.#isStale(this.#kept, now)) {
      this.#kept = { at: now, changes: this.#changes }
      this.#read(now, this.#seen)
    }
    return this.#kept
  }

  #isStale({ at, changes }: { readonly at: number; readonly changes: number }, now: number): boolean {
    const age = now - at
    if (age >= 0 && age < GOOD_MS.atLeast) return false
    return age < 0 || age >= GOOD_MS.atMost || (this.#changes - changes) * FEW > this.#seen.lately.tickets
  }
}
