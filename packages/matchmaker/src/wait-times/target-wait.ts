import type { Coordinates } from '@muster/core'
import { middleOf, REGIONS } from './regions.js'
import { p90Of, RecentWaits } from './wait-cell.js'
import { addRates, noRates, type Rates } from './life-table.js'

/** Observations of a region since the last step. */
export interface SeenLately {
  /** Milliseconds since the last step. */
  readonly elapsedMs: number
  /** Recent 90th percentile of the wait. Undefined if there were too few tickets. */
  readonly p90Ms: number | undefined
  /** Recent number of tickets that arrive in `memoryMs`. */
  readonly arrivals: number
  /** Milliseconds after which an observation has faded to 1/e. */
  readonly memoryMs: number
}

/**
 * Minimum head start, in target waits (our choice). A head start is added to the wait of a ticket before its limits are
 * chosen. With the minimum, limits are the strictest at first.
 */
const LEAST = -1
/** Initial head start in target waits, until there is data (our choice). */
const AT_FIRST = 1
/** Maximum measured wait that counts, in target waits. So an uncertain measurement does not open limits completely. */
const LONGEST = 3
/** Growth of the head start, in target waits, when arrivals fall to 1/e (measured). */
const PER_ARRIVALS = 0.8

/**
 * Controls the head start of a region. An integral term sums up the error, i.e. the measured p90 less the target. A
 * head start that is 1 s longer shortens waits by about 1 s, so the integral settles as fast as measuring allows. A
 * feed-forward term changes the head start as soon as arrivals change, before any player has waited too long. It need
 * not be exact, because the integral corrects it.
 */
export class HeadStart {
  /** Head start in milliseconds. If negative, tickets keep the strictest limits for that long. */
  ms: number
  readonly #targetMs: number
  readonly #mostMs: number
  #ageMs = 0
  #arrivals: number | undefined

  /** @param mostMs the head start in milliseconds at which limits begin at their loosest. */
  constructor(targetMs: number, mostMs: number, ms = AT_FIRST * targetMs) {
    this.#targetMs = targetMs
    this.#mostMs = mostMs
    this.ms = ms
  }

