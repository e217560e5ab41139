import type { Matchmaker } from '../matches/matchmaker.js'
import type { Ticket } from '../tickets/ticket.js'

/** The tickets of each running match. */
export interface MatchMembers {
  of(matchId: string): readonly string[]
}

export function createMatchMembers({ on }: Pick<Matchmaker, 'on'>): MatchMembers {
  const members = new Map<string, Set<string>>()
  const add = (matchId: string, tickets: readonly Ticket[]) => {
    const known = members.get(matchId) ?? new Set()
    members.set(matchId, known)
    for (const { id } of tickets) known.add(id)
  }
  const leave = (matchId: string | undefined, ticketId: string) => {
    const known = members.get(matchId ?? '')
    known?.delete(ticketId)
    if (known?.size === 0) members.delete(matchId ?? '')
  }
  on('matchFound', ({ matchId, tickets }) => add(matchId, tickets))
  on('joined', ({ matchId, tickets }) => add(matchId, tickets))
  on('returned', ({ matchId, ticket }) => leave(matchId, ticket.id))
  on('cancelled', ({ ticket }) => leave(ticket.matchId, ticket.id))
  on('deploymentStopped', ({ matchId }) => void members.delete(matchId))
  return { of: (matchId) => [...(members.get(matchId) ?? [])] }
}
