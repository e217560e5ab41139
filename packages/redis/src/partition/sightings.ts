// pure: sightings of clients on their way to the leader, as short as can be: there are many
import type { Sighting } from '@muster/matchmaker'

/** The id of a ticket whose players are all there, or with one player of it. */
export type PackedSighting = string | readonly [ticketId: string, playerId: string]

export const packSighting = ({ ticketId, playerId }: Sighting): PackedSighting =>
  playerId === undefined ? ticketId : [ticketId, playerId]

export const unpackSighting = (packed: PackedSighting): Sighting =>
  typeof packed === 'string' ? { ticketId: packed } : { ticketId: packed[0], playerId: packed[1] }
