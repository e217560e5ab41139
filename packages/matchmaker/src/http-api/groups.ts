import type { Clock, Random } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { newId } from '@muster/core/internal'
import type { Player } from '@muster/hosting/internal'
import {
  InvalidTicket,
  PlayerBusy,
  PlayerCoolingDown,
  PlayerOverLimit,
  PlayerPlaying,
  SeatRefused,
  unknownQueue,
  UnknownTicket,
} from '../errors.js'
import { readTicketInput, type Ticket } from '../tickets/index.js'
import { isBackend, isSelf, ownOf, type PlayerCaller as TicketCaller } from './callers.js'
import type { PresenceReporter } from './follow-ticket.js'
import {
  type Group,
  type GroupMember,
  type GroupStore,
  isComplete,
  memberOf,
  playerIn,
  type StoredGroup,
  withMember,
  withoutMember,
} from './group-store.js'
import { problemOf } from './problems.js'
import type { GroupView, MemberView } from './schemas.js'
import type { TicketService } from './service.js'
import { assignmentView, type Dates, isoTime, seatId } from './ticket-views.js'

const OF_OTHERS = [
  [PlayerBusy, 409, 'member-busy', 'Another member is already queued. Cancel that ticket first.'],
  [PlayerPlaying, 409, 'member-playing', 'Another member is still in a match.'],
  [PlayerCoolingDown, 409, 'member-cooling-down', 'Another member is on cooldown. Retry later.'],
  [PlayerOverLimit, 429, 'member-over-limit', 'Another member has reached the limit of matches. Retry later.'],
  [SeatRefused, 409, 'member-playing', 'Another member plays elsewhere.'],
] as const

/**
 * What the request's own player hears of an error about another member, without details of that member. Undefined for
 * an error about nobody, or about the player.
 */
export function memberProblem(error: unknown, ownId: string, dates: Dates): Problem | undefined {
  const about = OF_OTHERS.find(([kind]) => error instanceof kind)
  const { playerId, retryAfterMs, until } = error as Partial<PlayerCoolingDown>
  if (about === undefined || playerId === undefined || playerId === ownId) return undefined
  const [, status, code, detail] = about
  const members = until === undefined ? undefined : { retry_at: isoTime(dates.dateOf(until)) }
  return new Problem(status, code, detail, { members, retryAfterMs })
}

const isOwner = ({ members: [owner] }: Group, caller: TicketCaller): boolean =>
  owner !== undefined && isSelf(caller, owner.player.id)

/**
 * Creates the group's ticket. A member's error does not reveal details of another member.
 * @param by the member whose request starts the search.
 * @throws {Problem}
 */
async function startGroup(
  group: Group,
  by: GroupMember,
  service: Pick<TicketService, 'createTicket' | 'dateOf'>,
): Promise<Ticket> {
  const players = group.members.map(({ player }) => player)
  try {
    return await service.createTicket({ id: group.id, queue: group.profile, players })
  } catch (error) {
    const index = players.findIndex(({ id }) => id === by.player.id)
    const ofOther = memberProblem(error, by.player.id, service)
    if (ofOther !== undefined) throw ofOther
    const field = error instanceof InvalidTicket ? (error.field ?? '') : ''
    if (field.startsWith('players.') && !field.startsWith(`players.${index}.`)) {
      throw new Problem(409, 'member-refused', 'The data of another member does not fit the queue.')
    }
    throw problemOf(error, service) ?? error
  }
}

const ofTicket = (ticket: Ticket | undefined) => ({
  status: ticket?.status ?? ('FORMING' as const),
  team_id: ticket?.team ?? null,
  assignment: ticket?.assignment === undefined ? null : assignmentView(ticket.assignment),
})

/**
 * The view of a group.
 * @param ticket the group's ticket; undefined while the group gathers.
 */
const groupView = (group: Group, ticket: Ticket | undefined): GroupView => ({
  ...ofTicket(ticket),
  group_id: group.id,
  profile: group.profile,
  members: group.members.map(({ player, ready }) => ({ player_id: player.id, is_ready: ready })),
})

