import type { Random } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { InvalidTicket, PlayerBusy, PlayerOverLimit, PlayerPlaying, unknownQueue } from '../errors.js'
import { newId } from '../ids.js'
import { readTicketInput } from '../tickets/ticket-input.js'
import type { Ticket } from '../tickets/ticket.js'
import type { Player } from '../player.js'
import { isBackend, type TicketCaller } from './caller.js'
import {
  isComplete,
  isOwner,
  memberOf,
  playerIn,
  withMember,
  withoutMember,
  type Group,
  type GroupMember,
} from './group.js'
import type { GroupStore } from './group-store.js'
import { problemOf } from './problems.js'
import type { TicketService } from './service.js'
import { groupView, memberView, type GroupView, type MemberView } from './group-views.js'

/** The group commands of the ticket API. A refused command throws a {Problem}. */
export interface Groups {
  create(profile: string, player: Player, ready: boolean): MemberView
  join(groupId: string, profile: string, player: Player, ready: boolean): MemberView
  read(groupId: string, caller: TicketCaller): GroupView
  readMember(groupId: string, memberId: string, caller: TicketCaller): MemberView
  setReady(groupId: string, memberId: string, ready: boolean, caller: TicketCaller): MemberView
  leave(groupId: string, memberId: string, caller: TicketCaller): void
  cancel(groupId: string, caller: TicketCaller): void
}

export interface GroupsOptions {
  readonly service: Pick<TicketService, 'playerMayState' | 'createTicket' | 'getTicket' | 'cancelTicket'>
  readonly store: GroupStore
  /** Returns the names of all queues, for the error about an unknown queue. */
  readonly queueNames: () => readonly string[]
  readonly random: Random
}

interface Own {
  readonly group: Group
  readonly member: GroupMember
}

/** Most members of a group (our choice): larger than any queue's party, and a bound on the memory of a group. */
const MOST_MEMBERS = 64

const noGroup = () => new Problem(404, 'no-such-group', 'there is no such group, or it is not yours')
const noMember = () => new Problem(404, 'no-such-member', 'there is no such member, or it is not you')
const alreadySearching = () =>
  new Problem(409, 'already-searching', 'the group is searching already: cancel it, and make a new one')

