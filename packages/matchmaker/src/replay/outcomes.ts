import type { Matchmaker } from '../matches/matchmaker.js'
import type { CancelReason, Ticket } from '../tickets/ticket.js'
import type { Player } from '@muster/servers'

/** The outcome of a ticket. Times are epoch milliseconds, as in the recording. */
export interface ReplayedTicket {
  readonly id: string
  readonly playerIds: readonly string[]
  readonly createdAt: number
  /** `waiting`: the ticket still waited when the replay ended. */
  readonly outcome: 'assigned' | 'waiting' | CancelReason
  readonly endedAt?: number | undefined
  /** When its match was found, if the ticket was assigned. */
  readonly matchedAt?: number | undefined
  /** Set if the ticket was assigned. */
  readonly queue?: string | undefined
  readonly matchId?: string | undefined
  readonly team?: string | undefined
}

/** A match whose server was READY. */
export interface ReplayedMatch {
  readonly matchId: string
  readonly queue: string
  /** Epoch milliseconds at which its first tickets were assigned. */
  readonly assignedAt: number
  readonly tickets: readonly { readonly id: string; readonly team: string | undefined }[]
}

interface MatchSoFar extends Omit<ReplayedMatch, 'matchId' | 'tickets'> {
  readonly tickets: { readonly id: string; readonly team: string | undefined }[]
}

/** Collects the outcomes of a replay's tickets. */
export interface Outcomes {
  /** A ticket is about to be created. */
  expect(ticket: { readonly id: string; readonly players: readonly Player[] }, createdAt: number): void
  /** The ticket was refused. */
  forget(ticketId: string): void
  /** These players have left their match. */
  left(playerIds: readonly string[]): void
  /** The match in which a player plays. */
  matchOf(playerId: string): string | undefined
  playersOf(ticketId: string): readonly string[]
  /** Tickets that have not ended. */
  readonly waiting: number
  readonly players: ReadonlyMap<string, Player>
  tickets(): ReplayedTicket[]
  matches(): ReplayedMatch[]
}

export function createOutcomes({ on }: Pick<Matchmaker, 'on'>): Outcomes {
  const tickets = new Map<string, ReplayedTicket>()
  const players = new Map<string, Player>()
  const matches = new Map<string, MatchSoFar>()
  const playing = new Map<string, string>()
  let waiting = 0

  const end = ({ id }: Ticket, ending: Partial<ReplayedTicket>) => {
    const ticket = tickets.get(id)
    if (ticket?.outcome !== 'waiting') return
    waiting -= 1
    tickets.set(id, { ...ticket, ...ending })
  }

  on('assigned', ({ matchId, queue, tickets: assigned }) => {
    for (const ticket of assigned) {
      const { id, team, assignedAt = 0, matchedAt } = ticket
      end(ticket, { outcome: 'assigned', endedAt: assignedAt, matchedAt, queue, matchId, team })
      const match = matches.get(matchId) ?? { queue, assignedAt, tickets: [] }
      matches.set(matchId, match)
      match.tickets.push({ id, team })
      for (const player of ticket.players) playing.set(player.id, matchId)
    }
  })
  on('cancelled', ({ ticket, reason }) => end(ticket, { outcome: reason, endedAt: ticket.cancelledAt }))
  on('expired', ({ ticket }) => end(ticket, { outcome: 'expired', endedAt: ticket.cancelledAt }))

  return {
    expect: ({ id, players: party }, createdAt) => {
      // A repeated create of the same ticket counts once.
      if (tickets.get(id)?.outcome === 'waiting') return
      waiting += 1
      tickets.set(id, { id, playerIds: party.map((player) => player.id), createdAt, outcome: 'waiting' })
      for (const player of party) players.set(player.id, player)
    },
    forget: (ticketId) => {
      if (tickets.get(ticketId)?.outcome !== 'waiting') return
      waiting -= 1
      tickets.delete(ticketId)
    },
    left: (playerIds) => {
      for (const id of playerIds) playing.delete(id)
    },
    matchOf: (playerId) => playing.get(playerId),
    playersOf: (ticketId) => tickets.get(ticketId)?.playerIds ?? [],
    get waiting() {
      return waiting
    },
    players,
    tickets: () => [...tickets.values()],
    matches: () => Array.from(matches, ([matchId, match]) => ({ matchId, ...match })),
  }
}
