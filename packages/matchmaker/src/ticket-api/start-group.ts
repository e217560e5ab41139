import { Problem } from '@muster/core/http'
import { InvalidTicket, PlayerBusy, PlayerCoolingDown, PlayerOverLimit, PlayerPlaying } from '../errors.js'
import type { Ticket } from '../tickets/ticket.js'
import type { Group, GroupMember } from './group.js'
import { problemOf } from './problems.js'
import { isoTime } from './views.js'
import type { TicketService } from './service.js'

/**
 * Creates the group's ticket. A member is not told the details of what is wrong with another member.
 * @param by the member whose request starts the search.
 * @throws {Problem}
 */
export async function startGroup(
  group: Group,
  by: GroupMember,
  service: Pick<TicketService, 'createTicket'>,
): Promise<Ticket> {
  const players = group.members.map(({ player }) => player)
  try {
    return await service.createTicket({ id: group.id, queue: group.profile, players })
  } catch (error) {
    const index = players.findIndex(({ id }) => id === by.player.id)
    if (error instanceof PlayerBusy && error.playerId !== by.player.id) {
      throw new Problem(409, 'member-busy', 'another member waits for a match already')
    }
    if (error instanceof PlayerPlaying && error.playerId !== by.player.id) {
      throw new Problem(409, 'member-playing', 'another member plays in a match')
    }
    if (error instanceof PlayerCoolingDown && error.playerId !== by.player.id) {
      const { retryAfterMs, until } = error
      throw new Problem(409, 'member-cooling-down', 'another member may not wait for a match yet', {
        members: { retry_at: isoTime(until) },
        retryAfterMs,
      })
    }
    if (error instanceof PlayerOverLimit && error.playerId !== by.player.id) {
      throw new Problem(429, 'member-over-limit', 'another member has had too many matches', {
        retryAfterMs: error.retryAfterMs,
      })
    }
    const field = error instanceof InvalidTicket ? (error.field ?? '') : ''
    if (field.startsWith('players.') && !field.startsWith(`players.${index}.`)) {
      throw new Problem(409, 'member-refused', 'what another member has sent does not fit')
    }
    throw problemOf(error) ?? error
  }
}
