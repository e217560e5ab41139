import type { Leader } from '@muster/matchmaker/partition'
import type { PartitionStore } from '../store/store.js'
import type { AssignedTickets } from './assigned-tickets.js'

/**
 * Takes players out of running matches whose ticket is in the match no more: while nobody led, a front has cancelled
 * the ticket by which they were about to join.
 */
export async function removeGonePlayers(
  leader: Pick<Leader, 'inspect' | 'getTicket' | 'playersLeft'>,
  store: Pick<PartitionStore, 'playerTickets'>,
  assigned: Pick<AssignedTickets, 'of'>,
): Promise<void> {
  const joining = leader.inspect().matches.flatMap(({ matchId, phase, playerIds }) => {
    if (phase !== 'running') return []
    const playing = new Set(assigned.of(matchId).flatMap(({ players }) => players.map(({ id }) => id)))
    return playerIds.flatMap((playerId) => (playing.has(playerId) ? [] : [{ matchId, playerId }]))
  })
  if (joining.length === 0) return
  const tickets = await store.playerTickets(joining.map(({ playerId }) => playerId))
  for (const [index, { matchId, playerId }] of joining.entries()) {
    const isThere = tickets[index]?.some((id) => leader.getTicket(id)?.matchId === matchId) === true
    if (!isThere) leader.playersLeft(matchId, [playerId])
  }
}
