// pure: how long tickets wait, from the rate at which they are matched
import { BINS, binOf, EDGES } from './ages.js'
import { addRates, noRates, type Rates } from './life-table.js'

/** How long a ticket waits until a match is found for it, in milliseconds, from when this is asked. */
export interface WaitEstimate {
  /** Half of such tickets wait no longer. */
  readonly p50Ms: number
  /** Nine of ten wait no longer. Undefined: unknown, because too few have waited so long lately. */
  readonly p90Ms: number | undefined
}

/**
 * The rate at which tickets are matched, per second, for each bin of waiting time: plain data, for JSON. It ends where
 * too few have waited as long.
 */
export type Curve = readonly number[]

/** Tickets that must have been matched for anything to be known (our choice). */
const LEAST_MATCHED = 20
/** Tickets that must have come to a bin for its rate to be known (our choice). */
const LEAST_ENTERED = 3
/** Milliseconds for which a ticket has waited in the bin in which it was matched, at least: ticks come at intervals. */
const LEAST_WAITED_MS = 10
/** Tickets for which all that was seen elsewhere, or before, counts beside what was seen here lately (our choice). */
const BORROWED = 10

/**
 * Undefined where too little was seen.
 * @param seen the closest comes first. Each further one counts beside those before it like `BORROWED` tickets: much
 *   where these are few, and little where they are many.
 */
export function curveOf(seen: readonly Rates[]): Curve | undefined {
  if (seen.every((rates) => ticketsIn(rates) < LEAST_MATCHED)) return undefined
  const { matched, waited } = seen.reduceRight((further, rates) => joined(rates, further))
  const curve: number[] = []
  for (let bin = 0; bin < BINS - 1; bin += 1) {
    if (seen.every(({ entered }) => (entered[bin] as number) < LEAST_ENTERED)) break
    const matches = matched[bin] as number
    const spentMs = Math.max(waited[bin] as number, matches * LEAST_WAITED_MS)
    curve.push(spentMs === 0 ? 0 : rounded((1000 * matches) / spentMs))
  }
  return curve
}

const ticketsIn = ({ matched }: Rates) => {
  let tickets = 0
  for (const count of matched) tickets += count
  return tickets
}

function joined(rates: Rates, further: Rates): Rates {
  const sum = noRates()
  addRates(sum, rates)
  addRates(sum, further, Math.min(1, BORROWED / Math.max(BORROWED, ticketsIn(further))))
  return sum
}

/** Four significant digits: the text is short where it is sent to other processes. */
const rounded = (rate: number) => Number(rate.toPrecision(4))

/**
 * How much longer a ticket waits that has waited for so many milliseconds; undefined where too little was seen.
 * @param curves one for each queue that it waits in: the rates add up.
 */
export function estimateOf(curves: readonly Curve[], waitedMs: number): WaitEstimate | undefined {
  const p50Ms = untilMatched(curves, waitedMs, Math.LN2)
  return p50Ms === undefined ? undefined : { p50Ms, p90Ms: untilMatched(curves, waitedMs, Math.LN10) }
}

/**
 * Milliseconds until the rate has added up to so much: of many tickets, exp(-sum) still wait then. Undefined if the
 * curves end before.
 */
function untilMatched(curves: readonly Curve[], waitedMs: number, sum: number): number | undefined {
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