/** The group commands of the ticket API. A refused command rejects with a {Problem}. */
export interface Groups {
  create(profile: string, player: Player, ready: boolean): Promise<MemberView>
  join(groupId: string, profile: string, player: Player, ready: boolean): Promise<MemberView>
  read(groupId: string, caller: TicketCaller): Promise<GroupView>
  readMember(groupId: string, memberId: string, caller: TicketCaller): Promise<MemberView>
  /** The player's places in the group that they gather in, and in the groups of their tickets. */
  ofPlayer(playerId: string, tickets: readonly Ticket[]): Promise<MemberView[]>
  setReady(groupId: string, memberId: string, ready: boolean, caller: TicketCaller): Promise<MemberView>
  leave(groupId: string, memberId: string, caller: TicketCaller): Promise<void>
  cancel(groupId: string, caller: TicketCaller): Promise<void>
}

interface GroupsOptions {
  readonly service: Pick<
    TicketService,
    'largestParty' | 'createTicket' | 'getTicket' | 'cancelTicket' | 'joinToken' | 'dateOf'
  >
  readonly store: GroupStore
  readonly presence: Pick<PresenceReporter, 'seen'>
  readonly clock: Clock
  /** Returns the names of all queues, for the error about an unknown queue. */
  readonly queueNames: () => readonly string[]
  readonly random: Random
}

/** Most members of a group (our choice): larger than any queue's party, and a bound on the memory of a group. */
const MOST_MEMBERS = 64
/**
 * Milliseconds for which a group that searches may have no ticket: it is being created. A process that ends meanwhile
 * leaves the group without one; then it is created again (our choice).
 */
const STARTING_MS = 10_000
/** How often a change is tried again when another request has changed the group in between. */
const TRIES = 20

const notReady = (member: GroupMember): GroupMember => ({ ...member, ready: false })

const noGroup = () => new Problem(404, 'no-such-group', 'There is no such group, or you are not in it.')
const noMember = () => new Problem(404, 'no-such-member', 'There is no such member, or you may not act for them.')
const alreadySearching = () =>
  new Problem(409, 'already-searching', 'The group is already queued. Cancel it and create a new one.')
const groupFull = (profile: string, most: number) =>
  new Problem(409, 'group-full', `The group is full: a party of ${JSON.stringify(profile)} has at most ${most}.`)
const tooMany = () => new Problem(503, 'busy', 'Too many groups. Retry after 5 s.', { retryAfterMs: 5000 })
const contended = () =>
  new Problem(503, 'busy', 'The group changes too often. Retry after 1 s.', { retryAfterMs: 1000 })

/** A stored group, with its ticket once there is one. */
interface Found extends StoredGroup {
  readonly ticket: Ticket | undefined
}

