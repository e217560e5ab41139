import type { Coordinates } from '@muster/core'
import { type Kind, kindOf, regionIn, regionOfKind, sizeOfKind } from './regions.js'
import {
  createTargetWaitController,
  type TargetWaitController,
  type TargetWaitOptions,
  type TargetWaitState,
} from './target-wait.js'
import { WaitCell } from './wait-cell.js'
import { addRates, clearRates } from './life-table.js'
import type { MatchRateCurve } from './wait-estimate.js'
import { WaitTally } from './wait-tally.js'

/**
 * Match rates of a queue's tickets over their waiting time. The methods return undefined if there is too little data.
 */
export interface Curves {
  /** Returns the curve of a kind of tickets. If that has no data: the curve of its region, or else of all tickets. */
  ofKind(kind: Kind): MatchRateCurve | undefined
  /** Returns the curve of all tickets of a location. Without a location or data for it: the curve of all tickets. */
  ofPlace(place?: Coordinates): MatchRateCurve | undefined
}

/** The learned curves of a queue, as plain data for other processes. */
export interface LearnedCurves {
  /** Curve of all tickets; null if there is too little data. */
  readonly all: MatchRateCurve | null
  /** Curves by the number of the region. */
  readonly regions: Readonly<Record<number, MatchRateCurve>>
  readonly kinds: Readonly<Record<number, MatchRateCurve>>
}

/** The learned curves of a queue at the time of a survey, which counts waiting players for operators. */
interface WaitSurvey extends Curves {
  learned(): LearnedCurves
}

/** Returns the curves that another process has learned. */
export const curvesFrom = ({ all, regions, kinds }: LearnedCurves): Curves => {
  const inRegion = (region: number) => regions[region] ?? all ?? undefined
  return {
    ofKind: (kind) => kinds[kindOf(kind)] ?? inRegion(regionIn(kind.place)),
    ofPlace: (place) => (place === undefined ? (all ?? undefined) : inRegion(regionIn(place))),
  }
}

function known(
  keys: Iterable<number>,
  curve: (key: number) => MatchRateCurve | undefined,
): Record<number, MatchRateCurve> {
  const curves: Record<number, MatchRateCurve> = {}
  for (const key of keys) {
    const found = curve(key)
    if (found !== undefined) curves[key] = found
  }
  return curves
}

/**
 * The tally of several kinds of tickets together.
 * @param isLonger true to include the data over a longer time.
 */
class CombinedTally extends WaitTally {
  readonly cells = new Set<WaitCell>()

  constructor(isLonger = false) {
    super((now, sum) => {
      clearRates(sum.lately)
      clearRates(sum.longer)
      for (const { own } of this.cells) {
        const { lately, longer } = own.observed(now)
        addRates(sum.lately, lately)
        if (isLonger) addRates(sum.longer, longer)
      }
    })
  }
}

function togetherIn(those: Map<number, CombinedTally>, key: number): CombinedTally {
  let found = those.get(key)
  if (found === undefined) those.set(key, (found = new CombinedTally()))
  return found
}

/** Milliseconds between two searches for cells whose data has faded. */
const PRUNE_MS = 60_000

const NOTHING: LearnedCurves = { all: null, regions: {}, kinds: {} }

/**
 * Statistics of waits in a queue, from its own tickets. There are at most `KINDS` cells, whatever locations players
 * claim.
 */
export interface QueueWaits {
  /** Returns the cell in which tickets of this kind are counted. */
  cellOf(kind: Kind, now: number): WaitCell
  /** Returns the data until now or shortly before; see `WaitTally`. */
  survey(now: number): WaitSurvey
  /** True stops learning while the queue is paused, because waits then do not end. */
  setPaused(isPaused: boolean, now: number): void
  /**
   * True stops learning while matches are found but no servers are available. Waits then say nothing about limits.
   * @param isShort true while servers are short
   */
  setShort(isShort: boolean, now: number): void
  /** Sets how limits are steered; undefined for not at all. Equal options keep the learned data. */
  aim(options: TargetWaitOptions | undefined): void
  /** Returns new head starts for each region if they are due, otherwise undefined; see `Pool`. */
  headStarts(now: number): Float64Array | undefined
  /** Returns the state of the steering; undefined if limits are not steered. */
  steering(): TargetWaitState | undefined
  /** Returns the number of waiting tickets and players. */
  count(): { readonly tickets: number; readonly players: number }
}

