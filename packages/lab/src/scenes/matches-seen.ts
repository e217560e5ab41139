// pure: the matches that there are in a view of a scene
import type { Player, Ticket } from '@muster/matchmaker'
import { durationWords } from './durations.js'
import type { SceneTicket } from './scene.js'
import type { View } from './play.js'

/** A view with what is asked of it again and again. */
export interface Sight {
  readonly view: View
  /** The scene's tickets by their ids. */
  readonly tickets: ReadonlyMap<string, SceneTicket>
  /** In the order in which their first tickets came. */
  readonly matches: readonly SeenMatch[]
  matchOf(id: string): SeenMatch | undefined
}

export interface SeenMatch {
  readonly tickets: readonly Ticket[]
}

export function sightOf(view: View, tickets: ReadonlyMap<string, SceneTicket>): Sight {
  const matches = new Map<string, Ticket[]>()
  const matchIds = new Map<string, string>()
  for (const id of tickets.keys()) {
    const ticket = view.ticket(id)
    if (ticket?.matchId === undefined || ticket.status === 'CANCELLED') continue
    matchIds.set(id, ticket.matchId)
    const others = matches.get(ticket.matchId)
    if (others === undefined) matches.set(ticket.matchId, [ticket])
    else others.push(ticket)
  }
  const seen = new Map([...matches].map(([id, found]) => [id, { tickets: found }]))
  return { view, tickets, matches: [...seen.values()], matchOf: (id) => seen.get(matchIds.get(id) ?? '') }
}

export const idsOf = ({ tickets }: SeenMatch): string[] => tickets.map(({ id }) => id)

/** The tickets of each team of a match, by the team's name. */
export function teamsOf({ tickets }: SeenMatch): ReadonlyMap<string, readonly string[]> {
  const names = [...new Set(tickets.map(({ team = '' }) => team))].toSorted()
  return new Map(names.map((name) => [name, tickets.filter(({ team = '' }) => team === name).map(({ id }) => id)]))
}

/** The numbers that players of these tickets have for an attribute. */
export function numbersOf(ids: readonly string[], attribute: string, { tickets }: Pick<Sight, 'tickets'>): number[] {
  const valueOf = ({ attributes = {} }: Player) => attributes[attribute]
  return ids
    .flatMap((id) => tickets.get(id)?.players ?? [])
    .map(valueOf)
    .filter((value) => typeof value === 'number')
}

/** Most names in a sentence. */
const MOST_NAMES = 12

/** `a, b and c` */
export function listed(names: readonly string[]): string {
  if (names.length > MOST_NAMES) return `${names.slice(0, MOST_NAMES).join(', ')} and ${names.length - MOST_NAMES} more`
  return names.length < 2 ? (names[0] ?? 'none') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
}

/** What has become of a ticket, e.g. `a is matched with b since 3s`. */
export function stateWords(id: string, { view, tickets, matchOf }: Sight): string {
  const ticket = view.ticket(id)
  if (ticket === undefined) return `${id} was refused (${view.refusal(id) ?? 'it has not come'})`
  const since = (epochMs = ticket.createdAt) => durationWords(Math.max(0, epochMs - startOf(ticket, tickets)))
  switch (ticket.status) {
    case 'SEARCHING':
      return `${id} waits`
    case 'CANCELLED':
      return `${id} has ended at ${since(ticket.cancelledAt)}: ${ticket.cancelReason}`
    default: {
      const match = matchOf(id)
      const others = match === undefined ? [] : idsOf(match).filter((other) => other !== id)
      const how = others.length === 0 ? 'alone' : `with ${listed(others)}`
      return `${id} is matched ${how} since ${since(ticket.matchedAt)}`
    }
  }
}

/** Epoch milliseconds of the scene's start. */
const startOf = ({ id, createdAt }: Ticket, tickets: Sight['tickets']) => createdAt - (tickets.get(id)?.at ?? 0)
