import type { Coordinates } from '@muster/core'
import { type Kind, kindOf, regionIn, regionOfKind, sizeOfKind } from './regions.js'
import { createSteering, type Steering, type SteeringOptions, type TargetWaitState } from './target-wait.js'
import { type Seen, WaitCell } from './wait-cell.js'
import { addRates, type Curve, curveOf, noRates, type Rates } from './wait-curve.js'

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

/** Everything that a queue has observed until one moment. Its curves are computed on first use. */
interface Survey extends Curves {
  readonly at: number
  readonly learned: () => LearnedCurves
}

function createSurvey(cells: ReadonlyMap<number, WaitCell>, now: number): Survey {
  const all: Seen = { lately: noRates(), longer: noRates() }
  const byKind = new Map<number, Seen>()
  const byRegion = new Map<number, Rates>()
  const bySize = new Map<number, Rates>()
  for (const [kind, cell] of cells) {
    const seen = cell.seen(now)
    byKind.set(kind, seen)
    addRates(ratesIn(byRegion, regionOfKind(kind)), seen.lately)
    addRates(ratesIn(bySize, sizeOfKind(kind)), seen.lately)
    addRates(all.lately, seen.lately)
    addRates(all.longer, seen.longer)
  }

  const ofAll = once(() => curveOf([all.lately, all.longer]))
  const ofRegion = onceEach((region) => curveOf([ratesIn(byRegion, region), all.lately, all.longer]))
  const ofKind = onceEach((kind) => {
    const { lately, longer } = byKind.get(kind) as Seen
    return curveOf([
      lately,
      longer,
      ratesIn(byRegion, regionOfKind(kind)),
      ratesIn(bySize, sizeOfKind(kind)),
      all.longer,
    ])
  })
  const inRegion = (region: number) => (byRegion.has(region) ? ofRegion(region) : ofAll())

  return {
    at: now,
    ofKind: (kind) => {
      const number = kindOf(kind)
      return byKind.has(number) ? ofKind(number) : inRegion(regionIn(kind.place))
    },
    ofPlace: (place) => (place === undefined ? ofAll() : inRegion(regionIn(place))),
    learned: () => ({
      all: ofAll() ?? null,
      regions: known(byRegion.keys(), ofRegion),
      kinds: known(byKind.keys(), ofKind),
    }),
  }
}

/** The curves that another process has learned. */
export const curvesFrom = ({ all, regions, kinds }: LearnedCurves): Curves => {
  const inRegion = (region: number) => regions[region] ?? all ?? undefined
  return {
    ofKind: (kind) => kinds[kindOf(kind)] ?? inRegion(regionIn(kind.place)),
    ofPlace: (place) => (place === undefined ? (all ?? undefined) : inRegion(regionIn(place))),
  }
}

function ratesIn(rates: Map<number, Rates>, key: number): Rates {
  let found = rates.get(key)
  if (found === undefined) rates.set(key, (found = noRates()))
  return found
}

const once = <Value>(compute: () => Value): (() => Value) => {
  let computed: { readonly value: Value } | undefined
  return () => (computed ??= { value: compute() }).value
}

const onceEach = <Value>(compute: (key: number) => Value): ((key: number) => Value) => {
  const computed = new Map<number, () => Value>()
  return (key) => {
    let value = computed.get(key)
    if (value === undefined) computed.set(key, (value = once(() => compute(key))))
    return value()
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

/** Milliseconds for which what was computed is used again: many may ask. */
const GOOD_MS = 1000

const NOTHING: LearnedCurves = { all: null, regions: {}, kinds: {} }

/** How long tickets wait in a queue, learned from those that do. It has at most `KINDS` cells, whatever is claimed. */
export interface QueueWaits {
  /** The cell in which tickets of this kind are counted. */
  cellOf(kind: Kind, now: number): WaitCell
  /** What was learned, at most a second old. */
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
  let survey: Survey | undefined
  let [pausedNow, shortNow] = [false, false]
  let aimed: SteeringOptions | undefined
  let steering: Steering | undefined

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
        cells.set(number, (cell = new WaitCell(now, pausedNow)))
        cell.countIn(steered?.waitsOf(regionOfKind(number), now), now)
      }
      return cell
    },

    survey: (now) => {
      if (survey !== undefined && now - survey.at < GOOD_MS) return survey
      for (const [kind, cell] of cells) if (cell.isFaded(now)) cells.delete(kind)
      survey = pausedNow ? { at: now, ...curvesFrom(NOTHING), learned: () => NOTHING } : createSurvey(cells, now)
      return survey
    },

    setPaused: (isPaused, now) => {
      pausedNow = isPaused
      survey = undefined
      steering?.setHeld(pausedNow || shortNow, now)
      for (const cell of cells.values()) cell.setPaused(isPaused, now)
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

    count: () => {
      let [tickets, players] = [0, 0]
      for (const { waiting } of cells.values()) {
        tickets += waiting.tickets
        players += waiting.players
      }
      return { tickets, players }
    },
  }
}
