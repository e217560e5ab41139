// pure: the scales of a search, from the finest to everyone
import type { Model } from './model.js'

type Limits = Pick<Scale, 'chord' | 'width'>

/**
 * Slots are near at a scale if they are within the chord and within the width of the first span. Infinity where there
 * is no limit.
 */
export interface Scale {
  readonly chord: number
  readonly width: number
  /** The lowest level at which tickets this far apart may be matched. */
  readonly level: number
  /**
   * The lowest level whose limits are wider than the scale before: tickets of this level are searched at this scale.
   */
  readonly from: number
}

/** A scale of the index. */
export interface SearchScale extends Scale {
  /**
   * For each span, the greatest difference between tickets for which this scale is the last one searched; for the first
   * span the scale's width.
   */
  readonly widths: readonly number[]
}

/** The factor by which limits must widen for a scale of their own. */
const WORTH = 1.9
/**
 * The finest scale, as a fraction of the strictest limit: the nearest slots are read first, and in a crowd no others.
 */
const FINEST = 0.2

const chordAt = ({ radius }: Model<never>, level: number): number =>
  radius === undefined ? Infinity : chordOf(radius.squared[level] ?? Infinity)

/** The chord of a squared chord. No two places are farther apart than 2, so from there on there is no limit. */
const chordOf = (squared: number): number => (squared >= 4 ? Infinity : Math.sqrt(Math.max(0, squared)))

const widthAt = ({ spans }: Model<never>, level: number): number => spans[0]?.limit[level] ?? Infinity

/**
 * A scale for each level's limits, without levels that hardly differ from the scale before, but always with the last. A
 * level left out is served by the next scale, whose `from` is the first level it serves.
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
 * The scales of the index: first a finer one, if places are limited, and at the end one at which all slots are near
 * each other at any level.
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

/** The span's limit at the last level that the scale covers; at the scale's own `from` level if it covers none. */
function widest(model: Model<never>, scale: Scale, limit: Float64Array): number {
  if (scale.chord === Infinity && scale.width === Infinity) return Infinity
  const many = model.levels.length
  let last = many - 1
  while (last > scale.from && !covers(model, scale, last)) last -= 1
  return limit[last] ?? Infinity
}

/** Whether a ticket may be matched beyond its own level's limits because another member is older. */
export const olderDecides = ({ radius, spans }: Model<never>): boolean =>
  [radius, ...spans].some((rule) => rule?.by === 'oldest' || rule?.by === 'average')

/**
 * Whether the next scale's lists hold every slot that this scale's lists hold. Otherwise the next scale leaves out
 * slots that have not relaxed as far.
 */
export const isPartOf = (scale: Scale, next: Scale | undefined): boolean =>
  next !== undefined && next.from <= scale.from

/** Whether all tickets that may be matched at this level are near at this scale. */
export const covers = (model: Model<never>, scale: Scale, level: number): boolean =>
  chordAt(model, level) <= scale.chord && widthAt(model, level) <= scale.width

/** The strictest finite limits above 0, the units of distances and differences; 1 where there is none. */
export function units(model: Model<never>): { readonly chord: number; readonly width: number } {
  const first = (limits: Float64Array | undefined) => limits?.find((limit) => limit > 0 && limit < Infinity) ?? 1
  return { chord: Math.sqrt(first(model.radius?.squared)), width: first(model.spans[0]?.limit) }
}
