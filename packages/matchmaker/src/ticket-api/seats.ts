// pure: the ticket of each player of a party
import type { Ticket } from '../tickets/ticket.js'

/**
 * For the matchmaker a party is one ticket; for clients of this API each of its players has a ticket of their own. A
 * single player's ticket keeps its id; those of a party are called `<id>.0`, `<id>.1` and so on, in the party's order.
 */
export interface Seat {
  readonly ticket: Ticket
  /** Which of the ticket's players. */
  readonly index: number
}

export const seatId = ({ ticket, index }: Seat): string =>
  ticket.players.length === 1 ? ticket.id : `${ticket.id}.${index}`

/** The matchmaker's ticket that a seat's id names; of a party's own id the player is not known. */
export function parseSeatId(id: string): { readonly ticketId: string; readonly index: number | undefined } {
  const dot = id.indexOf('.')
  if (dot === -1) return { ticketId: id, index: undefined }
  const index = /^(?:0|[1-9]\d{0,2})$/.test(id.slice(dot + 1)) ? Number(id.slice(dot + 1)) : -1
  return { ticketId: id.slice(0, dot), index }
}

/**
 * The seat that an id means to someone: one of theirs, or any where `playerId` is undefined. Undefined if there is
 * none. A party's own id means one's own seat; to whoever may see all, the first.
 */
export function seatOf(ticket: Ticket, index: number | undefined, playerId: string | undefined): Seat | undefined {
  const { players } = ticket
  if (index === undefined) {
    const own = playerId === undefined ? 0 : players.findIndex(({ id }) => id === playerId)
    return own === -1 ? undefined : { ticket, index: own }
  }
  const player = players.length === 1 ? undefined : players[index]
  return player === undefined || (playerId !== undefined && player.id !== playerId) ? undefined : { ticket, index }
}
