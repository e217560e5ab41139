// pure: groups and their members as clients of the ticket API see them
import type { Ticket, TicketStatus } from '../tickets/ticket.js'
import type { Group, GroupMember } from './group.js'
import { seatId } from './seats.js'
import { assignmentView, type AssignmentView } from './views.js'

/** The status is FORMING (our word) until all members are ready; then it is the status of their ticket. */
export type GroupStatus = TicketStatus | 'FORMING'

/**
 * A member's own place in a group. The keys up to `assignment` are those that existing game clients read (public fact).
 */
export interface MemberView {
  readonly member_id: string
  readonly group_id: string
  readonly is_ready: boolean
  readonly status: GroupStatus
  readonly ticket_id: string | null
  readonly team_id: string | null
  readonly assignment: AssignmentView | null
  readonly match_id: string | null
}

/**
 * A group as its members see it. The keys up to `assignment` are those that existing game clients read (public fact).
 */
export interface GroupView {
  readonly status: GroupStatus
  readonly team_id: string | null
  readonly assignment: AssignmentView | null
  readonly group_id: string
  readonly profile: string
  /** The members; the first is the owner. */
  readonly members: readonly { readonly player_id: string; readonly is_ready: boolean }[]
}

const ofTicket = (ticket: Ticket | undefined) => ({
  status: ticket?.status ?? ('FORMING' as const),
  team_id: ticket?.team ?? null,
  assignment: ticket?.assignment === undefined ? null : assignmentView(ticket.assignment),
})

/**
 * The view of a member.
 * @param ticket the group's ticket; undefined while the group gathers.
 */
export function memberView(group: Group, member: GroupMember, ticket: Ticket | undefined): MemberView {
  const index = group.members.findIndex(({ id }) => id === member.id)
  return {
    member_id: member.id,
    group_id: group.id,
    is_ready: member.ready,
    ticket_id: ticket === undefined ? null : seatId({ ticket, index }),
    match_id: ticket?.matchId ?? null,
    ...ofTicket(ticket),
  }
}

/**
 * The view of a group.
 * @param ticket the group's ticket; undefined while the group gathers.
 */
export const groupView = (group: Group, ticket: Ticket | undefined): GroupView => ({
  ...ofTicket(ticket),
  group_id: group.id,
  profile: group.profile,
  members: group.members.map(({ player, ready }) => ({ player_id: player.id, is_ready: ready })),
})
