// pure: an open backfill as text
import type { RuleTicket } from '../../queues/rules/facts.js'
import type { BackfillRecord, Match, TicketRecord } from '../../tickets/records.js'
import type { Present } from '../../tickets/vacancies.js'

/** An open backfill, for a process that takes its match over together with the match's tickets. */
export interface SavedBackfill {
  readonly id: string
  readonly matchId: string
  readonly version: number
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly priority: number
  readonly rooms: readonly number[]
  readonly present: readonly (readonly SavedPresent[])[]
  readonly tickets: readonly string[]
}

/** A ticket of the match, and which of its players are still there; or what a game said of somebody else. */
type SavedPresent = { readonly ticketId: string; readonly playerIds: readonly string[] } | { readonly told: RuleTicket }

const isOfMatch = (ticket: RuleTicket): ticket is TicketRecord => 'seat' in ticket

const saved = (ticket: RuleTicket): SavedPresent =>
  isOfMatch(ticket) ? { ticketId: ticket.id, playerIds: ticket.players.map(({ id }) => id) } : { told: ticket }

/** The JSON text of an open backfill. It holds no player's address. */
export const saveBackfill = (record: BackfillRecord): string =>
  JSON.stringify({
    id: record.id,
    matchId: record.match.matchId,
    version: record.version,
    createdAt: record.createdAt,
    priority: record.priority,
    rooms: record.rooms,
    present: record.present.map((tickets) => tickets.map(saved)),
    tickets: record.tickets,
  } satisfies SavedBackfill)

/** Who was present by a saved backfill, as far as their tickets are in the match. */
export function presentAgain({ present }: SavedBackfill, match: Match): Present {
  const tickets = new Map(match.placed.map(({ ticket }) => [ticket.id, ticket]))
  return present.map((team) =>
    team.flatMap((one) => {
      if ('told' in one) return [one.told]
      const ticket = tickets.get(one.ticketId)
      if (ticket === undefined) return []
      const players = ticket.players.filter(({ id }) => one.playerIds.includes(id))
      return players.length === ticket.players.length ? [ticket] : [{ ...ticket, players }]
    }),
  )
}