  step({ elapsedMs, p90Ms = this.#targetMs, arrivals, memoryMs }: SeenLately): void {
    this.#ageMs += elapsedMs
    const errorMs = Math.min(p90Ms, LONGEST * this.#targetMs) - this.#targetMs
    // At first only recent observations exist, so the measured wait follows changes faster than it does later.
    const delayMs = this.#targetMs + Math.min(memoryMs, this.#ageMs / 2)
    const foreseen = this.#foreseen(arrivals)
    // At first, the number of arrivals is uncertain, so it is not used.
    const foreseenMs = this.#ageMs < memoryMs ? 0 : foreseen * PER_ARRIVALS * this.#targetMs
    const next = this.ms + errorMs * Math.min(1, elapsedMs / delayMs) + foreseenMs
    this.ms = Math.min(this.#mostMs, Math.max(LEAST * this.#targetMs, next))
  }

  /** Returns the logarithm of the decrease of arrivals. A change by one or two tickets has little effect. */
  #foreseen(arrivals: number): number {
    const now = Math.log(arrivals + 1)
    const before = this.#arrivals ?? now
    this.#arrivals = now
    return before - now
  }
}

/**
 * Adjusts per region how far the limits of new tickets are relaxed already (their head start), so that the waits of
 * recent tickets stay near the target.
 */
export interface TargetWaitController {
  /** Returns the counter of the waits of a region's tickets. */
  waitsOf(region: number, now: number): RecentWaits
  /** True stops learning and steering while no matches are made for reasons other than limits. */
  setHeld(isHeld: boolean, now: number): void
  /** Returns new head starts for each region if they are due, otherwise undefined. */
  renewed(now: number): Float64Array | undefined
  /** Returns the current state. */
  state(): TargetWaitState
}

/** The state of limits that follow a queue's target wait. */
export interface TargetWaitState {
  readonly targetWaitMs: number
  /** Head start in milliseconds of a ticket in a region without recent tickets. */
  readonly headStartMs: number
  /** Recent 90th percentile of the wait in milliseconds, over all regions. Undefined if there were too few tickets. */
  readonly recentP90Ms: number | undefined
  readonly regions: readonly RegionHeadStart[]
}

export interface RegionHeadStart {
  /** The middle of the region; undefined for tickets without a location. */
  readonly region: Coordinates | undefined
  /**
   * Milliseconds by which the limits of the region's tickets are ahead of their wait; negative if the limits are
   * behind.
   */
  readonly headStartMs: number
  readonly recentP90Ms: number | undefined
}

export interface TargetWaitOptions {
  readonly targetWaitMs: number
  /** The head start in milliseconds at which limits begin at their loosest. */
  readonly mostMs: number
}

/** Minimum milliseconds between two changes. More frequent changes would have no new data. */
const EVERY_MS = 1000
/** Target waits after which an observation has faded to 1/e (our choice). */
const MEMORY = 3
/** Weight, in tickets, of the data from other regions. It matters in a region where few tickets arrive. */
const BORROWED = 10
/** Minimum number of tickets for a p90: matched tickets, or tickets that have waited for a target wait. */
const LEAST_KNOWN = 5

interface Region {
  readonly waits: RecentWaits
  readonly headStart: HeadStart
  p90Ms: number | undefined
}

export function createTargetWaitController({ targetWaitMs, mostMs }: TargetWaitOptions): TargetWaitController {
  const memoryMs = MEMORY * targetWaitMs
  const regions = new Map<number, Region>()
  const all = { headStart: new HeadStart(targetWaitMs, mostMs), p90Ms: undefined as number | undefined }
  let isHeldNow = false
  let last: number | undefined

  const p90In = (rates: Rates) => {
    const [matched, waitedMs] = [sumOf(rates.matched), sumOf(rates.waited)]
    const isKnown = matched >= LEAST_KNOWN || waitedMs >= LEAST_KNOWN * targetWaitMs
    return isKnown ? p90Of(rates, LONGEST * targetWaitMs) : undefined
  }
  const step = (elapsedMs: number, now: number) => {
    const seen = Array.from(regions.values(), (region) => ({ region, rates: region.waits.rates(now) }))
    const together = noRates()
    for (const { rates } of seen) addRates(together, rates)
    const matched = sumOf(together.matched)
    const borrowed = Math.min(1, BORROWED / Math.max(BORROWED, matched))
    let arrived = 0
    for (const { region, rates } of seen) {
      addRates(rates, together, borrowed)
      region.p90Ms = p90In(rates)
      const arrivals = region.waits.arrivals(now)
      region.headStart.step({ elapsedMs, p90Ms: region.p90Ms, arrivals, memoryMs })
      arrived += arrivals
    }
    all.p90Ms = p90In(together)
    all.headStart.step({ elapsedMs, p90Ms: all.p90Ms, arrivals: arrived, memoryMs })
  }

  return {
    waitsOf: (number, now) => {
      let region = regions.get(number)
      if (region === undefined) {
        const headStart = new HeadStart(targetWaitMs, mostMs, all.headStart.ms)
        regions.set(number, (region = { waits: new RecentWaits(memoryMs, now), headStart, p90Ms: undefined }))
        region.waits.setHeld(isHeldNow, now)
      }
      return region.waits
    },
    setHeld: (isHeld, now) => {
      isHeldNow = isHeld
      for (const { waits } of regions.values()) waits.setHeld(isHeld, now)
    },
    renewed: (now) => {
      const elapsedMs = last === undefined ? EVERY_MS : now - last
      if (elapsedMs < EVERY_MS) return undefined
      last = now
      if (!isHeldNow) step(elapsedMs, now)
      const headStarts = new Float64Array(REGIONS + 1).fill(all.headStart.ms)
      for (const [number, { headStart }] of regions) headStarts[number] = headStart.ms
      return headStarts
    },
    state: () => ({
      targetWaitMs,
      headStartMs: Math.round(all.headStart.ms),
      recentP90Ms: rounded(all.p90Ms),
      regions: Array.from(regions, ([number, { headStart, p90Ms }]) => ({
        region: number === REGIONS ? undefined : middleOf(number),
        headStartMs: Math.round(headStart.ms),
        recentP90Ms: rounded(p90Ms),
      })),
    }),
  }
}

const rounded = (ms: number | undefined) => ms && Math.round(ms)

function sumOf(values: Float64Array): number {
  let sum = 0
  for (const value of values) sum += value
  return sum
}
