// pure: what a server is asked for, and told
import type { FoundMatch } from '../allocation/match.js'
import type { Attributes } from '../rules/definition.js'
import type { TicketRecord } from '../tickets/record.js'
import type { Roster } from './roster.js'

export function foundMatch({ matchId, queue, teams, foundAt, expansionMs, seated: tickets }: Roster): FoundMatch {
  const equality = new Map<string, string | number>()
  const intersection = new Map<string, readonly string[]>()
  for (const rule of queue.rules) {
    if (rule.kind === 'equal') {
      const [value, ...others] = new Set(valuesOf(tickets, rule.attribute))
      // A rule that gave way lets different ones meet.
      if (value !== undefined && others.length === 0 && !isList(value)) equality.set(rule.attribute, value)
    } else if (rule.kind === 'overlap') {
      const [first = [], ...others] = valuesOf(tickets, rule.attribute).filter(isList)
      intersection.set(
        rule.attribute,
        first.filter((one) => others.every((list) => list.includes(one))),
      )
    }
  }
  return {
    id: matchId,
    queue: queue.name,
    tickets,
    teams: teams.map(({ name }, team) => ({
      name,
      ticketIds: tickets.filter(({ seat }) => seat?.team === team).map(({ id }) => id),
    })),
    foundAt,
    expansionMs,
    equality: Object.fromEntries(equality),
    intersection: Object.fromEntries(intersection),
  }
}

/** Those of the players who have the attribute. */
const valuesOf = (tickets: readonly TicketRecord[], attribute: string): Attributes[string][] =>
  tickets.flatMap(({ players }) =>
    players.flatMap(({ attributes }) =>
      Object.hasOwn(attributes, attribute) ? [attributes[attribute] as Attributes[string]] : [],
    ),
  )

const isList = (value: Attributes[string]): value is readonly string[] => Array.isArray(value)
