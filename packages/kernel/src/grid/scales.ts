// pure: the scales of the grid, from the finest to the one of the loosest limits
import type { Model } from '../data/model.js'

/** Two tickets are near at a scale if they are within all of these widths. Infinity: no limit. */
export interface Scale {
  readonly chord: number
  /** The widths of the first spans. */
  readonly widths: readonly number[]
}

export interface Scales {
  readonly scales: readonly Scale[]
  /** For each level, the finest scale at which all possible partners of a ticket of this level are near. */
  readonly coverOf: Int32Array
}

/** Number of spans that narrow the search. */
const INDEXED = 2
/** The factor by which limits must widen to get a scale of their own. */
const WORTH = 1.9
/**
 * Finer scales, as fractions of the strictest limits. In a crowd they find the nearest tickets without reading the
 * others.
 */
const FINE = [0.04, 0.2]

export function scalesOf(model: Model<never>): Scales {
  const { levels, lastResortLevel, radius, spans } = model
  const many = levels.length
  const top = Math.max(0, lastResortLevel === Infinity ? many - 1 : many - 2)
  /**
   * Returns the level whose limits count: for `oldest` and `average` the loosest, because an older member may loosen
   * the rule.
   */
  const levelFor = (by: string, level: number) => Math.min(top, by === 'oldest' || by === 'average' ? top : level)
  const limitsAt = (level: number): Scale => {
    const squared = radius?.squared[levelFor(radius.by, level)] ?? Infinity
    return {
      // No two points of the unit sphere are farther apart than 2.
      chord: squared >= 4 ? Infinity : Math.sqrt(Math.max(0, squared)),
      widths: spans.slice(0, INDEXED).map(({ by, limit }) => limit[levelFor(by, level)] ?? Infinity),
    }
  }
  const scales: Scale[] = []
  const coverOf = new Int32Array(many)
  let unserved = 0
  for (let level = 0; level < many; level++) {
    const limits = limitsAt(level)
    const last = scales.at(-1)
    if (last !== undefined && isWithin(limits, last)) coverOf[level] = scales.length - 1
    else if (last !== undefined && level < top && isWithin(limits, widened(last))) unserved += 1
    else {
      scales.push(limits)
      coverOf.fill(scales.length - 1, level - unserved, level + 1)
      unserved = 0
    }
  }
  const finer = finerThan(scales[0] as Scale)
  return { scales: [...finer, ...scales], coverOf: coverOf.map((scale) => scale + finer.length) }
}

const isWithin = (one: Scale, other: Scale): boolean =>
  one.chord <= other.chord && one.widths.every((width, span) => width <= (other.widths[span] as number))

const widened = ({ chord, widths }: Scale): Scale => ({
  chord: chord * WORTH,
  widths: widths.map((width) => width * WORTH),
})

/** Only what counts for the cost becomes finer: the distance and the first span. */
function finerThan({ chord, widths }: Scale): Scale[] {
  const [first = Infinity] = widths
  const isLimited = (limit: number) => limit > 0 && limit < Infinity
  if (!isLimited(chord) && !isLimited(first)) return []
  return FINE.map((part) => ({
    chord: chord * part,
    widths: widths.map((width, span) => (span === 0 ? width * part : width)),
  }))
}
