// pure: how well players are matched, as one number; what a search goes by, of the figures of a run
import type { Queue } from '@muster/matchmaker'
import type { TimedLimit } from '@muster/matchmaker/internal'
import type { End, Figures, Slice } from '../figures/index.js'
import { type Limit, limitsOf, type Path, valuesOf } from './limits.js'
import type { Measured } from './promises.js'

/** What a cost counts, in units of the strictest limit of the file. */
export interface QualityPart {
  /** Name of the limit. */
  readonly name: string
  /** What is counted: of each matched player, or the limit that was in force where figures tell no more. */
  readonly what: NonNullable<Limit['measure']> | 'limit'
  /** The unit: the strictest value of the limit in the file. */
  readonly per: number
}

/** The units of the quality of a queue's matches. The same before and after a change of its schedules. */
export interface Quality {
  readonly parts: readonly QualityPart[]
  /** The number attribute that is a player's skill. */
  readonly skillAttribute: string
  /** The cost of a run, 0 at best: the sum of its parts. Infinity if nobody was matched. */
  costOf(figures: Figures, queue: Queue): number
}

const SKILL = 'skill'
/** A limit that no longer counts is as bad as one this many times its loosest. */
const NO_LIMIT = 2
/** The chance of the favourite in an even match: what is above counts. */
const EVEN = 0.5

/**
 * The quality of a queue as its file has it. Distance, latency, skill spread and the gap between teams count for what
 * they are in matches if a rule of the queue limits them; of any other limit that is searched, its value in force.
 * @param searched names of the limits that are searched.
 * @param skill the number attribute that is a player's skill. Default: the first that a rule compares.
 */
export function qualityOf(queue: Queue, searched: readonly string[], skill?: string): Quality {
  const limits = limitsOf(queue)
  const skillAttribute =
    skill ?? limits.find(({ attribute }) => attribute?.startsWith('$') === false)?.attribute ?? SKILL
  const isMeasured = ({ measure, attribute }: Limit) =>
    measure !== undefined && (attribute === undefined || attribute === skillAttribute)
  const measured = limits.filter(isMeasured)
  // Two rules about the same count once, by the stricter.
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

/** The strictest value of a limit in the file; the loosest if that is 0, and 1 if that is no number either. */
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
  if (what === 'favourite') return (favourite.mean - EVEN) / per
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

/** What tuning measures of a run, with all its figures. */
export interface MeasuredRun extends Measured {
  readonly figures: Figures
}

/** How a player ends who waited for nothing. */
const FOR_NOTHING: readonly End[] = ['gaveUp', 'expired', 'attempts', 'waiting']

/** @param queue of the run, whose players count. */
export function measuredRun(figures: Figures, queue: Queue, quality: Quality): MeasuredRun {
  const slice = figures.by.queue[queue.name]
  // Whom no queue takes does not wait.
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
