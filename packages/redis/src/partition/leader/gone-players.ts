import type { Leader, OpenIntent } from '@muster/matchmaker/partition'
import type { PartitionStore } from '../store/store.js'
import type { AssignedTickets } from './assigned-tickets.js'

/** A player of a running match whose ticket is not known to be assigned to it. */
export interface Joining {
  readonly matchId: string
  readonly playerId: string
}

export function joiningIn(
  { matchId, assigned: isRunning, requestId, playerIds = [] }: OpenIntent,
  assigned: Pick<AssignedTickets, 'of'>,
): readonly Joining[] {
  if (!isRunning || requestId === undefined) return []
  const tickets = assigned.of(matchId)
  const isPlaying = (playerId: string) => tickets.some(({ players }) => players.some(({ id }) => id === playerId))
  return playerIds.flatMap((playerId) => (isPlaying(playerId) ? [] : [{ matchId, playerId }]))
}

/**
 * Takes players out of running matches whose ticket is in the match no more: while nobody led, a front has cancelled
 * the ticket by which they were about to join.
 */
export async function removeGonePlayers(
  leader: Pick<Leader, 'getTicket' | 'playersLeft'>,
  store: Pick<PartitionStore, 'playerTickets'>,
  joining: readonly Joining[],
): Promise<void> {
  if (joining.length === 0) return
  const tickets = await store.playerTickets(joining.map(({ playerId }) => playerId))
  for (const [index, { matchId, playerId }] of joining.entries()) {
    const isThere = tickets[index]?.some((id) => leader.getTicket(id)?.matchId === matchId) === true
    if (!isThere) leader.playersLeft(matchId, [playerId])
  }
}
