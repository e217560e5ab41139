import { TooLate, UnknownTicket, type Assignment, type Matchmaker, type TicketService } from '@muster/matchmaker'
import type { Attributes, Lobbies, LobbyMatchmaker, MatchReport } from '@muster/relay'

export interface LobbyPartiesOptions {
  readonly service: TicketService
  readonly on: Matchmaker['on']
  readonly queue: string
  readonly onProblem: (error: unknown) => void
}

/** Started lobbies that wait in a queue as parties. */
export interface LobbyParties {
  readonly matchmaker: LobbyMatchmaker
  /** Tells the lobbies from now on what becomes of their tickets. */
  readonly reportTo: (lobbies: Lobbies) => void
}

/** The players of a started lobby become one ticket, whose id is the key of the start. */
export function createLobbyParties({ service, on, queue, onProblem }: LobbyPartiesOptions): LobbyParties {
  return {
    matchmaker: {
      handOver: async ({ key, players }) => {
        await service.createTicket({ id: key, queue, players: players.map(({ id, ip }) => ({ id, ip })) })
        return { reference: key }
      },
      withdraw: async (ticketId) => {
        try {
          await service.cancelTicket(ticketId)
        } catch (error) {
          // It has ended, or the players know where to connect: then there is nothing to withdraw.
          if (!(error instanceof UnknownTicket || error instanceof TooLate)) throw error
        }
      },
    },
    reportTo: (lobbies) => {
      /** The tickets of matches that run. Lobbies know by the key that a ticket of others is none of theirs. */
      const playing = new Map<string, readonly string[]>()
      const report = (keys: readonly string[], reportOf: (key: string) => MatchReport) => {
        for (const key of keys) lobbies.reportMatch(reportOf(key)).catch(onProblem)
      }
      on('assigned', ({ matchId, tickets, assignment }) => {
        const keys = tickets.map(({ id }) => id)
        playing.set(matchId, keys)
        report(keys, (key) => ({ key, status: 'assigned', assignment: attributesOf(matchId, assignment) }))
      })
      on('deploymentStopped', ({ matchId }) => {
        const keys = playing.get(matchId) ?? []
        playing.delete(matchId)
        report(keys, (key) => ({ key, status: 'ended', reason: 'over' }))
      })
      on('expired', ({ ticket }) => report([ticket.id], (key) => ({ key, status: 'ended', reason: 'expired' })))
      on('cancelled', ({ ticket, reason }) => report([ticket.id], (key) => ({ key, status: 'ended', reason })))
    },
  }
}

/** Attributes of a lobby are flat, and 32 at most. */
const MOST_PORTS = 30

/** `{ match: …, host: …, 'port.game': 'host:31000' }`. */
function attributesOf(matchId: string, { fqdn, ports }: Assignment): Attributes {
  const links = Object.entries(ports).slice(0, MOST_PORTS)
  return {
    match: matchId,
    host: fqdn,
    ...Object.fromEntries(links.map(([name, { link, external }]) => [`port.${name}`, link ?? `${fqdn}:${external}`])),
  }
}
