/**
 * The bins of waiting time, in seconds: below `upTo`, each bin is `wide` (our choice). They begin at round times,
 * because rules relax at round times and many tickets are matched then.
 */
const WIDTHS: readonly (readonly [upTo: number, wide: number])[] = [
  [1, 0.1],
  [5, 0.25],
  [20, 0.5],
  [60, 1],
  [180, 5],
  [600, 15],
  [3600, 60],
  [14_400, 600],
]

interface BinRange {
  readonly toMs: number
  readonly widthMs: number
  readonly fromMs: number
  readonly firstBin: number
}

const SPANS: readonly BinRange[] = WIDTHS.reduce<BinRange[]>((spans, [upTo, wide]) => {
  const last = spans.at(-1)
  const fromMs = last?.toMs ?? 0
  const firstBin = last === undefined ? 0 : last.firstBin + (last.toMs - last.fromMs) / last.widthMs
  return [...spans, { toMs: upTo * 1000, widthMs: wide * 1000, fromMs, firstBin }]
}, [])

/** Waits in milliseconds at which the bins begin. The last bin has no end. */
export const EDGES: readonly number[] = [
  ...SPANS.flatMap(({ fromMs, toMs, widthMs }) =>
    Array.from({ length: (toMs - fromMs) / widthMs }, (_, bin) => fromMs + bin * widthMs),
  ),
  (SPANS.at(-1) as BinRange).toMs,
]

export const BINS = EDGES.length

/** Returns the bin of a waiting time in milliseconds. */
export function binOf(waitedMs: number): number {
  for (const { toMs, fromMs, widthMs, firstBin } of SPANS)
    if (waitedMs < toMs) return firstBin + Math.max(0, Math.floor((waitedMs - fromMs) / widthMs))
  return BINS - 1
}

/** The events in each bin of waiting time. Older events weigh less, and so do tickets of a burst. */
export interface Rates {
  /** Number of bins up to the last one with an event. All further bins are 0. */
  bins: number
  /** Number of matched tickets in all bins, without weights. */
  tickets: number
  /** The sum of `matched`. */
  weight: number
  /** Number of tickets that were matched in each bin. */
  readonly matched: Float64Array
  /** Number of tickets that reached each bin. */
  readonly entered: Float64Array
  /** Milliseconds that all tickets spent in each bin, in total. */
  readonly waited: Float64Array
}

export const noRates = (): Rates => ({
  bins: 0,
  tickets: 0,
  weight: 0,
  matched: new Float64Array(BINS),
  entered: new Float64Array(BINS),
  waited: new Float64Array(BINS),
})

/** Resets all values to 0. */
export function clearRates(rates: Rates): void {
  for (const values of [rates.matched, rates.entered, rates.waited]) values.fill(0, 0, rates.bins)
  rates.bins = rates.tickets = rates.weight = 0
}

/** Adds the second argument times `share` to the first. */
export function addRates(to: Rates, { bins, tickets, weight, matched, entered, waited }: Rates, share = 1): void {
  to.bins = Math.max(to.bins, bins)
  to.tickets += share * tickets
  to.weight += share * weight
  for (let bin = 0; bin < bins; bin += 1) {
    to.matched[bin] = at(to.matched, bin) + share * at(matched, bin)
    to.entered[bin] = at(to.entered, bin) + share * at(entered, bin)
    to.waited[bin] = at(to.waited, bin) + share * at(waited, bin)
  }
}

const at = (values: Float64Array, nth: number) => values[nth] as number
const add = (values: Float64Array, nth: number, more: number) => {
  values[nth] = at(values, nth) + more
}

/** Waiting tickets by creation time in epoch milliseconds. */
type StillWaiting = Iterable<readonly [createdAt: number, tickets: number]>

/**
 * Maximum exponent of weights. Weights grow with time, so that older data fades without being touched. Beyond this
 * exponent, all are scaled down, so that they do not overflow.
 */
const LARGEST_EXPONENT = 60
/** Maximum age in milliseconds of a ticket that counts as new. */
const NEW_MS = 50

/** Positions of the counts of a bin, which are adjacent; see `LifeTable`. */
const [MATCHED, LEFT, PARTLY, COUNTS] = [0, 1, 2, 3] as const
/** Buffer in which `LifeTable.rates` adds the waiting tickets. */
const scratch = new Float64Array(BINS * COUNTS)

const growths = new Map<number, Float64Array>()
/** Maximum exponent of a growth: e to the power of 710 is Infinity. A longer wait has faded to nothing anyway. */
const MOST_GROWTH = 700
/**
 * Returns the growth of weights from a ticket's creation until it reaches each bin. Tables with the same fading share
 * it.
 */
function growthOf(fadeMs: number): Float64Array {
  let growth = growths.get(fadeMs)
  if (growth === undefined)
    growths.set(fadeMs, (growth = Float64Array.from(EDGES, (edge) => Math.exp(Math.min(MOST_GROWTH, edge / fadeMs)))))
  return growth
}

