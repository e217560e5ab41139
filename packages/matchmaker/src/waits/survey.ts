import type { Coordinates } from '@muster/core'
import { curveOf, type Curve } from './curve.js'
import { kindOf, regionIn, regionOfKind, sizeOfKind, type Kind } from './kinds.js'
import { addRates, noRates, type Rates } from './life-table.js'
import type { Seen, WaitCell } from './wait-cell.js'

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

/** All that a queue has seen until one moment. Its curves are computed when they are asked for. */
export interface Survey extends Curves {
  readonly at: number
  readonly learned: () => LearnedCurves
}

export function createSurvey(cells: ReadonlyMap<number, WaitCell>, now: number): Survey {
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
