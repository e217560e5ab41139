// pure: players in tickets, as columns
import type { Crowd } from '../crowd/crowd.js'
import type { RunOutcome, TicketOutcome } from '../run/outcome.js'
import type { Dimension, SkillBand } from './figures.js'
import { bandIndex, skillOf } from './skill.js'

/** What is measured of each matched player; NaN where it is not known. */
export const MEASURES = ['waitMs', 'distanceKm', 'latencyMs', 'skillSpread', 'teamGap', 'winChance'] as const
export type Measure = (typeof MEASURES)[number]

/** The groups that a player is in for each dimension but the queue. */
export type Grouping = Exclude<Dimension, 'queue'>

/**
 * Players in tickets: a player who queues twice has two seats. A crowd has hundreds of thousands, so there is a column
 * for each thing instead of an object for each seat.
 */
export interface Seats {
  readonly count: number
  /** Index of the ticket of each seat. The seats of a ticket follow one another, in the order of its players. */
  readonly ticket: Int32Array
  /** Index of the first seat of each ticket, and in the end the number of seats. */
  readonly first: Int32Array
  readonly skill: Float64Array
  readonly measures: Readonly<Record<Measure, Float64Array>>
  readonly groups: Readonly<Record<Grouping, Groups>>
}

/** Which group each seat is in. */
export interface Groups {
  readonly names: readonly string[]
  /** Index of the group's name; −1 for none. */
  readonly of: Int32Array
}

/** Most groups of a dimension that are told apart; further players are in `other`. */
const MOST_GROUPS = 24
const OTHER = 'other'
const UNKNOWN = 'unknown'

export function seatsOf({ parties }: Crowd, { tickets }: RunOutcome, bands: readonly SkillBand[], attribute: string) {
  const first = new Int32Array(tickets.length + 1)
  for (const [index, { party }] of tickets.entries())
    first[index + 1] = (first[index] as number) + (parties[party]?.players.length ?? 0)
  const count = first[tickets.length] as number
  const column = () => new Float64Array(count).fill(Number.NaN)
  const [ticket, skill, band] = [new Int32Array(count), column(), new Int32Array(count)]
  for (const [index, { party }] of tickets.entries()) {
    for (const [place, player] of (parties[party]?.players ?? []).entries()) {
      const seat = (first[index] as number) + place
      ticket[seat] = index
      skill[seat] = skillOf(player, attribute)
      band[seat] = bandIndex(bands, skill[seat] as number)
    }
  }
  const groupsBy = (nameOf: (outcome: TicketOutcome) => string) => groupsOf(tickets, first, nameOf)
  const seats: Seats = {
    count,
    ticket,
    first,
    skill,
    measures: Object.fromEntries(MEASURES.map((name) => [name, column()])) as Record<Measure, Float64Array>,
    groups: {
      region: groupsBy(({ party }) => parties[party]?.players[0]?.region ?? UNKNOWN),
      partySize: groupsBy(({ party }) => String(parties[party]?.players.length ?? 0)),
      skillBand: { names: bands.map(({ name }) => name), of: band },
    },
  }
  return seats
}

function groupsOf(
  tickets: readonly TicketOutcome[],
  first: Int32Array,
  nameOf: (ticket: TicketOutcome) => string,
): Groups {
  const sizes = new Map<string, number>()
  for (const [index, ticket] of tickets.entries()) {
    const name = nameOf(ticket)
    sizes.set(name, (sizes.get(name) ?? 0) + (first[index + 1] as number) - (first[index] as number))
  }
  const bySize = [...sizes].toSorted(([a, many], [b, few]) => few - many || (a < b ? -1 : 1)).map(([name]) => name)
  const kept = bySize.length <= MOST_GROUPS ? bySize : bySize.slice(0, MOST_GROUPS - 1)
  const names = [...new Set([...kept.toSorted(inOrder), ...(kept.length < bySize.length ? [OTHER] : [])])]
  const indexes = new Map(names.map((name, index) => [name, index]))
  const of = new Int32Array(first.at(-1) as number)
  for (const [index, ticket] of tickets.entries()) {
    const group = indexes.get(nameOf(ticket)) ?? (indexes.get(OTHER) as number)
    of.fill(group, first[index], first[index + 1])
  }
  return { names, of }
}

/** Numbers by size, texts by their characters. */
const inOrder = (a: string, b: string) => Number(a) - Number(b) || (a < b ? -1 : Number(a > b))
