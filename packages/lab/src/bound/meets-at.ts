// pure: from when on two tickets could have been in one match
import type { CompiledQueue } from '@muster/matchmaker'
import type { Entry, Present } from './presence.js'

/**
 * The moment from which on two tickets may be matched, whoever else is in the match: milliseconds from the crowd's
 * start, not before both are there. Infinity if never; they may also have left before.
 */
export type MeetsAt = (one: Present, other: Present) => number

/** Without limits: players who want something else, by rules that never relax, still stay apart. */
export const meetsWithoutLimits: MeetsAt = (one, other) =>
  one.entry.key === other.entry.key ? Math.max(one.from, other.from) : Infinity

/**
 * By the queue's limits, which only loosen: at the level that both have reached. Taken at their loosest are rules by
 * the oldest or the average of a match, which others may loosen, and all rules where limits follow from the crowd
 * (`targetWaitMs`) or a third ticket may be at last resort.
 */
export function createMeetsAt({ queue, model, levels }: CompiledQueue, isPair: boolean): MeetsAt {
  const { radius, spans, checks, lastResortLevel } = model
  const { last } = levels
  const isLoosest = queue.targetWaitMs !== undefined || (!isPair && lastResortLevel < Infinity)
  const levelFor = (by: 'each' | 'youngest' | 'oldest' | 'average', level: number) =>
    by === 'each' || by === 'youngest' ? level : last

  const may = (one: Entry, other: Entry, level: number): boolean => {
    for (const [index, { by, limit }] of spans.entries())
      if (gapOf(one, other, 2 * index) > (limit[levelFor(by, level)] as number)) return false
    const squared = radius?.squared[levelFor(radius.by, level)] as number
    if (radius !== undefined && !isNear(one, other, squared, radius.unknown)) return false
    return checks?.pair?.(one.facts, other.facts, level) ?? true
  }

  return (one, other) => {
    const both = Math.max(one.from, other.from)
    if (one.entry.key !== other.entry.key || !may(one.entry, other.entry, last)) return Infinity
    if (isLoosest) return both
    let [low, high] = [0, last]
    while (low < high) {
      const middle = (low + high) >> 1
      if (may(one.entry, other.entry, middle)) high = middle
      else low = middle + 1
    }
    const reached = both + (levels.at[low] as number)
    if (lastResortLevel === Infinity) return reached
    // A ticket at last resort takes the other as it comes.
    return Math.min(reached, Math.max(both, Math.min(one.from, other.from) + (levels.at[last] as number)))
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