export function createGroups({ service, store, queueNames, random }: GroupsOptions): Groups {
  const ticketOf = (group: Group): Ticket | undefined => (group.searching ? service.getTicket(group.id) : undefined)

  const found = (groupId: string): Group => {
    const group = store.find(groupId)
    if (group === undefined) throw noGroup()
    return group
  }
  /** Finds a group that the caller may see. */
  const seen = (groupId: string, caller: TicketCaller): Group => {
    const group = found(groupId)
    if (!isBackend(caller) && playerIn(group, caller.id) === undefined) throw noGroup()
    return group
  }
  /** Finds a member that the caller may see and change. */
  const own = (groupId: string, memberId: string, caller: TicketCaller): Own => {
    const group = seen(groupId, caller)
    const member = memberOf(group, memberId)
    if (member === undefined || !(isBackend(caller) || member.player.id === caller.id)) throw noMember()
    return { group, member }
  }

  /**
   * Stores the group, and creates its ticket once all members are ready. If the ticket is refused, nothing has changed.
   */
  const update = (group: Group, by: GroupMember): MemberView => {
    const searching = isComplete(group)
    if (searching) start(group, by, service)
    const kept = { ...group, searching }
    store.put(kept)
    return memberView(kept, by, ticketOf(kept))
  }
  /**
   * Removes a member from a group that gathers. If all others are ready, their search begins; if it is refused, all
   * members become not ready.
   */
  const remove = (group: Group, memberId: string) => {
    const left = withoutMember(group, memberId)
    const [first] = left.members
    try {
      if (first === undefined) store.put(left)
      else update(left, first)
    } catch {
      store.put({ ...left, members: left.members.map((member) => ({ ...member, ready: false })) })
    }
  }
  /** Removes the player from another group in which the player gathers. */
  const leaveOthers = (playerId: string, groupId: string) => {
    const other = store.gathering(playerId)
    const member = other && playerIn(other, playerId)
    if (other !== undefined && member !== undefined && other.id !== groupId) remove(other, member.id)
  }

  /** Checks a player when they join, because the group's ticket may be created much later. */
  const check = (profile: string, player: Player) => {
    if (service.playerMayState(profile) === undefined) throw unknownQueue(profile, queueNames())
    readTicketInput({ queue: profile, players: [player] })
  }
  const cancelTicket = (group: Group) => void service.cancelTicket(group.id)

  return {
    create: (profile, player, ready) => {
      check(profile, player)
      const member: GroupMember = { id: newId(random), player, ready }
      const group: Group = { id: newId(random), profile, members: [member], searching: false }
      leaveOthers(player.id, group.id)
      return update(group, member)
    },

    join: (groupId, profile, player, ready) => {
      check(profile, player)
      const group = found(groupId)
      const before = playerIn(group, player.id)
      if (group.searching) {
        // The player has joined before; the answer may have been lost.
        if (before !== undefined) return memberView(group, before, ticketOf(group))
        throw alreadySearching()
      }
      if (group.profile !== profile) {
        const message = `profile: the group is for ${JSON.stringify(group.profile)}`
        throw new Problem(400, 'other-profile', message, { field: 'profile' })
      }
      if (before === undefined && group.members.length === MOST_MEMBERS)
        throw new Problem(409, 'group-full', 'the group is full')
      const member: GroupMember = { id: before?.id ?? newId(random), player, ready }
      leaveOthers(player.id, groupId)
      return update(withMember(group, member), member)
    },

    read: (groupId, caller) => {
      const group = seen(groupId, caller)
      return groupView(group, ticketOf(group))
    },

    readMember: (groupId, memberId, caller) => {
      const { group, member } = own(groupId, memberId, caller)
      return memberView(group, member, ticketOf(group))
    },

    setReady: (groupId, memberId, ready, caller) => {
      const { group, member } = own(groupId, memberId, caller)
      if (group.searching) {
        if (!ready) throw alreadySearching()
        return memberView(group, member, ticketOf(group))
      }
      const changed = { ...member, ready }
      return update(withMember(group, changed), changed)
    },

    leave: (groupId, memberId, caller) => {
      const group = seen(groupId, caller)
      const member = memberOf(group, memberId)
      const may = isBackend(caller) || isOwner(group, caller.id) || member?.player.id === caller.id
      if (member === undefined || !may) throw noMember()
      // A party stays together: when one member leaves while it searches, its ticket is cancelled.
      if (group.searching) return cancelTicket(group)
      remove(group, memberId)
    },

    cancel: (groupId, caller) => {
      const group = seen(groupId, caller)
      if (!isBackend(caller) && !isOwner(group, caller.id)) {
        throw new Problem(403, 'not-owner', 'only the owner of the group may cancel it')
      }
      if (group.searching) return cancelTicket(group)
      store.put({ ...group, members: [] })
    },
  }
}

/** Creates the group's ticket. A member is not told the details of what is wrong with another member. */
function start(group: Group, by: GroupMember, service: Pick<TicketService, 'createTicket'>): void {
  const players = group.members.map(({ player }) => player)
  try {
    service.createTicket({ id: group.id, queue: group.profile, players })
  } catch (error) {
    const index = players.findIndex(({ id }) => id === by.player.id)
    if (error instanceof PlayerBusy && error.playerId !== by.player.id) {
      throw new Problem(409, 'member-busy', 'another member waits for a match already')
    }
    if (error instanceof PlayerPlaying && error.playerId !== by.player.id) {
      throw new Problem(409, 'member-playing', 'another member plays in a match')
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
