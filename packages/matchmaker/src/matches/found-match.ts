// pure: what a server is asked for, and told
import type { Attributes } from '../player.js'
import type { FoundMatch, FoundTicket, Allocation, Order } from '../servers/allocation.js'

export function foundMatch({ matchId, queue, at }: Pick<Allocation, 'matchId' | 'queue' | 'at'>, order: Order): FoundMatch {
  const { tickets, teams, rules, expansionMs } = order
  let equality: Map<string, string | number> | undefined
  let intersection: Map<string, readonly string[]> | undefined
  for (const rule of rules) {
    if (rule.kind === 'equal') {
      const [value, ...others] = new Set(valuesOf(tickets, rule.attribute))
      // A rule that gave way lets different ones meet.
      if (value !== undefined && others.length === 0 && !isList(value)) (equality ??= new Map()).set(rule.attribute, value)
    } else if (rule.kind === 'overlap') {
      const [first = [], ...others] = valuesOf(tickets, rule.attribute).filter(isList)
      ;(intersection ??= new Map()).set(
        rule.attribute,
        first.filter((one) => others.every((list) => list.includes(one))),
      )
    }
  }
  return {
    id: matchId,
    queue,
    tickets,
    teams: teams.map(({ name }, team) => ({ name, ticketIds: idsIn(team, order) })),
    foundAt: at,
    expansionMs,
    equality: equality === undefined ? NOTHING : Object.fromEntries(equality),
    intersection: intersection === undefined ? NOTHING : Object.fromEntries(intersection),
  }
}

/** Most queues have no rule of these kinds. */
const NOTHING: Readonly<Record<string, never>> = Object.freeze({})

const idsIn = (team: number, { tickets, teamOf }: Order): readonly string[] =>
  tickets.flatMap(({ id }, index) => (teamOf[index] === team ? [id] : []))

/** Those of the players who have the attribute. */
const valuesOf = (tickets: readonly FoundTicket[], attribute: string): Attributes[string][] =>
  tickets.flatMap(({ players }) =>
    players.flatMap(({ attributes = NOTHING }) =>
      Object.hasOwn(attributes, attribute) ? [attributes[attribute] as Attributes[string]] : [],
    ),
  )

const isList = (value: Attributes[string]): value is readonly string[] => Array.isArray(value)
