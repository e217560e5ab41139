import { BINS, binOf, EDGES, type Rates } from './life-table.js'

/** Remaining wait of a ticket until a match is found for it, in milliseconds from the time of the call. */
export interface WaitEstimate {
  /** Median of the remaining wait in milliseconds. */
  readonly p50Ms: number
  /** 90th percentile. Undefined if too few tickets have waited that long recently. */
  readonly p90Ms: number | undefined
}

/** Matches per second and ticket, for each bin of waiting time that enough tickets have reached: plain data. */
export type MatchRateCurve = readonly number[]

/** Minimum number of matched tickets for any estimate (our choice). */
const LEAST_MATCHED = 20
/** Minimum number of tickets in a bin for an estimate of its rate (our choice). */
const LEAST_ENTERED = 3
/**
 * Minimum milliseconds that a ticket counts as having waited in the bin in which it was matched, because ticks come at
 * intervals.
 */
const LEAST_WAITED_MS = 10
/**
 * Weight, in tickets, of data from other kinds or earlier times, compared with recent data of the same kind (our
 * choice).
 */
const BORROWED = 10

/**
 * Returns a curve; undefined if there is too little data.
 * @param seen data sets, the closest first. Each further set weighs like `BORROWED` tickets of the sets before it: much
 *   if these have few tickets, and little if they have many.
 */
export function curveOf(seen: readonly Rates[]): MatchRateCurve | undefined {
  if (seen.every(({ tickets }) => tickets < LEAST_MATCHED)) return undefined
  const least = seen.map((rates) => LEAST_ENTERED * meanWeight(rates))
  const shares = sharesOf(seen)
  const curve: number[] = []
  for (let bin = 0; bin < BINS - 1; bin += 1) {
    let [isKnown, matches, waitedMs] = [false, 0, 0]
    for (let nth = 0; nth < seen.length; nth += 1) {
      const { entered, matched, waited } = seen[nth] as Rates
      const share = shares[nth] as number
      isKnown ||= (entered[bin] as number) >= (least[nth] as number)
      matches += share * (matched[bin] as number)
      waitedMs += share * (waited[bin] as number)
    }
    if (!isKnown) break
    const spentMs = Math.max(waitedMs, matches * LEAST_WAITED_MS)
    curve.push(spentMs === 0 ? 0 : rounded((1000 * matches) / spentMs))
  }
  return curve
}

/** Returns the average weight of a matched ticket. It is less than 1 in a burst. */
const meanWeight = ({ tickets, weight }: Rates) => (tickets === 0 ? 1 : weight / tickets)

/** Returns the share of each set of data. Each further set weighs like `BORROWED` tickets of the sets before it. */
function sharesOf(seen: readonly Rates[]): readonly number[] {
  const shares = seen.map(() => 1)
  let further = 0
  for (let nth = seen.length - 1; nth >= 0; nth -= 1) {
    const borrowed = BORROWED * meanWeight(seen[nth] as Rates)
    const share = borrowed / Math.max(borrowed, further)
    for (let after = nth + 1; after < seen.length; after += 1) shares[after] = (shares[after] as number) * share
    further = (seen[nth] as Rates).weight + share * further
  }
  return shares
}

/** Rounds to four significant digits, to keep the JSON for other processes short. */
function rounded(rate: number): number {
  if (rate === 0) return 0
  let unit = 1000
  while (rate * unit >= 10_000) unit /= 10
  while (rate * unit < 1000) unit *= 10
  return Math.round(rate * unit) / unit
}

/**
 * Returns the remaining wait of a ticket that has waited for `waitedMs`; undefined if there is too little data.
 * @param curves one for each queue that the ticket waits in. Their rates add up.
 */
export function estimateOf(curves: readonly MatchRateCurve[], waitedMs: number): WaitEstimate | undefined {
  const p50Ms = untilMatched(curves, waitedMs, Math.LN2)
  return p50Ms === undefined ? undefined : { p50Ms, p90Ms: untilMatched(curves, waitedMs, Math.LN10) }
}

/**
 * Returns the milliseconds until the match rate has added up to `sum`: a share of exp(-sum) of the tickets still waits
 * then. Returns undefined if the curves end earlier.
 */
function untilMatched(curves: readonly MatchRateCurve[], waitedMs: number, sum: number): number | undefined {
  let left = sum * 1000
  let from = Math.max(0, waitedMs)
  let end = 0
  for (const { length } of curves) end = Math.max(end, length)
  for (let bin = binOf(from); bin < end; bin += 1) {
    let rate = 0
    for (const curve of curves) rate += curve[bin] ?? 0
    const to = EDGES[bin + 1] as number
    if (rate * (to - from) >= left) return Math.round(from + left / rate - Math.max(0, waitedMs))
    left -= rate * (to - from)
    from = to
  }
  return undefined
}
