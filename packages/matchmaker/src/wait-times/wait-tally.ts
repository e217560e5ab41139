import { type Curve, curveOf, type Rates } from './wait-curve.js'

/** What was seen lately, and over a longer time, which counts where little was seen lately. */
export interface Seen {
  readonly lately: Rates
  readonly longer: Rates
}

/**
 * What was computed is used again for the first number of milliseconds, and up to the second while few tickets come or
 * go: no more than one for `FEW` that were counted before (our choice).
 */
const GOOD_MS = { atLeast: 1000, atMost: 10_000 }
const FEW = 25

/**
 * What tickets did that are alike in some way. It is computed when somebody asks, and again only once something has
 * changed: what was seen fades over a quarter of an hour, so ten seconds are nothing where a few of many have moved.
 */
export class WaitTally {
  /** Tickets that came or went. */
  changes = 0
  readonly #read: (now: number) => Seen
  #kept: { readonly at: number; readonly changes: number; readonly seen: Seen } | undefined
  #curve: { readonly of: Seen; readonly value: Curve | undefined } | undefined

  /** @param read computes what was seen until now. */
  constructor(read: (now: number) => Seen) {
    this.#read = read
  }

  /** What was seen until now, or shortly before. */
  seen(now: number): Seen {
    if (this.#kept === undefined || this.#isStale(this.#kept, now))
      this.#kept = { at: now, changes: this.changes, seen: this.#read(now) }
    return this.#kept.seen
  }

  /** Undefined where too little was seen. @param further what was seen elsewhere, the closest first: see `curveOf`. */
  curve(now: number, further: (own: Seen) => readonly Rates[]): Curve | undefined {
    const seen = this.seen(now)
    if (this.#curve?.of !== seen) this.#curve = { of: seen, value: curveOf(further(seen)) }
    return this.#curve.value
  }

  /** Computes all anew when it is asked next. */
  forget(): void {
    this.#kept = undefined
  }

  #isStale({ at, changes }: { readonly at: number; readonly changes: number }, now: number): boolean {
    const age = now - at
    if (age >= 0 && age < GOOD_MS.atLeast) return false
    return age < 0 || age >= GOOD_MS.atMost || (this.changes - changes) * FEW > changes
  }
}
