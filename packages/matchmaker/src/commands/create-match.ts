import type { Random } from '@muster/core/clock'
import { checkMatch, inMatch } from '../tickets/match-checker.js'
import type { QueueRuntime } from '../tickets/records.js'
import { ticketOf } from '../tickets/ticket-view.js'
import type { Tickets } from '../tickets/tickets.js'
import type { Matchmaker } from './matchmaker.js'

export interface CreatingMatches {
  readonly tickets: Pick<Tickets, 'createTogether' | 'find'>
  /** By name. */
  readonly runtimes: () => ReadonlyMap<string, QueueRuntime>
  /** Begins private matches that wait for a server, if servers may be created now. */
  readonly begin: () => void
  readonly random: Random
  /** @throws {MatchmakerClosed} */
  readonly refuseIfClosed: () => void
}

/** Creates the command that makes a match of given players. */
export function createMatchCreation(options: CreatingMatches): Pick<Matchmaker, 'createMatch'> {
  const { tickets, runtimes, begin, random, refuseIfClosed } = options
  return {
    createMatch: (input) => {
      refuseIfClosed()
      const match = checkMatch(input, runtimes(), random)
      const created = inMatch(undefined, () => tickets.createTogether(match.tickets))
      begin()
      return {
        id: match.id,
        tickets: created.map((ticket) => {
          const record = tickets.find(ticket.id)
          return record === undefined ? ticket : ticketOf(record)
        }),
      }
    },
  }
}
