// pure: the scales at which tickets are looked at, from the finest to everyone
import type { Model } from './model.js'

type Limits = Pick<Scale, 'chord' | 'width'>

/** What is near: within the chord and within the width of the first span. Infinity where that does not matter. */
export interface Scale {
  readonly chord: number
  readonly width: number
  /** The lowest level at which tickets this far apart may meet. */
  readonly level: number
  /** The lowest level whose limits are wider than the scale before: tickets of it look for others at this scale. */
  readonly from: number
}

/** A scale of the index. */
export interface SearchScale extends Scale {
  /**
   * Of each span, how much those may differ for whom this scale is the one that tells all; at the first span the width.
   */
  readonly widths: readonly number[]
}

/** Steps that widen by less than this are not worth a look of their own. */
const WORTH = 1.9
/** The finest scale, as a part of the strictest limit: the nearest are looked for first, and in a crowd nobody else. */
const FINEST = 0.2

const chordAt = ({ radius }: Model<never>, level: number): number =>
  radius === undefined ? Infinity : chordOf(radius.squared[level] ?? Infinity)

/** No two places are farther apart than 2. */
const chordOf = (squared: number): number => (squared >= 4 ? Infinity : Math.sqrt(Math.max(0, squared)))

const widthAt = ({ spans }: Model<never>, level: number): number => spans[0]?.limit[level] ?? Infinity

/**
 * The limits of the levels, without those that hardly differ from the one before, and with the last one. A level whose
 * own limits are left out is served by the next scale: `from` is the first level that is.
 */
export function limitScales(model: Model<never>): Scale[] {
  const scales: Scale[] = []
  const many = model.levels.length
  let unserved: number | undefined
  for (let level = 0; level < many; level++) {
    const limits = { chord: chordAt(model, level), width: widthAt(model, level), level }
    const before = scales.at(-1)
    if (before !== undefined && !wider(limits, before, 1)) continue
    unserved ??= level
    if (before !== undefined && !wider(limits, before, WORTH) && level !== many - 1) continue
    scales.push({ ...limits, from: unserved })
    unserved = undefined
  }
  return scales
}

const wider = (one: Limits, other: Limits, by: number): boolean =>
  grown(one.chord, other.chord, by) || grown(one.width, other.width, by)
const grown = (one: number, other: number, by: number): boolean => one > other && one >= other * by

/**
 * The scales of the index: a finer one first where there is a limit on places, and one at the end on which everyone is
 * near everyone, at any level.
 */
export function searchScales(model: Model<never>): SearchScale[] {
  const scales = limitScales(model)
  const [strictest] = scales
  if (strictest !== undefined && Number.isFinite(strictest.chord))
    scales.unshift({ ...strictest, chord: strictest.chord * FINEST })
  const last = scales.at(-1)
  if (last?.chord !== Infinity || last.width !== Infinity || last.from > 0)
    scales.push({ chord: Infinity, width: Infinity, level: 0, from: 0 })
  return scales.map((scale) => ({
    ...scale,
    widths: model.spans.map(({ limit }, span) => (span === 0 ? scale.width : widest(model, scale, limit))),
  }))
}

/** The limit at the last level that a scale covers. It is part of the next scale that covers any, if it covers none. */
function widest(model: Model<never>, scale: Scale, limit: Float64Array): number {
  if (scale.chord === Infinity && scale.width === Infinity) return Infinity
  const many = model.levels.length
  let last = many - 1
  while (last > scale.from && !covers(model, scale, last)) last -= 1
  return limit[last] ?? Infinity
}

/** Whether a match may reach farther than a ticket of it may by itself, because another is older. */
export const olderDecides = ({ radius, spans }: Model<never>): boolean =>
  [radius, ...spans].some((rule) => rule?.by === 'oldest' || rule?.by === 'average')

/**
 * Whether a wider scale tells everything that this one tells: all of a level are in both. Otherwise the wider one
 * leaves out those who are not as far.
 */
export const isPartOf = (scale: Scale, next: Scale | undefined): boolean =>
  next !== undefined && next.from <= scale.from

/** Whether whatever may meet at this level is near at this scale. */
export const covers = (model: Model<never>, scale: Scale, level: number): boolean =>
  chordAt(model, level) <= scale.chord && widthAt(model, level) <= scale.width

/** The strictest limit that is one: distances and differences are told in these. 1 where there is none. */
export function units(model: Model<never>): { readonly chord: number; readonly width: number } {
  const first = (limits: Float64Array | undefined) => limits?.find((limit) => limit > 0 && limit < Infinity) ?? 1
  return { chord: Math.sqrt(first(model.radius?.squared)), width: first(model.spans[0]?.limit) }
}
