// pure: when the tickets of a queue waited, and which of them could be matched
import { middleOf } from '@muster/core/internal'
import { type CompiledQueue, networkOf } from '@muster/matchmaker/internal'
import type { Crowd, CrowdParty } from '../crowd/index.js'
import type { RunOutcome } from '../run/index.js'
import { firstIndex } from '../statistics/index.js'

/**
 * A matched ticket and the time for which it waited. It could be matched with any other ticket that waited at the same
 * time.
 */
export interface PresentTicket {
  /** Index of the ticket in the outcome. */
  readonly ticket: number
  readonly entry: Entry
  /** Start of the wait, in milliseconds from the crowd's start. */
  readonly from: number
  /** End of the wait: when the ticket's match was complete. A better match may not let it wait longer. */
  readonly until: number
  /** Index of the ticket's match in the outcome. */
  readonly match: number
}

export type Entry = ReturnType<CompiledQueue['entryOf']>

/** Returns the tickets that a queue has matched, in order of creation. */
export function presentIn(compiled: CompiledQueue, crowd: Crowd, outcome: RunOutcome): PresentTicket[] {
  const { name } = compiled.queue
  const completeAt = completionOf(outcome)
  const entries = new Map<number, Entry | undefined>()
  const present: PresentTicket[] = []
  for (const [index, { party: at, match, end, createdAt }] of outcome.tickets.entries()) {
    const party = crowd.parties[at]
    if (party === undefined || match === undefined || end !== 'assigned') continue
    if (outcome.matches[match]?.queue !== name) continue
    if (!entries.has(at)) entries.set(at, entryOf(compiled, party))
    const entry = entries.get(at)
    const until = completeAt.get(match) as number
    if (entry !== undefined) present.push({ ticket: index, entry, from: createdAt, until, match })
  }
  return present.toSorted((one, other) => one.from - other.from || one.ticket - other.ticket)
}

/** Returns when each match was complete. A ticket that replaced another one joined later than the rest. */
function completionOf({ tickets }: RunOutcome): Map<number, number> {
  const completeAt = new Map<number, number>()
  for (const { match, matchedAt = 0 } of tickets)
    if (match !== undefined) completeAt.set(match, Math.max(matchedAt, completeAt.get(match) ?? 0))
  return completeAt
}

function entryOf(compiled: CompiledQueue, { id, players, priority = 0 }: CrowdParty): Entry | undefined {
  try {
    return compiled.entryOf({
      id,
      createdAt: 0,
      priority,
      players: players.map((player) => ({
        id: player.id,
        attributes: player.attributes ?? {},
        roles: player.roles ?? [],
        latencies: player.latencies ?? {},
        avoid: player.avoid ?? [],
      })),
      place: middleOf(players.flatMap(({ coordinates }) => coordinates ?? [])),
      network: networkOf(players),
    })
  } catch {
    // The queue refuses a ticket without the attributes that it compares. A crowd may lack some, e.g. those that a
    // rating book adds during a run.
    return undefined
  }
}

/**
 * Returns the time from which two tickets may be matched, in milliseconds from the crowd's start; Infinity for never.
 * Other tickets of the match are ignored. The time is not before the later arrival. One of the two may have left by
 * then.
 */
export type MeetsAt = (one: PresentTicket, other: PresentTicket) => number

/** Returns the time if no limits apply. Only rules that never relax still separate players. */
export const meetsWithoutLimits: MeetsAt = (one, other) =>
  one.entry.key === other.entry.key ? Math.max(one.from, other.from) : Infinity

/**
 * Creates the function for the queue's own limits, which only loosen. A limit applies to two tickets at the level that
 * both have reached. For a rule by the oldest ticket or by the average of a match, the loosest limit applies, because
 * other tickets of the match may loosen it. It applies for all rules if limits follow the crowd (`targetWaitMs`), or if
 * a third ticket may be at last resort.
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
    return checks?.pair?.(one.facts, other.facts, level, last, last) ?? true
  }

  return (one, other) => {
    const both = Math.max(one.from, other.from)
    if (one.entry.key !== other.entry.key || !may(one.entry, other.entry, last)) return Infinity
    if (isLoosest) return both
    const level = firstIndex(last, (at) => may(one.entry, other.entry, at))
    const reached = both + (levels.at[level] as number)
    if (lastResortLevel === Infinity) return reached
    // A ticket at last resort accepts the other ticket in any case, so the one that has waited longer decides.
    return Math.min(reached, Math.max(both, Math.min(one.from, other.from) + (levels.at[last] as number)))
  }
}

/**
 * Returns the gap between two values or ranges. If a ticket accepts any value, the gap is NaN, which exceeds no limit.
 */
export function gapOf({ values: one }: Entry, { values: other }: Entry, low: number): number {
  const high = low + 1
  return Math.max(one[high] as number, other[high] as number) - Math.min(one[low] as number, other[low] as number)
}

function isNear(one: Entry, other: Entry, squared: number, unknown: 'network' | 'any'): boolean {
  const [a, b] = [one.place, other.place]
  if (a !== undefined && b !== undefined) return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2 <= squared
  return unknown === 'any' || squared === Infinity || (one.network !== undefined && one.network === other.network)
}

/**
 * Returns the average number of other tickets that wait at the same time as a ticket. @param present in order of
 * arrival.
 */
export function averageMet(present: readonly PresentTicket[]): number {
  const froms = present.map(({ from }) => from)
  const untils = present.map(({ until }) => until).toSorted((one, other) => one - other)
  // Counts the tickets that came before this one left, except those that had left before it came.
  let met = 0
  for (const { from, until } of present) met += upTo(froms, until) - upTo(untils, from - 1) - 1
  return met / Math.max(1, present.length)
}

/** Returns the number of sorted values that are at most `most`. */
const upTo = (sorted: readonly number[], most: number): number =>
  firstIndex(sorted.length, (at) => (sorted[at] as number) > most)

/**
 * Returns a function that returns all tickets that waited at the same time as `own`, `own` included. Both `present` and
 * the calls must be in order of arrival.
 */
export function meetings(present: readonly PresentTicket[]): (own: PresentTicket) => PresentTicket[] {
  let next = 0
  let there: PresentTicket[] = []
  return (own) => {
    for (; next < present.length && (present[next] as PresentTicket).from <= own.from; next++)
      there.push(present[next] as PresentTicket)
    there = there.filter(({ until }) => until >= own.from)
    const met = there.slice()
    for (let at = next; at < present.length && (present[at] as PresentTicket).from <= own.until; at++)
      met.push(present[at] as PresentTicket)
    return met
  }
}
