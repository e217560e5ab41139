// pure: what a server is asked for, and told
import type { FoundMatch } from '../allocation/match.js'
import type { Attributes } from '../rules/definition.js'
import type { TicketRecord } from '../tickets/record.js'
import type { Roster } from './roster.js'

export function foundMatch({ matchId, queue, teams, foundAt, expansionMs, seated: tickets }: Roster): FoundMatch {
  let equality: Map<string, string | number> | undefined
  let intersection: Map<string, readonly string[]> | undefined
  for (const rule of queue.rules) {
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
    queue: queue.name,
    tickets,
    teams: teams.map(({ name }, team) => ({ name, ticketIds: idsIn(team, tickets) })),
    foundAt,
    expansionMs,
    equality: equality === undefined ? NOTHING : Object.fromEntries(equality),
    intersection: intersection === undefined ? NOTHING : Object.fromEntries(intersection),
  }
}

/** Most queues have no rule of these kinds. */
const NOTHING = Object.freeze({})

/** A list that something is pushed to is given room for many: most teams are a ticket, or a few. */
function idsIn(team: number, tickets: readonly TicketRecord[]): readonly string[] {
  let ids: string[] = []
  for (const { id, seat } of tickets) if (seat?.team === team) ids = ids.length === 0 ? [id] : [...ids, id]
  return ids
}

/** Those of the players who have the attribute. */
const valuesOf = (tickets: readonly TicketRecord[], attribute: string): Attributes[string][] =>
  tickets.flatMap(({ players }) =>
    players.flatMap(({ attributes }) =>
      Object.hasOwn(attributes, attribute) ? [attributes[attribute] as Attributes[string]] : [],
    ),
  )

const isList = (value: Attributes[string]): value is readonly string[] => Array.isArray(value)