export function createGroups({ service, store, presence, clock, queueNames, random }: GroupsOptions): Groups {
  /**
   * The view that a member has of themselves.
   * @param ticket the group's ticket; undefined while the group gathers.
   */
  const memberView = (group: Group, member: GroupMember, ticket: Ticket | undefined): MemberView => {
    const index = group.members.findIndex(({ id }) => id === member.id)
    const view = ofTicket(ticket)
    const token = ticket === undefined ? undefined : service.joinToken(ticket, member.player.id)
    return {
      member_id: member.id,
      group_id: group.id,
      is_ready: member.ready,
      ticket_id: ticket === undefined ? null : seatId({ ticket, index }),
      match_id: ticket?.matchId ?? null,
      ...view,
      assignment: view.assignment && { ...view.assignment, join_token: token },
    }
  }
  const found = async (groupId: string): Promise<Found> => {
    const stored = await store.find(groupId)
    if (stored === undefined) throw noGroup()
    const { searchingSince } = stored.group
    if (searchingSince === undefined) return { ...stored, ticket: undefined }
    const ticket = await service.getTicket(groupId)
    if (ticket !== undefined) return { ...(await noteStarted(stored)), ticket }
    if (stored.group.isStarted === true) {
      await store.replace({ ...stored.group, members: [] }, stored.version)
      throw noGroup()
    }
    return clock.now() - searchingSince < STARTING_MS ? { ...stored, ticket } : startAgain(stored)
  }
  /** Notes that the group's ticket was created. */
  const noteStarted = async ({ group, version }: StoredGroup): Promise<StoredGroup> => {
    const noted = { ...group, isStarted: true }
    if (group.isStarted === true || !(await store.replace(noted, version))) return { group, version }
    return { group: noted, version: version + 1 }
  }
  /** Creates the ticket of a group that was acknowledged. If it is refused now, members gather and are not ready. */
  const startAgain = async (stored: StoredGroup): Promise<Found> => {
    const { group, version } = stored
    try {
      const ticket = await startGroup(group, group.members[0] as GroupMember, service)
      return { ...(await noteStarted(stored)), ticket }
    } catch (error) {
      if (!(error instanceof Problem) || error.status >= 500) throw error
      const gathering = { ...group, searchingSince: undefined, members: group.members.map(notReady) }
      if (!(await store.replace(gathering, version))) throw contended()
      return { group: gathering, version: version + 1, ticket: undefined }
    }
  }
  /** Finds a group that the caller may see. */
  const seen = async (groupId: string, caller: TicketCaller): Promise<Found> => {
    const one = await found(groupId)
    if (!isBackend(caller) && !one.group.members.some(({ player }) => isSelf(caller, player.id))) throw noGroup()
    if (one.ticket !== undefined) presence.seen(one.ticket, caller)
    return one
  }
  /** Finds a member that the caller may see and change. */
  const memberOfCaller = ({ group }: Found, memberId: string, caller: TicketCaller): GroupMember => {
    const member = memberOf(group, memberId)
    if (member === undefined || !(isBackend(caller) || isSelf(caller, member.player.id))) throw noMember()
    return member
  }
  /** Repeats a command that answers undefined because another request has changed the group in between. */
  const settled = async <Answer>(command: () => Promise<Answer | undefined>): Promise<Answer> => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const answer = await command()
      if (answer !== undefined) return answer
    }
    throw contended()
  }

  /**
   * Stores the group, and creates its ticket once all members are ready: it searches first, so that nobody joins or
   * leaves while the ticket is created. If the ticket is refused, nothing has changed. Undefined if another request has
   * changed the group in between.
   * @param before as it was read; undefined for a new group.
   */
  const update = async (
    group: Group,
    by: GroupMember,
    before: StoredGroup | undefined,
  ): Promise<MemberView | undefined> => {
    const kept = isComplete(group) ? { ...group, searchingSince: clock.now() } : group
    if (before !== undefined) {
      if (!(await store.replace(kept, before.version))) return undefined
    } else if (!(await store.create(kept))) {
      throw tooMany()
    }
    if (kept.searchingSince === undefined) return memberView(kept, by, undefined)
    try {
      const ticket = await startGroup(kept, by, service)
      // If this fails, the next read of the group notes it.
      await noteStarted({ group: kept, version: (before?.version ?? 0) + 1 }).catch(() => {})
      return memberView(kept, by, ticket)
    } catch (error) {
      await store.replace(before?.group ?? { ...kept, members: [] }, (before?.version ?? 0) + 1)
      throw error
    }
  }
  /**
   * Removes a member from a group that gathers. If all others are ready, their search begins; if it is refused, all
   * members become not ready. Undefined if another request has changed the group in between.
   */
  const remove = async (stored: StoredGroup, memberId: string): Promise<true | undefined> => {
    const left = withoutMember(stored.group, memberId)
    const [first] = left.members
    const kept = async () => ((await store.replace(left, stored.version)) ? (true as const) : undefined)
    if (first === undefined) return kept()
    try {
      return (await update(left, first, stored)) && true
    } catch {
      const members = left.members.map(notReady)
      const present = await store.find(left.id)
      if (present?.group.searchingSince !== undefined) return true
      return (await store.replace({ ...left, members }, present?.version ?? 0)) ? true : undefined
    }
  }
  /** Removes the player from another group in which the player gathers. */
  const leaveOthers = (playerId: string, groupId: string) =>
    settled(async () => {
      const other = await store.gathering(playerId)
      const member = other && playerIn(other.group, playerId)
      const gathers = other !== undefined && other.group.searchingSince === undefined
      if (!gathers || member === undefined || other.group.id === groupId) return true
      return remove(other, member.id)
    })

  /** Checks a player when they join, because the group's ticket may be created much later. */
  const check = (profile: string, player: Player) => {
    if (service.largestParty(profile) === undefined) throw unknownQueue(profile, queueNames())
    readTicketInput({ queue: profile, players: [player] })
  }
  const cancelTicket = async (group: Group, caller: TicketCaller): Promise<true> => {
    try {
      const ids = group.members.map(({ player }) => player.id)
      await service.cancelTicket(group.id, ownOf(caller, ids))
    } catch (error) {
      // Its ticket is being created.
      if (error instanceof UnknownTicket) throw alreadySearching()
      throw error
    }
    return true
  }

  return {
    create: async (profile, player, ready) => {
      check(profile, player)
      const member: GroupMember = { id: newId(random), player, ready }
      const group: Group = { id: newId(random), profile, members: [member], searchingSince: undefined }
      await leaveOthers(player.id, group.id)
      return settled(() => update(group, member, undefined))
    },

    join: async (groupId, profile, player, ready) => {
      check(profile, player)
      const id = newId(random)
      return settled(async () => {
        const { ticket, ...stored } = await found(groupId)
        const { group } = stored
        const before = playerIn(group, player.id)
        if (group.searchingSince !== undefined) {
          // The player has joined before; the answer may have been lost.
          if (before !== undefined) return memberView(group, before, ticket)
          throw alreadySearching()
        }
        if (group.profile !== profile) {
          const message = `profile: the group is for ${JSON.stringify(group.profile)}`
          throw new Problem(400, 'other-profile', message, { field: 'profile' })
        }
        const most = Math.min(MOST_MEMBERS, service.largestParty(profile) ?? MOST_MEMBERS)
        if (before === undefined && group.members.length >= most) throw groupFull(profile, most)
        const member: GroupMember = { id: before?.id ?? id, player, ready }
        await leaveOthers(player.id, groupId)
        return update(withMember(group, member), member, stored)
      })
    },

    read: async (groupId, caller) => {
      const { group, ticket } = await seen(groupId, caller)
      return groupView(group, ticket)
    },

    readMember: async (groupId, memberId, caller) => {
      const one = await seen(groupId, caller)
      return memberView(one.group, memberOfCaller(one, memberId, caller), one.ticket)
    },

    ofPlayer: async (playerId, tickets) => {
      const gathering = await store.gathering(playerId)
      const started = await Promise.all(tickets.map(async (ticket) => ({ ticket, ...(await store.find(ticket.id)) })))
      return [{ ticket: undefined, group: gathering?.group }, ...started].flatMap(({ group, ticket }) => {
        const member = group && playerIn(group, playerId)
        return member === undefined ? [] : memberView(group as Group, member, ticket)
      })
    },

    setReady: (groupId, memberId, ready, caller) =>
      settled(async () => {
        const one = await seen(groupId, caller)
        const member = memberOfCaller(one, memberId, caller)
        if (one.group.searchingSince !== undefined) {
          if (!ready) throw alreadySearching()
          return memberView(one.group, member, one.ticket)
        }
        const changed = { ...member, ready }
        return update(withMember(one.group, changed), changed, one)
      }),

    leave: async (groupId, memberId, caller) => {
      await settled(async () => {
        const one = await seen(groupId, caller)
        const member = memberOf(one.group, memberId)
        const isOwn = member !== undefined && isSelf(caller, member.player.id)
        const may = isBackend(caller) || isOwner(one.group, caller) || isOwn
        if (member === undefined || !may) throw noMember()
        // A party stays together: when one member leaves while it searches, its ticket is cancelled.
        if (one.group.searchingSince !== undefined) return cancelTicket(one.group, caller)
        return remove(one, memberId)
      })
    },

    cancel: async (groupId, caller) => {
      await settled(async () => {
        const { group, version } = await seen(groupId, caller)
        if (!isBackend(caller) && !isOwner(group, caller)) {
          throw new Problem(403, 'not-owner', 'Only the owner of the group may cancel it.')
        }
        if (group.searchingSince !== undefined) return cancelTicket(group, caller)
        return (await store.replace({ ...group, members: [] }, version)) ? true : undefined
      })
    },
  }
}
