import type { Coordinates } from '@muster/core'
import { middleOf, REGIONS } from './regions.js'
import { p90Of, RecentWaits } from './wait-cell.js'
import { addRates, noRates, type Rates } from './wait-curve.js'

/** What was seen of a region since the last step. */
export interface SeenLately {
  /** Milliseconds since the last step. */
  readonly elapsedMs: number
  /** What nine of ten tickets wait at most, as far as is known lately. Undefined: too few came. */
  readonly p90Ms: number | undefined
  /** Tickets that come in `memoryMs`, as far as is known lately. */
  readonly arrivals: number
  /** Milliseconds for which what is seen is remembered. */
  readonly memoryMs: number
}

/** A head start lies between these, in target waits (our choice): the strictest limits at first, or the loosest. */
const LEAST = -1
/** What tickets have until something is known, in target waits (our choice). */
const AT_FIRST = 1
/** A measured wait counts as at most this many target waits: one that is hardly known must not throw limits open. */
const LONGEST = 3
/** By how many target waits the head start grows when so few come that their number is divided by e (measured). */
const PER_ARRIVALS = 0.8

/**
 * Steers by two things. The error, what nine of ten waited against what they should, is integrated: a head start that
 * is a second longer makes tickets wait about a second less, so the integral settles as fast as the delay of what is
 * seen permits. And when more or fewer tickets come, the head start changes at once, before anybody has waited too
 * long: that need not be exact, since the integral corrects it.
 */
export class HeadStart {
  /** Milliseconds; negative if tickets stay at the strictest limits for that time. */
  ms: number
  readonly #targetMs: number
  readonly #mostMs: number
  #ageMs = 0
  #arrivals: number | undefined

  /** @param mostMs with this head start, limits are at their loosest at once. */
  constructor(targetMs: number, mostMs: number, ms = AT_FIRST * targetMs) {
    this.#targetMs = targetMs
    this.#mostMs = mostMs
    this.ms = ms
  }

  step({ elapsedMs, p90Ms = this.#targetMs, arrivals, memoryMs }: SeenLately): void {
    this.#ageMs += elapsedMs
    const errorMs = Math.min(p90Ms, LONGEST * this.#targetMs) - this.#targetMs
    // At first little is remembered, so that what is seen is young.
    const delayMs = this.#targetMs + Math.min(memoryMs, this.#ageMs / 2)
    const foreseen = this.#foreseen(arrivals)
    // At first, the number that comes is hardly known.
    const foreseenMs = this.#ageMs < memoryMs ? 0 : foreseen * PER_ARRIVALS * this.#targetMs
    const next = this.ms + errorMs * Math.min(1, elapsedMs / delayMs) + foreseenMs
    this.ms = Math.min(this.#mostMs, Math.max(LEAST * this.#targetMs, next))
  }

  /** By how much fewer tickets come than before, as a logarithm. One more or less of a few is no news. */
  #foreseen(arrivals: number): number {
    const now = Math.log(arrivals + 1)
    const before = this.#arrivals ?? now
    this.#arrivals = now
    return before - now
  }
}

/** Steers how far ahead of their wait tickets are, region by region, so that they wait as long as wanted. */
export interface Steering {
  /** The waits of a region's tickets are counted here. */
  waitsOf(region: number, now: number): RecentWaits
  /** While no matches are made, whatever the limits are, nothing is learned and nothing changes. */
  setHeld(isHeld: boolean, now: number): void
  /** The head start of each region, if it is time for new ones. */
  renewed(now: number): Float64Array | undefined
  /** How it goes. */
  state(): TargetWaitState
}

/** How limits follow a queue's target wait. */
export interface TargetWaitState {
  readonly targetWaitMs: number
  /** Milliseconds by which a ticket of a region where nobody came lately is ahead of its wait. */
  readonly headStartMs: number
  /** What nine of ten tickets wait at most, of all regions together. Undefined while too few came. */
  readonly recentP90Ms: number | undefined
  readonly regions: readonly RegionHeadStart[]
}

export interface RegionHeadStart {
  /** The middle of the region; undefined for tickets without a place. */
  readonly region: Coordinates | undefined
  /** Milliseconds by which its tickets are ahead of their wait, or behind it where negative. */
  readonly headStartMs: number
  readonly recentP90Ms: number | undefined
}

export interface SteeringOptions {
  readonly targetWaitMs: number
  /** With this head start, limits are at their loosest at once. */
  readonly mostMs: number
}

/** Milliseconds between two changes, at least: more often would tell nothing new. */
const EVERY_MS = 1000
/** An observation of this many target waits ago weighs 1/e (our choice). */
const MEMORY = 3
/** Tickets for which all that was seen elsewhere counts in a region: it decides where hardly anybody comes. */
const BORROWED = 10
/** A p90 is known once this many tickets were matched, or have waited for a target wait. */
const LEAST_KNOWN = 5

interface Region {
  readonly waits: RecentWaits
  readonly headStart: HeadStart
  p90Ms: number | undefined
}

export function createSteering({ targetWaitMs, mostMs }: SteeringOptions): Steering {
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
