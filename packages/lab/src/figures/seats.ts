// pure: players' skill and its bands; players in tickets, as columns
import type { Crowd, CrowdPlayer } from '../crowd/index.js'
import type { RunOutcome, TicketOutcome } from '../run/index.js'
import { meanAndDeviation } from '../statistics/index.js'
import type { Dimension, SkillBand } from './figures.js'

/** Returns the skill of a player: the true skill, or else the attribute. NaN if neither is known. */
function skillOf({ truth, attributes }: CrowdPlayer, attribute: string): number {
  if (truth !== undefined) return truth
  const value = attributes?.[attribute]
  return typeof value === 'number' ? value : Number.NaN
}

/** Mean and standard deviation of the crowd's skill, which are the scale of skill differences. */
export interface SkillScale {
  readonly mean: number
  readonly deviation: number
}

/** Returns the known skills of a crowd's players in ascending order. Each player counts once. */
export function skillsOf({ parties }: Crowd, attribute: string): Float64Array {
  const skills = parties.flatMap(({ players }) => players.map((player) => skillOf(player, attribute)))
  return Float64Array.from(skills.filter((skill) => !Number.isNaN(skill))).toSorted()
}

export function scaleOf(skills: Float64Array): SkillScale {
  if (skills.length === 0) return { mean: 0, deviation: 1 }
  const { mean, deviation } = meanAndDeviation(skills)
  return { mean, deviation: deviation || 1 }
}

/**
 * Quantiles at which bands of skill begin (our choice). The outer bands are narrow, because they have the extreme
 * skills.
 */
const QUANTILES = [0, 0.1, 0.25, 0.5, 0.75, 0.9, 1] as const

/** Returns bands of skill by quantiles. Bands with equal limits are merged. */
export function bandsOf(ascending: Float64Array): SkillBand[] {
  const count = ascending.length
  if (count === 0) return []
  const begins = QUANTILES.slice(0, -1).map((quantile) => ascending[Math.floor(quantile * count)] as number)
  let begun = 0
  return begins.flatMap((from, index) => {
    const to = begins[index + 1] ?? null
    if (from === to) return []
    const name = quantileName(QUANTILES[begun] as number, QUANTILES[index + 1] as number)
    begun = index + 1
    return [{ name, from, to }]
  })
}

function quantileName(from: number, to: number): string {
  const [low, high] = [Math.round(from * 100), Math.round(to * 100)]
  if (low === 0) return high === 100 ? 'all' : `lowest ${high} %`
  return high === 100 ? `highest ${100 - low} %` : `${low}–${high} %`
}

/** The measures of each matched player. A value is NaN if it is unknown. */
const MEASURES = ['waitMs', 'toPlayMs', 'distanceKm', 'latencyMs', 'skillSpread', 'teamGap', 'winChance'] as const
export type SeatMeasure = (typeof MEASURES)[number]

/**
 * The players in tickets, as columns: a player who queues twice has two seats. There is one column for each measure. A
 * crowd has hundreds of thousands of seats, so an object for each seat would take too much memory.
 */
export interface SeatTable {
  /** Index of the ticket of each seat. The seats of a ticket are adjacent, in the order of its players. */
  readonly ticket: Int32Array
  /** Index of the first seat of each ticket, followed by the number of seats. */
  readonly first: Int32Array
  readonly skill: Float64Array
  readonly measures: Readonly<Record<SeatMeasure, Float64Array>>
  /** The groups of each seat's player, in each dimension except the queue. */
  readonly groups: Readonly<Record<Exclude<Dimension, 'queue'>, SeatGroups>>
}

/** The group of each seat in a dimension. */
export interface SeatGroups {
  readonly names: readonly string[]
  /** For each seat, the index of its group's name; −1 for none. */
  readonly of: Int32Array
}

/** Maximum number of groups of a dimension. The players of all further groups are in `other`. */
const MOST_GROUPS = 24
const OTHER = 'other'
const UNKNOWN = 'unknown'

export function seatsOf(
  { parties }: Crowd,
  { tickets }: RunOutcome,
  bands: readonly SkillBand[],
  attribute: string,
): SeatTable {
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
      const known = skillOf(player, attribute)
      skill[seat] = known
      // The index is −1 if the skill is unknown, because NaN is in no band.
      band[seat] = bands.findLastIndex(({ from }) => known >= from)
    }
  }
  const groupsBy = (nameOf: (outcome: TicketOutcome) => string) => groupsOf(tickets, first, nameOf)
  return {
    ticket,
    first,
    skill,
    measures: Object.fromEntries(MEASURES.map((name) => [name, column()])) as Record<SeatMeasure, Float64Array>,
    groups: {
      region: groupsBy(({ party }) => parties[party]?.players[0]?.region ?? UNKNOWN),
      partySize: groupsBy(({ party }) => String(parties[party]?.players.length ?? 0)),
      skillBand: { names: bands.map(({ name }) => name), of: band },
    },
  }
}

function groupsOf(
  tickets: readonly TicketOutcome[],
  first: Int32Array,
  nameOf: (ticket: TicketOutcome) => string,
): SeatGroups {
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

/** Compares two names: as numbers if both are numbers, otherwise by their characters. */
const inOrder = (a: string, b: string) => Number(a) - Number(b) || (a < b ? -1 : Number(a > b))
