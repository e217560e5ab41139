import type { Coordinates } from '@muster/core'
import { type Kind, kindOf, regionIn, regionOfKind, sizeOfKind } from './regions.js'
import { createSteering, type Steering, type SteeringOptions, type TargetWaitState } from './target-wait.js'
import { WaitCell } from './wait-cell.js'
import { addRates, clearRates, type Curve } from './wait-curve.js'
import { WaitTally } from './wait-tally.js'

/** Says how long tickets of a queue wait. Undefined where too little was seen. */
export interface Curves {
  /** Of a kind of tickets; where there is none of it, of its region, or of all. */
  ofKind(kind: Kind): Curve | undefined
  /** Of all tickets of a place; of all, if there is none of it or it is not given. */
  ofPlace(place?: Coordinates): Curve | undefined
}

/** What a queue has learned, as plain data for other processes. */
export interface LearnedCurves {
  /** Null where too little was seen. */
  readonly all: Curve | null
  /** By the numbers of regions and kinds. */
  readonly regions: Readonly<Record<number, Curve>>
  readonly kinds: Readonly<Record<number, Curve>>
}

/** What a queue has learned. It says what is known at the time of the survey. */
interface Survey extends Curves {
  learned(): LearnedCurves
}

/** The curves that another process has learned. */
export const curvesFrom = ({ all, regions, kinds }: LearnedCurves): Curves => {
  const inRegion = (region: number) => regions[region] ?? all ?? undefined
  return {
    ofKind: (kind) => kinds[kindOf(kind)] ?? inRegion(regionIn(kind.place)),
    ofPlace: (place) => (place === undefined ? (all ?? undefined) : inRegion(regionIn(place))),
  }
}

function known(keys: Iterable<number>, curve: (key: number) => Curve | undefined): Record<number, Curve> {
  const curves: Record<number, Curve> = {}
  for (const key of keys) {
    const found = curve(key)
    if (found !== undefined) curves[key] = found
  }
  return curves
}

/** What the tickets of several kinds did; over a longer time only where that is asked for. */
class Together extends WaitTally {
  readonly cells = new Set<WaitCell>()

  constructor(isLonger = false) {
    super((now, sum) => {
      clearRates(sum.lately)
      clearRates(sum.longer)
      for (const { own } of this.cells) {
        const { lately, longer } = own.seen(now)
        addRates(sum.lately, lately)
        if (isLonger) addRates(sum.longer, longer)
      }
    })
  }
}

function togetherIn(those: Map<number, Together>, key: number): Together {
  let found = those.get(key)
  if (found === undefined) those.set(key, (found = new Together()))
  return found
}

/** Milliseconds between two searches for what has faded. */
const PRUNE_MS = 60_000

const NOTHING: LearnedCurves = { all: null, regions: {}, kinds: {} }

/** How long tickets wait in a queue, learned from those that do. It has at most `KINDS` cells, whatever is claimed. */
export interface QueueWaits {
  /** The cell in which tickets of this kind are counted. */
  cellOf(kind: Kind, now: number): WaitCell
  /** What was learned until now, or shortly before: see `WaitTally`. */
  survey(now: number): Survey
  /** While the queue makes no matches, nothing is learned, and nobody knows how long tickets wait. */
  setPaused(isPaused: boolean, now: number): void
  /** Whether matches are found, and there are no servers for them. Waits then tell nothing about limits. */
  setShort(isShort: boolean, now: number): void
  /** Limits are to be steered so, or not at all. What was learned is kept if it is as before. */
  aim(options: SteeringOptions | undefined): void
  /** The head start of each region, if it is time for new ones: see `Pool`. */
  headStarts(now: number): Float64Array | undefined
  /** Undefined where limits are not steered. */
  steering(): TargetWaitState | undefined
  /** How many wait now. */
  count(): { readonly tickets: number; readonly players: number }
}

export function createQueueWaits(): QueueWaits {
  const cells = new Map<number, WaitCell>()
  let [pausedNow, shortNow] = [false, false]
  let prunedAt = -Infinity
  let aimed: SteeringOptions | undefined
  let steering: Steering | undefined

  const all = new Together(true)
  const regions = new Map<number, Together>()
  const sizes = new Map<number, Together>()
  /** Drops the kinds and regions of which all that was seen has faded. */
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
  /** Those that count the tickets of a kind together with others. */
  const sharedBy = (kind: number) => [togetherIn(regions, regionOfKind(kind)), togetherIn(sizes, sizeOfKind(kind)), all]

  const ofAll = (now: number) => all.curve(now, ({ lately, longer }) => [lately, longer])
  const ofRegion = (region: number, now: number) =>
    regions.get(region)?.curve(now, ({ lately }) => [lately, all.seen(now).lately, all.seen(now).longer])
  const inRegion = (region: number, now: number) => (regions.has(region) ? ofRegion(region, now) : ofAll(now))
  const ofKind = (kind: number, now: number) =>
    cells.get(kind)?.own.curve(now, ({ lately, longer }) => {
      const region = togetherIn(regions, regionOfKind(kind)).seen(now)
      const size = togetherIn(sizes, sizeOfKind(kind)).seen(now)
      return [lately, longer, region.lately, size.lately, all.seen(now).longer]
    })

  /** The steering that was aimed at: made when the time is known. */
  const steeringAt = (now: number): Steering | undefined => {
    if (aimed === undefined || steering !== undefined) return steering
    steering = createSteering(aimed)
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