/**
 * A life table: for each waiting time, how many tickets were matched then, and how long tickets have waited there.
 * Cancelled and waiting tickets count for as long as they waited. Data of `fadeMs` ago weighs 1/e. Each moment of
 * waiting has its own age, so a change of the load shows at all waiting times immediately.
 */
export class LifeTable {
  readonly #fadeMs: number
  /** Epoch milliseconds at which the weight is 1. */
  #origin: number
  /** Number of matched tickets, each by its weight at the time of the match. */
  #tickets = 0
  /**
   * For each bin, `MATCHED`: matched tickets times their given weights. `LEFT`: tickets that left the queue in this
   * bin, by their weight at creation. `PARTLY`: milliseconds that these tickets spent in the bin, by their weight at
   * that time.
   */
  readonly #counts = new Float64Array(BINS * COUNTS)
  /** Number of bins up to the last one with a count. */
  #bins = 0
  readonly #growth: Float64Array
  #lastAt = Number.NaN
  #lastWeight = 1

  constructor(fadeMs: number, now: number) {
    this.#fadeMs = fadeMs
    this.#origin = now
    this.#growth = growthOf(fadeMs)
  }

  /**
   * Starts the wait of a ticket. If the ticket was created earlier, it waited in another queue or process until now,
   * which does not count.
   */
  enter(createdAt: number, now: number, tickets = 1): void {
    if (now - createdAt > NEW_MS) this.#count(createdAt, now, binOf(now - createdAt), -tickets)
  }

  /** Ends the wait of a ticket that left the queue, or that is not considered for some time. */
  leave(createdAt: number, now: number, isMatched: boolean, tickets = 1): void {
    const bin = binOf(now - createdAt)
    this.#count(createdAt, now, bin, tickets)
    if (!isMatched) return
    const weight = this.#weightNow(now)
    this.#tickets += weight
    add(this.#counts, COUNTS * bin + MATCHED, tickets * weight)
  }

  /** Returns the data until now. @param into overwritten and returned, for frequent callers. */
  rates(stillWaiting: StillWaiting, now: number, into: Rates = noRates()): Rates {
    this.#reduce(now)
    const weight = this.#weightNow(now)
    const bins = this.#withWaiting(stillWaiting, now, weight)
    clearRates(into)
    into.bins = bins
    into.tickets = this.#tickets / weight
    let passed = 0
    for (let bin = bins - 1; bin >= 0; bin -= 1) {
      const begins = at(this.#growth, bin)
      const whole = passed === 0 ? 0 : this.#fadeMs * (at(this.#growth, bin + 1) - begins) * passed
      into.waited[bin] = Math.max(0, (whole + at(scratch, COUNTS * bin + PARTLY)) / weight)
      const matched = at(scratch, COUNTS * bin + MATCHED) / weight
      into.matched[bin] = matched
      into.weight += matched
      passed += at(scratch, COUNTS * bin + LEFT)
      into.entered[bin] = Math.max(0, (begins * passed) / weight)
    }
    return into
  }

  /** Writes the counts into `scratch`. Waiting tickets count as if they left now. Returns the number of bins. */
  #withWaiting(stillWaiting: StillWaiting, now: number, weight: number): number {
    let bins = this.#bins
    for (let nth = 0; nth < COUNTS * bins; nth += 1) scratch[nth] = at(this.#counts, nth)
    scratch.fill(0, COUNTS * bins)
    for (const [createdAt, tickets] of stillWaiting) {
      const bin = binOf(now - createdAt)
      const began = this.#weightAt(Math.min(createdAt, now))
      add(scratch, COUNTS * bin + LEFT, tickets * began)
      add(scratch, COUNTS * bin + PARTLY, tickets * this.#spent(began, weight, bin))
      if (bin >= bins) bins = bin + 1
    }
    return bins
  }

  #count(createdAt: number, now: number, bin: number, tickets: number): void {
    this.#reduce(now)
    const began = this.#weightAt(createdAt)
    add(this.#counts, COUNTS * bin + LEFT, tickets * began)
    add(this.#counts, COUNTS * bin + PARTLY, tickets * this.#spent(began, this.#weightNow(now), bin))
    if (bin >= this.#bins) this.#bins = bin + 1
  }

  /** Returns the weighted milliseconds of a ticket in its bin, from its weights at its creation and at the end. */
  #spent(began: number, end: number, bin: number): number {
    return this.#fadeMs * (end - began * at(this.#growth, bin))
  }

  /** Returns the weight of the present. It is cached, because many tickets are matched at one time. */
  #weightNow(now: number): number {
    if (this.#lastAt !== now) {
      this.#lastAt = now
      this.#lastWeight = this.#weightAt(now)
    }
    return this.#lastWeight
  }

  #weightAt(time: number): number {
    return Math.exp((time - this.#origin) / this.#fadeMs)
  }

  #reduce(now: number): void {
    if (now - this.#origin < LARGEST_EXPONENT * this.#fadeMs) return
    const factor = 1 / this.#weightAt(now)
    this.#tickets *= factor
    for (let nth = 0; nth < COUNTS * this.#bins; nth += 1) this.#counts[nth] = at(this.#counts, nth) * factor
    this.#origin = now
    this.#lastAt = now
    this.#lastWeight = 1
  }
}
