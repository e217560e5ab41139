import { InvalidTicket } from '../errors.js'
import type { Queue } from '../queues/queue.js'
import { bytesOfTicket, type FoundTicket, roughBytesOfTicket, shareOf, type Told } from '@muster/servers'

/** Refuses a ticket of which a server could not be told, in the largest match of its queue. @throws {InvalidTicket} */
export type CheckEnvironment = (ticket: FoundTicket) => void

/** What the servers of a queue are told. @param teams of a match. */
export const toldBy = (
  { name, deploy, rules }: Queue,
  teams: readonly { readonly name: string; readonly max: number }[],
): Told => ({
  queue: name,
  deploy,
  teams: teams.map((team) => team.name),
  players: teams.reduce((sum, { max }) => sum + max, 0),
  common: rules.flatMap((rule) => (rule.kind === 'equal' || rule.kind === 'overlap' ? [rule.attribute] : [])),
})

/**
 * What all players of the largest match take together fits into the environment of a server: whoever takes more is
 * refused, so that nobody can make the matches of others impossible.
 */
export function createCheckEnvironment(told: Told): CheckEnvironment {
  const share = shareOf(told)
  return (ticket) => {
    const mayTake = share * ticket.players.length
    if (roughBytesOfTicket(ticket, told) <= mayTake) return
    const bytes = bytesOfTicket(ticket, told)
    if (bytes <= mayTake) return
    const field = ticket.players.length === 1 ? 'players.0.attributes' : 'players'
    const message =
      `are too large: their server would be told ${bytes} bytes about them, ` +
      `and of a match of ${told.players} players only ${mayTake} fit`
    throw new InvalidTicket(`ticket: ${field}: ${message}`, { field })
  }
}
