// pure: seats, which give each player of a party a ticket of their own
import type { Ticket } from '../tickets/ticket.js'

/**
 * The ticket of one player. For the matchmaker a party is one ticket; for clients of this API each player has a ticket.
 * A single player's ticket keeps its id; those of a party have the ids `<id>.0`, `<id>.1` and so on, in the party's
 * order.
 */
export interface Seat {
  readonly ticket: Ticket
  /** Index of the player in the ticket. */
  readonly index: number
}

export const seatId = ({ ticket, index }: Seat): string =>
  ticket.players.length === 1 ? ticket.id : `${ticket.id}.${index}`

/**
 * The matchmaker's ticket and the player's index that a seat's id names; the index is undefined for the id of a party.
 */
export function parseSeatId(id: string): { readonly ticketId: string; readonly index: number | undefined } {
  const dot = id.indexOf('.')
  if (dot === -1) return { ticketId: id, index: undefined }
  const index = /^(?:0|[1-9]\d{0,2})$/.test(id.slice(dot + 1)) ? Number(id.slice(dot + 1)) : -1
  return { ticketId: id.slice(0, dot), index }
}

/**
 * The seat that an id names for a caller: one of the player `playerId`, or any seat if `playerId` is undefined.
 * Undefined if there is none. The id of a party names the player's own seat, or the first seat if `playerId` is
 * undefined.
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
