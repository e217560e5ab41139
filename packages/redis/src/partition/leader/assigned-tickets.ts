import type { Ticket } from '@muster/matchmaker'

/** The tickets of running matches, which end with their match. */
export interface AssignedTickets {
  /** The ticket is as given now. */
  put(ticket: Ticket): void
  /** The ticket is in no running match. */
  remove(ticketId: string): void
  of(matchId: string): readonly Ticket[]
  /** The match is over. */
  forget(matchId: string): void
  matches(): Iterable<string>
}

const NONE: readonly Ticket[] = []

export function createAssignedTickets(): AssignedTickets {
  const byMatch = new Map<string, Map<string, Ticket>>()
  const matchOf = new Map<string, string>()

  const remove = (ticketId: string) => {
    const matchId = matchOf.get(ticketId)
    if (matchId === undefined) return
    matchOf.delete(ticketId)
    const tickets = byMatch.get(matchId)
    tickets?.delete(ticketId)
    if (tickets?.size === 0) byMatch.delete(matchId)
  }

  return {
    put: (ticket) => {
      const { id, matchId, status } = ticket
      remove(id)
      if (status !== 'HOST_ASSIGNED' || matchId === undefined) return
      matchOf.set(id, matchId)
      const tickets = byMatch.get(matchId)
      if (tickets === undefined) byMatch.set(matchId, new Map([[id, ticket]]))
      else tickets.set(id, ticket)
    },
    remove,
    of: (matchId) => {
      const tickets = byMatch.get(matchId)
      return tickets === undefined ? NONE : [...tickets.values()]
    },
    forget: (matchId) => {
      for (const ticketId of byMatch.get(matchId)?.keys() ?? []) matchOf.delete(ticketId)
      byMatch.delete(matchId)
    },
    matches: () => byMatch.keys(),
  }
}
