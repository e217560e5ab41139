// pure: the tickets of a queue, and when they waited
import { middleOf } from '@muster/core/internal'
import { type CompiledQueue, networkOf } from '@muster/matchmaker/internal'
import type { Crowd, CrowdParty } from '../crowd/index.js'
import type { RunOutcome } from '../run/index.js'
import { firstIndex } from '../statistics/index.js'

/** A matched ticket while it waited. It could be matched with any other ticket that waited at the same time. */
export interface PresentTicket {
  /** Index of the ticket in the outcome. */
  readonly ticket: number
  readonly entry: Entry
  /** Milliseconds from the crowd's start. */
  readonly from: number
  /** When its match was complete: no ticket may wait longer than in the run. */
  readonly until: number
  /** Index of its match in the outcome. */
  readonly match: number
}

export type Entry = ReturnType<CompiledQueue['entryOf']>

/** The tickets that a queue has matched, in order of creation. */
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

/** When the last ticket of each match joined it: later than the others only if it replaced another one. */
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
    // The queue refuses the ticket, e.g. because a rating book gave it attributes that the crowd lacks.
    return undefined
  }
}

/**
 * The moment from which two tickets may be matched, regardless of the others in the match: milliseconds from the
 * crowd's start, not before both wait. Infinity if never. They may have left before that moment.
 */
export type MeetsAt = (one: PresentTicket, other: PresentTicket) => number

/** Without limits: only players that never-relaxing rules separate stay apart. */
export const meetsWithoutLimits: MeetsAt = (one, other) =>
  one.entry.key === other.entry.key ? Math.max(one.from, other.from) : Infinity

/**
 * By the queue's limits, which only loosen: at the level that both have reached. The loosest limit counts for rules by
 * the oldest ticket or the average of a match, which others may loosen, and for all rules if limits follow the crowd
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
    return checks?.pair?.(one.facts, other.facts, level, last, last) ?? true
  }

  return (one, other) => {
    const both = Math.max(one.from, other.from)
    if (one.entry.key !== other.entry.key || !may(one.entry, other.entry, last)) return Infinity
    if (isLoosest) return both
    const level = firstIndex(last, (at) => may(one.entry, other.entry, at))
    const reached = both + (levels.at[level] as number)
    if (lastResortLevel === Infinity) return reached
    // A ticket at last resort accepts the other in any case.
    return Math.min(reached, Math.max(both, Math.min(one.from, other.from) + (levels.at[last] as number)))
  }
}

/** NaN, which is above no limit, for a ticket that accepts any value. */
export function gapOf({ values: one }: Entry, { values: other }: Entry, low: number): number {
  const high = low + 1
  return Math.max(one[high] as number, other[high] as number) - Math.min(one[low] as number, other[low] as number)
}

function isNear(one: Entry, other: Entry, squared: number, unknown: 'network' | 'any'): boolean {
  const [a, b] = [one.place, other.place]
  if (a !== undefined && b !== undefined) return (a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2 + (a[2] - b[2]) ** 2 <= squared
  return unknown === 'any' || squared === Infinity || (one.network !== undefined && one.network === other.network)
}

/** Average number of other tickets that wait at the same time as a ticket. @param present in order of arrival. */
export function averageMet(present: readonly PresentTicket[]): number {
  const froms = present.map(({ from }) => from)
  const untils = present.map(({ until }) => until).toSorted((one, other) => one - other)
  // Tickets that came before this one left, without those that had left before it came.
  let met = 0
  for (const { from, until } of present) met += upTo(froms, until) - upTo(untils, from - 1) - 1
  return met / Math.max(1, present.length)
}

/** Number of the sorted values that are at most `most`. */
const upTo = (sorted: readonly number[], most: number): number =>
  firstIndex(sorted.length, (at) => (sorted[at] as number) > most)

/**
 * Returns a function that returns the tickets that waited at the same time as another, including that one. Call it in
 * order of arrival.
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
