// pure: the quality of matches as one number; the quantities that a search reads from the figures of a run
import type { Queue } from '@muster/matchmaker'
import type { TimedLimit } from '@muster/matchmaker/internal'
import type { End, Figures, Slice } from '../figures/index.js'
import { type Limit, limitsOf, type Path, valuesOf } from './limits.js'
import type { Measured } from './promises.js'

/** A part of the cost. Its unit is the strictest limit in the file. */
export interface QualityPart {
  /** Name of the limit. */
  readonly name: string
  /**
   * The quantity that is measured for each matched player. `limit`: the value of the limit that applied, because there
   * is no such figure.
   */
  readonly what: NonNullable<Limit['measure']> | 'limit'
  /** The value that counts as a cost of 1: the strictest value of the limit in the file. */
  readonly per: number
}

/** How the quality of a queue's matches is measured. The units stay the same when the queue's schedules change. */
export interface Quality {
  readonly parts: readonly QualityPart[]
  /** The number attribute that is compared as a player's skill. */
  readonly skillAttribute: string
  /** Returns the cost of a run, the sum of its parts: 0 at best, Infinity if nobody was matched. */
  costOf(figures: Figures, queue: Queue): number
}

const SKILL = 'skill'
/** A limit that no longer applies counts as this multiple of its loosest value. */
const NO_LIMIT = 2
/** The favourite's chance in an even match. Only the excess over it counts as cost. */
const EVEN = 0.5

/**
 * Returns how the quality of a queue is measured. Distance, latency, skill spread and the gap between teams are
 * measured in matches if a rule limits them. For any other searched limit, the value that applied counts.
 * @param searched names of the limits that are searched.
 * @param skill the number attribute that is a player's skill. Default: the first number attribute that a rule compares.
 */
export function qualityOf(queue: Queue, searched: readonly string[], skill?: string): Quality {
  const limits = limitsOf(queue)
  const skillAttribute =
    skill ?? limits.find(({ attribute }) => attribute?.startsWith('$') === false)?.attribute ?? SKILL
  const isMeasured = ({ measure, attribute }: Limit) =>
    measure !== undefined && (attribute === undefined || attribute === skillAttribute)
  const measured = limits.filter(isMeasured)
  // If two rules limit the same quantity, only the stricter limit counts.
  const counted = measured.filter((limit) =>
    measured.every((other) => other.measure !== limit.measure || unitOf(other) >= unitOf(limit)),
  )
  const first = counted.filter((limit, at) => counted.findIndex(({ measure }) => measure === limit.measure) === at)
  const inForce = limits.filter((limit) => searched.includes(limit.name) && !isMeasured(limit))
  const parts = [
    ...first.map((limit) => ({ limit, part: partOf(limit, limit.measure ?? 'limit') })),
    ...inForce.map((limit) => ({ limit, part: partOf(limit, 'limit') })),
  ]
  return {
    parts: parts.map(({ part }) => part),
    skillAttribute,
    costOf: (figures, candidate) => {
      const slice = figures.by.queue[queue.name]
      if (slice === undefined || slice.waitMs.count === 0) return Infinity
      return parts.reduce((sum, { limit, part }) => sum + costOfPart(limit, part, slice, figures, candidate), 0)
    },
  }
}

const partOf = (limit: Limit, what: QualityPart['what']): QualityPart => ({
  name: limit.name,
  what,
  per: unitOf(limit),
})

/** Returns the unit of a limit: its strictest value in the file that is neither 0 nor infinite; 1 if there is none. */
function unitOf({ relaxing, measure }: Pick<Limit, 'relaxing' | 'measure'>): number {
  const values = valuesOf(relaxing).map((value) => (measure === 'favourite' ? value - EVEN : value))
  return Math.abs(values.find((value) => value !== 0 && Number.isFinite(value)) ?? 1)
}

function costOfPart(
  limit: Limit,
  { what, per }: QualityPart,
  slice: Slice,
  figures: Figures,
  candidate: Queue,
): number {
  const { favourite } = figures.queues[candidate.name]?.matches ?? figures.matches
  // Without a match whose favourite is known, the mean is 0, which is no chance.
  if (what === 'favourite') return favourite.count === 0 ? 0 : (favourite.mean - EVEN) / per
  if (what !== 'limit') return slice[what].mean / per
  const [strictest = 0] = valuesOf(limit.relaxing)
  const loosest = valuesOf(limit.relaxing).findLast((value) => Number.isFinite(value)) ?? strictest
  const ratio = (value: number) => 1 + Math.abs(value - strictest) / per
  const expansion = figures.queues[candidate.name]?.expansion.find(({ rule }) => rule === limit.name)
  if (expansion === undefined) return ratio(valuesOf(limitAt(candidate, limit.path))[0] ?? strictest)
  return expansion.steps.reduce(
    (sum, step) => sum + step.share * (step.limit === null ? NO_LIMIT * ratio(loosest) : ratio(step.limit)),
    0,
  )
}

const limitAt = (queue: Queue, path: Path): TimedLimit =>
  path.reduce<unknown>((part, key) => (part as Readonly<Record<string | number, unknown>>)[key], queue) as TimedLimit

/** The results of a run that tuning uses. */
export interface MeasuredRun extends Measured {
  readonly figures: Figures
}

/** The ends of players who waited and were not matched. */
const FOR_NOTHING: readonly End[] = ['gaveUp', 'expired', 'attempts', 'waiting']

/** Returns the results of a run. @param queue the queue whose players count. */
export function measuredRun(figures: Figures, queue: Queue, quality: Quality): MeasuredRun {
  const slice = figures.by.queue[queue.name]
  // Players whom no queue accepted are not counted, because they did not wait.
  const waited = 1 - (slice?.ends.refused ?? 0)
  const gaveUp = FOR_NOTHING.reduce((sum, end) => sum + (slice?.ends[end] ?? 0), 0) / (waited || 1)
  const isMatched = slice !== undefined && slice.waitMs.count > 0
  return {
    cost: quality.costOf(figures, queue),
    waitP90Ms: isMatched ? slice.waitMs.p90 : Infinity,
    gaveUp: Math.min(1, gaveUp),
    figures,
  }
}
