// pure: at which rate tickets were matched lately, by how long they had waited
import { BINS, binOf, EDGES } from './ages.js'

/** For each bin of waiting time, what has happened in it. What is older weighs less. */
export interface Rates {
  /** Tickets that were matched. */
  readonly matched: Float64Array
  /** Tickets that have come to it. */
  readonly entered: Float64Array
  /** Milliseconds that these spent waiting in it, all together. */
  readonly waited: Float64Array
}

export const noRates = (): Rates => ({
  matched: new Float64Array(BINS),
  entered: new Float64Array(BINS),
  waited: new Float64Array(BINS),
})

/** Adds `share` times the one to the other. */
export function addRates(to: Rates, { matched, entered, waited }: Rates, share = 1): void {
  for (let bin = 0; bin < BINS; bin += 1) {
    to.matched[bin] = at(to.matched, bin) + share * at(matched, bin)
    to.entered[bin] = at(to.entered, bin) + share * at(entered, bin)
    to.waited[bin] = at(to.waited, bin) + share * at(waited, bin)
  }
}

const at = (values: Float64Array, bin: number) => values[bin] as number

/** Tickets that still wait, by when they were created, in epoch milliseconds. */
export type StillWaiting = Iterable<readonly [createdAt: number, tickets: number]>

/** Weights grow with time, so that nothing need be touched to let it fade; before they overflow, all are reduced. */
const LARGEST_EXPONENT = 60
/** Milliseconds that a ticket may be old when it is counted as new. */
const NEW_MS = 50

/**
 * A life table, as of a population: for each waiting time, how many tickets were matched at it, and how long tickets
 * have waited at it. Those who gave up count for as long as they waited, and so do those who still wait. What happened
 * `fadeMs` ago weighs 1/e. That holds for each moment of waiting, not for a ticket as a whole: a change of the load
 * shows at all waiting times at once.
 */
export class LifeTable {
  readonly #fadeMs: number
  /** Epoch milliseconds at which the weight is 1. */
  #origin: number
  /** For each bin, the tickets that were matched in it, by their weight then. */
  readonly #matched = new Float64Array(BINS)
  /** For each bin, the tickets that left in it, by their weight when they were created. */
  readonly #left = new Float64Array(BINS)
  /** For each bin, the milliseconds that these spent in it, by their weight then. */
  readonly #partly = new Float64Array(BINS)
  /** By how much the weight grows from a ticket's creation until it reaches each bin. */
  readonly #growth: readonly number[]
  #last = { at: Number.NaN, weight: 1 }

  constructor(fadeMs: number, now: number) {
    this.#fadeMs = fadeMs
    this.#origin = now
    this.#growth = EDGES.map((edge) => Math.exp(edge / fadeMs))
  }

  /** A ticket waits from now on. If it was created before, it was elsewhere until now, and that time does not count. */
  enter(createdAt: number, now: number, tickets = 1): void {
    if (now - createdAt > NEW_MS) this.#count(createdAt, now, binOf(now - createdAt), -tickets)
  }

  /** A ticket waits no longer, or is not looked at for a while. */
  leave(createdAt: number, now: number, isMatched: boolean, tickets = 1): void {
    const bin = binOf(now - createdAt)
    this.#count(createdAt, now, bin, tickets)
    if (isMatched) this.#matched[bin] = at(this.#matched, bin) + tickets * this.#weightNow(now)
  }

  /** What was seen until now. */
  rates(stillWaiting: StillWaiting, now: number): Rates {
    this.#reduce(now)
    const left = Float64Array.from(this.#left)
    const partly = Float64Array.from(this.#partly)
    const weight = this.#weightNow(now)
    for (const [createdAt, tickets] of stillWaiting) {
      const bin = binOf(now - createdAt)
      const began = this.#weightAt(Math.min(createdAt, now))
      left[bin] = at(left, bin) + tickets * began
      partly[bin] = at(partly, bin) + tickets * this.#spent(began, weight, bin)
    }
    const rates = noRates()
    let passed = 0
    for (let bin = BINS - 1; bin >= 0; bin -= 1) {
      const begins = this.#growth[bin] as number
      const whole = passed === 0 ? 0 : this.#fadeMs * ((this.#growth[bin + 1] as number) - begins) * passed
      rates.waited[bin] = Math.max(0, (whole + at(partly, bin)) / weight)
      rates.matched[bin] = at(this.#matched, bin) / weight
      passed += at(left, bin)
      rates.entered[bin] = Math.max(0, (begins * passed) / weight)
    }
    return rates
  }

  #count(createdAt: number, now: number, bin: number, tickets: number): void {
    this.#reduce(now)
    const began = this.#weightAt(createdAt)
    this.#left[bin] = at(this.#left, bin) + tickets * began
    this.#partly[bin] = at(this.#partly, bin) + tickets * this.#spent(began, this.#weightNow(now), bin)
  }

  /** The weighted milliseconds of a ticket in its bin, from its weight at its creation and at the end. */
  #spent(began: number, end: number, bin: number): number {
    return this.#fadeMs * (end - began * (this.#growth[bin] as number))
  }

  /** Many tickets are matched at one time. */
  #weightNow(now: number): number {
    if (this.#last.at !== now) this.#last = { at: now, weight: this.#weightAt(now) }
    return this.#last.weight
  }

  #weightAt(time: number): number {
    return Math.exp((time - this.#origin) / this.#fadeMs)
  }

  #reduce(now: number): void {
    if (now - this.#origin < LARGEST_EXPONENT * this.#fadeMs) return
    const factor = 1 / this.#weightAt(now)
    for (const counts of [this.#matched, this.#left, this.#partly])
      for (let bin = 0; bin < BINS; bin += 1) counts[bin] = at(counts, bin) * factor
    this.#origin = now
    this.#last = { at: now, weight: 1 }
  }
}
