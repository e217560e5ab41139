// pure: whether two tickets could have been in one match
import type { CompiledQueue } from '@muster/matchmaker'
import type { Entry, Present } from './presence.js'

/**
 * Whether two tickets that were there at the same time could have been matched, whoever else is in the match.
 * @param before the latest moment, in milliseconds from the crowd's start. Default: as long as both are there.
 */
export type MayMeet = (one: Present, other: Present, before?: number) => boolean

/** Without limits: players who want something else, by rules that never relax, still stay apart. */
export const mayMeetWithoutLimits: MayMeet = (one, other) => one.entry.key === other.entry.key

/**
 * By the queue's limits in force at the latest moment at which both are there: limits only loosen, so none was looser.
 * Taken at their loosest are rules by the oldest or the average of a match, which others may loosen, and all rules
 * where limits follow from the crowd (`targetWaitMs`) or a third ticket may be at last resort.
 */
export function createMayMeet({ queue, model, levels }: CompiledQueue, isPair: boolean): MayMeet {
  const { radius, spans, checks, lastResortLevel } = model
  const isLoosest = queue.targetWaitMs !== undefined || (!isPair && lastResortLevel < Infinity)
  const levelAt = (waitedMs: number) => Math.max(0, levels.at.findLastIndex((ms) => ms <= waitedMs))
  const levelFor = (by: 'each' | 'youngest' | 'oldest' | 'average', between: number) =>
    by === 'each' || by === 'youngest' ? between : levels.last

  return (one, other, before = Infinity) => {
    const [a, b] = [one.entry, other.entry]
    if (a.key !== b.key) return false
    const moment = Math.min(one.until, other.until, before)
    const [level, otherLevel] = [levelAt(moment - one.from), levelAt(moment - other.from)]
    const isLast = isLoosest || Math.max(level, otherLevel) >= lastResortLevel
    const between = isLast ? levels.last : Math.min(level, otherLevel)
    for (const [index, { by, limit }] of spans.entries())
      if (gapOf(a, b, 2 * index) > (limit[levelFor(by, between)] as number)) return false
    if (radius !== undefined && !isNear(a, b, radius.squared[levelFor(radius.by, between)] as number, radius.unknown))
      return false
    return checks?.pair?.(a.facts, b.facts, between) ?? true
  }
}

/** NaN, which is above no limit, for a ticket that goes with any value. */
function gapOf({ values: one }: Entry, { values: other }: Entry, low: number): number {
  const high = low + 1
  return Math.max(one[high] as number, other[high] as number) - Math.min(one[low] as number, other[low] as number)
}

function isNear(one: Entry, other: Entry, squared: number, unknown: 'network' | 'any'): boolean {
  const [a, b] = [one.place, other.place]
  if (a !== undefined && b !== undefined)
    return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2 <= squared
  return unknown === 'any' || squared === Infinity || (one.network !== undefined && one.network === other.network)
}