export function createQueueWaits(): QueueWaits {
  const cells = new Map<number, WaitCell>()
  let [pausedNow, shortNow] = [false, false]
  let prunedAt = -Infinity
  let aimed: TargetWaitOptions | undefined
  let steering: TargetWaitController | undefined

  const all = new CombinedTally(true)
  const regions = new Map<number, CombinedTally>()
  const sizes = new Map<number, CombinedTally>()
  /** Deletes the kinds and regions whose data has faded. */
  const prune = (now: number) => {
    if (now - prunedAt < PRUNE_MS) return
    prunedAt = now
    for (const [kind, cell] of cells) {
      if (!cell.isFaded(now)) continue
      cells.delete(kind)
      for (const together of sharedBy(kind)) together.cells.delete(cell)
    }
    for (const [region, { cells: left }] of regions) if (left.size === 0) regions.delete(region)
  }
  /** Returns the tallies that count the tickets of a kind together with others. */
  const sharedBy = (kind: number) => [togetherIn(regions, regionOfKind(kind)), togetherIn(sizes, sizeOfKind(kind)), all]

  const ofAll = (now: number) => all.curve(now, ({ lately, longer }) => [lately, longer])
  const ofRegion = (region: number, now: number) =>
    regions.get(region)?.curve(now, ({ lately }) => [lately, all.observed(now).lately, all.observed(now).longer])
  const inRegion = (region: number, now: number) => (regions.has(region) ? ofRegion(region, now) : ofAll(now))
  const ofKind = (kind: number, now: number) =>
    cells.get(kind)?.own.curve(now, ({ lately, longer }) => {
      const region = togetherIn(regions, regionOfKind(kind)).observed(now)
      const size = togetherIn(sizes, sizeOfKind(kind)).observed(now)
      return [lately, longer, region.lately, size.lately, all.observed(now).longer]
    })

  /**
   * Returns the steering for the current options. The first call creates it, because only calls know the current time.
   */
  const steeringAt = (now: number): TargetWaitController | undefined => {
    if (aimed === undefined || steering !== undefined) return steering
    steering = createTargetWaitController(aimed)
    steering.setHeld(pausedNow || shortNow, now)
    for (const [kind, cell] of cells) cell.countIn(steering.waitsOf(regionOfKind(kind), now), now)
    return steering
  }

  return {
    cellOf: (kind, now) => {
      const number = kindOf(kind)
      let cell = cells.get(number)
      const steered = steeringAt(now)
      if (cell === undefined) {
        const shared = sharedBy(number)
        cells.set(number, (cell = new WaitCell(now, pausedNow, shared)))
        for (const together of shared) together.cells.add(cell)
        cell.countIn(steered?.waitsOf(regionOfKind(number), now), now)
      }
      return cell
    },

    survey: (now) => {
      prune(now)
      if (pausedNow) return { ...curvesFrom(NOTHING), learned: () => NOTHING }
      return {
        ofKind: (kind) => {
          const number = kindOf(kind)
          return cells.has(number) ? ofKind(number, now) : inRegion(regionIn(kind.place), now)
        },
        ofPlace: (place) => (place === undefined ? ofAll(now) : inRegion(regionIn(place), now)),
        learned: () => ({
          all: ofAll(now) ?? null,
          regions: known(regions.keys(), (region) => ofRegion(region, now)),
          kinds: known(cells.keys(), (kind) => ofKind(kind, now)),
        }),
      }
    },

    setPaused: (isPaused, now) => {
      pausedNow = isPaused
      steering?.setHeld(pausedNow || shortNow, now)
      for (const cell of cells.values()) {
        cell.setPaused(isPaused, now)
        cell.own.forget()
      }
      for (const tally of [all, ...regions.values(), ...sizes.values()]) tally.forget()
    },

    setShort: (isShort, now) => {
      if (shortNow === isShort) return
      shortNow = isShort
      steering?.setHeld(pausedNow || shortNow, now)
    },

    aim: (options) => {
      if (options?.targetWaitMs === aimed?.targetWaitMs && options?.mostMs === aimed?.mostMs) return
      aimed = options
      steering = undefined
      for (const cell of cells.values()) cell.countIn(undefined, 0)
    },
    headStarts: (now) => steeringAt(now)?.renewed(now),
    steering: () => steering?.state(),

    count: () => all.waiting,
  }
}
