import type { Coordinates } from '@muster/core'
import { type Kind, kindOf, regionIn, regionOfKind, sizeOfKind } from './regions.js'
import { createSteering, type Steering, type SteeringOptions, type TargetWaitState } from './target-wait.js'
import { WaitCell } from './wait-cell.js'
import { addRates, type Curve, noRates } from './wait-curve.js'
import { type Seen, WaitTally } from './wait-tally.js'

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

  /** What the tickets of several kinds did; over a longer time only where that is asked for. */
  const together = (isCounted: (kind: number) => boolean, isLonger = false) =>
    new WaitTally((now) => {
      const sum: Seen = { lately: noRates(), longer: noRates() }
      for (const [kind, { own }] of cells) {
        if (!isCounted(kind)) continue
        const { lately, longer } = own.seen(now)
        addRates(sum.lately, lately)
        if (isLonger) addRates(sum.longer, longer)
      }
      return sum
    })
  const all = together(() => true, true)
  const regions = new Map<number, WaitTally>()
  const sizes = new Map<number, WaitTally>()
  const regionOf = (kind: number) => tallyIn(regions, regionOfKind(kind), regionOfKind)
  const sizeOf = (kind: number) => tallyIn(sizes, sizeOfKind(kind), sizeOfKind)
  const tallyIn = (tallies: Map<number, WaitTally>, key: number, keyOf: (kind: number) => number): WaitTally => {
    let tally = tallies.get(key)
    if (tally === undefined) tallies.set(key, (tally = together((kind) => keyOf(kind) === key)))
    return tally
  }

  /** Drops the kinds and regions of which all that was seen has faded. */
  const prune = (now: number) => {
    if (now - prunedAt < PRUNE_MS) return
    prunedAt = now
    const kept = new Set<number>()
    for (const [kind, cell] of cells) {
      if (cell.isFaded(now)) cells.delete(kind)
      else kept.add(regionOfKind(kind))
    }
    for (const region of regions.keys()) if (!kept.has(region)) regions.delete(region)
  }

  const ofAll = (now: number) => all.curve(now, ({ lately, longer }) => [lately, longer])
  const ofRegion = (region: number, now: number) =>
    regions.get(region)?.curve(now, ({ lately }) => [lately, all.seen(now).lately, all.seen(now).longer])
  const inRegion = (region: number, now: number) => (regions.has(region) ? ofRegion(region, now) : ofAll(now))
  const ofKind = (kind: number, now: number) =>
    cells.get(kind)?.own.curve(now, ({ lately, longer }) => {
      const [region, size] = [regionOf(kind).seen(now), sizeOf(kind).seen(now)]
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
        const shared = [regionOf(number), sizeOf(number), all]
        cells.set(number, (cell = new WaitCell(now, pausedNow, shared)))
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
