import type { Random } from '@muster/core/clock'
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
import type { TicketService } from '../commands.js'
import { assignmentView, type Dates, isoTime, seatId, timeBy } from './ticket-views.js'

const OF_OTHERS = [
  [PlayerBusy, 409, 'member-busy', 'Another member is already queued. Cancel that ticket first.'],
  [PlayerPlaying, 409, 'member-playing', 'Another member is still in a match.'],
  [PlayerCoolingDown, 409, 'member-cooling-down', 'Another member is on cooldown. Retry later.'],
  [PlayerOverLimit, 429, 'member-over-limit', 'Another member has reached the limit of matches. Retry later.'],
  [SeatRefused, 409, 'member-playing', 'Another member plays elsewhere.'],
] as const

/**
 * Returns the problem that the requesting player gets for an error about another member, without details of that
 * member. Returns undefined for an error about no member or about the player.
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

/** True if the matchmaker has refused the ticket; false if it is unknown whether the ticket was created. */
const isRefusal = (error: unknown): boolean => error instanceof Problem && error.status < 500

const ofTicket = (ticket: Ticket | undefined) => ({
  status: ticket?.status ?? ('FORMING' as const),
  team_id: ticket?.team ?? null,
  assignment: ticket?.assignment === undefined ? null : assignmentView(ticket.assignment),
})

/**
 * Returns the view of a group.
 * @param ticket the group's ticket; undefined while the group forms.
 */
const groupView = (group: Group, ticket: Ticket | undefined): GroupView => ({
  ...ofTicket(ticket),
  group_id: group.id,
  profile: group.profile,
  members: group.members.map(({ player, ready }) => ({ player_id: player.id, is_ready: ready })),
})

interface GroupsOptions {
  readonly service: Pick<
    TicketService,
    'largestParty' | 'createTicket' | 'getTicket' | 'cancelTicket' | 'joinToken' | 'dateOf'
  >
  readonly store: GroupStore
  readonly presence: Pick<PresenceReporter, 'noteRead'>
  /** Returns the names of all queues, for the error about an unknown queue. */
  readonly queueNames: () => readonly string[]
  readonly random: Random
}

/** Maximum number of members of a group (our choice): above any queue's party size, to bound a group's memory. */
const MOST_MEMBERS = 64
/**
 * Milliseconds for which a searching group may have no ticket because it is being created. If the creating process
 * died, the ticket is created again after this time (our choice).
 */
const STARTING_MS = 10_000
/** Maximum number of attempts of a change. An attempt fails if another request has changed the group in between. */
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
interface GroupWithTicket extends StoredGroup {
  readonly ticket: Ticket | undefined
}

/** The group commands of the ticket API. A refused command rejects with a {Problem}. */
export class Groups {
  readonly #options: GroupsOptions

  constructor(options: GroupsOptions) {
    this.#options = options
  }

  async create(profile: string, player: Player, ready: boolean): Promise<MemberView> {
    const { random } = this.#options
    this.#check(profile, player)
    const member: GroupMember = { id: newId(random), player, ready }
    const group: Group = { id: newId(random), profile, members: [member], searchingSince: undefined }
    let left: Group | undefined
    try {
      return await settled(async () => {
        left = (await this.#leaveOthers(player.id, group.id)).left ?? left
        return this.#update(group, member, undefined)
      })
    } catch (error) {
      if (left !== undefined && isRefusal(error)) await this.#comeBack(left, player.id).catch(() => {})
      throw error
    }
  }

  async join(groupId: string, profile: string, player: Player, ready: boolean): Promise<MemberView> {
    const { random } = this.#options
    this.#check(profile, player)
    const id = newId(random)
    return settled(async () => {
      const { ticket, ...stored } = await this.#find(groupId)
      const { group } = stored
      const before = playerIn(group, player.id)
      if (group.searchingSince !== undefined) {
        // The player has already joined. The earlier response may have been lost.
        if (before !== undefined) return this.#memberView(group, before, ticket)
        throw alreadySearching()
      }
      if (group.profile !== profile) {
        const message = `profile: must be ${JSON.stringify(group.profile)}, the profile of the group`
        throw new Problem(400, 'other-profile', message, { field: 'profile' })
      }
      const most = this.#mostMembers(profile)
      if (before === undefined && group.members.length >= most) throw groupFull(profile, most)
      const member: GroupMember = { id: before?.id ?? id, player, ready }
      await this.#leaveOthers(player.id, groupId)
      return this.#update(withMember(group, member), member, stored)
    })
  }

  async read(groupId: string, caller: TicketCaller): Promise<GroupView> {
    const { group, ticket } = await this.#findFor(caller, groupId)
    return groupView(group, ticket)
  }

  async readMember(groupId: string, memberId: string, caller: TicketCaller): Promise<MemberView> {
    const { group, ticket } = await this.#findFor(caller, groupId)
    return this.#memberView(group, memberOfCaller(group, memberId, caller), ticket)
  }

  /** Returns the player's memberships: in their forming group and in the groups of their tickets. */
  async ofPlayer(playerId: string, tickets: readonly Ticket[]): Promise<MemberView[]> {
    const { store } = this.#options
    const gathering = await store.gathering(playerId)
    const started = await Promise.all(tickets.map(async (ticket) => ({ ticket, ...(await store.find(ticket.id)) })))
    return [{ ticket: undefined, group: gathering?.group }, ...started].flatMap(({ group, ticket }) => {
      const member = group && playerIn(group, playerId)
      return member === undefined ? [] : this.#memberView(group as Group, member, ticket)
    })
  }

  setReady(groupId: string, memberId: string, ready: boolean, caller: TicketCaller): Promise<MemberView> {
    return settled(async () => {
      const found = await this.#findFor(caller, groupId)
      const { group, ticket } = found
      const member = memberOfCaller(group, memberId, caller)
      if (group.searchingSince !== undefined) {
        if (!ready) throw alreadySearching()
        return this.#memberView(group, member, ticket)
      }
      const changed = { ...member, ready }
      return this.#update(withMember(group, changed), changed, found)
    })
  }

  async leave(groupId: string, memberId: string, caller: TicketCaller): Promise<void> {
    await settled(async () => {
      const found = await this.#findFor(caller, groupId)
      const { group } = found
      const member = memberOf(group, memberId)
      const isOwn = member !== undefined && isSelf(caller, member.player.id)
      const may = isBackend(caller) || isOwner(group, caller) || isOwn
      if (member === undefined || !may) throw noMember()
      // A party stays together: if a member leaves while the group searches, the group's ticket is cancelled.
      if (group.searchingSince !== undefined) return this.#cancelTicket(found, caller)
      return this.#remove(found, memberId)
    })
  }

  async cancel(groupId: string, caller: TicketCaller): Promise<void> {
    await settled(async () => {
      const found = await this.#findFor(caller, groupId)
      const { group, version } = found
      if (!isBackend(caller) && !isOwner(group, caller)) {
        throw new Problem(403, 'not-owner', 'Only the owner of the group may cancel it.')
      }
      if (group.searchingSince !== undefined) return this.#cancelTicket(found, caller)
      return (await this.#options.store.replace({ ...group, members: [] }, version)) ? true : undefined
    })
  }

  /** Checks a player when they join, because the group's ticket may be created much later. */
  #check(profile: string, player: Player): void {
    const { service, queueNames } = this.#options
    if (service.largestParty(profile) === undefined) throw unknownQueue(profile, queueNames())
    readTicketInput({ queue: profile, players: [player] })
  }

  async #find(groupId: string): Promise<GroupWithTicket> {
    const { service, store } = this.#options
    const stored = await store.find(groupId)
    if (stored === undefined) throw noGroup()
    const { searchingSince } = stored.group
    if (searchingSince === undefined) return { ...stored, ticket: undefined }
    const ticket = await service.getTicket(groupId)
    if (ticket !== undefined) return { ...(await this.#noteStarted(stored)), ticket }
    if (stored.group.isStarted === true) {
      await store.replace({ ...stored.group, members: [] }, stored.version)
      throw noGroup()
    }
    return timeBy(service) - searchingSince < STARTING_MS ? { ...stored, ticket } : this.#startAgain(stored)
  }

  /** Finds a group that the caller may see. */
  async #findFor(caller: TicketCaller, groupId: string): Promise<GroupWithTicket> {
    const found = await this.#find(groupId)
    const { group, ticket } = found
    if (!isBackend(caller) && !group.members.some(({ player }) => isSelf(caller, player.id))) throw noGroup()
    if (ticket !== undefined) this.#options.presence.noteRead(ticket, caller)
    return found
  }

  /**
   * Creates the ticket of a searching group that has none. If the matchmaker refuses the ticket, the group forms again
   * and no member is ready.
   */
  async #startAgain(stored: StoredGroup): Promise<GroupWithTicket> {
    const { service, store } = this.#options
    const { group, version } = stored
    try {
      const ticket = await startGroup(group, group.members[0] as GroupMember, service)
      return { ...(await this.#noteStarted(stored)), ticket }
    } catch (error) {
      if (!isRefusal(error)) throw error
      const gathering = { ...group, searchingSince: undefined, members: group.members.map(notReady) }
      if (!(await store.replace(gathering, version))) throw contended()
      return { group: gathering, version: version + 1, ticket: undefined }
    }
  }

  /** Stores that the group's ticket was created. */
  async #noteStarted({ group, version }: StoredGroup): Promise<StoredGroup> {
    const noted = { ...group, isStarted: true }
    if (group.isStarted === true || !(await this.#options.store.replace(noted, version))) return { group, version }
    return { group: noted, version: version + 1 }
  }

  /**
   * Stores the group. Once all members are ready, creates its ticket. The group is stored as searching first, so that
   * nobody joins or leaves while the ticket is created. If the ticket is refused, the change is undone. Returns
   * undefined if another request has changed the group in between, or a player has entered another one.
   * @param before the group as it was read; undefined for a new group.
   */
  async #update(group: Group, by: GroupMember, before: StoredGroup | undefined): Promise<MemberView | undefined> {
    const { service, store } = this.#options
    const kept = isComplete(group) ? { ...group, searchingSince: timeBy(service) } : group
    if (before !== undefined) {
      if (!(await store.replace(kept, before.version))) return undefined
    } else if (!(await store.create(kept))) {
      if ((await store.gathering(by.player.id)) !== undefined) return undefined
      throw tooMany()
    }
    if (kept.searchingSince === undefined) return this.#memberView(kept, by, undefined)
    try {
      const ticket = await startGroup(kept, by, service)
      // If storing fails, the next read of the group stores it.
      await this.#noteStarted({ group: kept, version: (before?.version ?? 0) + 1 }).catch(() => {})
      return this.#memberView(kept, by, ticket)
    } catch (error) {
      // Without an answer, the ticket may exist. The group then stays searching, and its next read finds the ticket or
      // creates it.
      if (before === undefined || isRefusal(error))
        await store.replace(before?.group ?? { ...kept, members: [] }, (before?.version ?? 0) + 1)
      throw error
    }
  }

  /**
   * Removes a member from a forming group. If all others are ready, their search begins. If their ticket is refused, no
   * member is ready any more. Returns undefined if another request has changed the group in between.
   */
  async #remove(stored: StoredGroup, memberId: string): Promise<true | undefined> {
    const { store } = this.#options
    const left = withoutMember(stored.group, memberId)
    const [first] = left.members
    if (first === undefined) return (await store.replace(left, stored.version)) ? true : undefined
    try {
      return (await this.#update(left, first, stored)) && true
    } catch {
      const members = left.members.map(notReady)
      const present = await store.find(left.id)
      if (present?.group.searchingSince !== undefined) return true
      return (await store.replace({ ...left, members }, present?.version ?? 0)) ? true : undefined
    }
  }

  #mostMembers(profile: string): number {
    return Math.min(MOST_MEMBERS, this.#options.service.largestParty(profile) ?? MOST_MEMBERS)
  }

  /** Removes the player from any other forming group, and returns that group as it was. */
  #leaveOthers(playerId: string, groupId: string): Promise<{ readonly left: Group | undefined }> {
    return settled(async () => {
      const other = await this.#options.store.gathering(playerId)
      const member = other && playerIn(other.group, playerId)
      const gathers = other !== undefined && other.group.searchingSince === undefined
      if (!gathers || member === undefined || other.group.id === groupId) return { left: undefined }
      return (await this.#remove(other, member.id)) && { left: other.group }
    })
  }

  /** Adds a player to the group that they have just left, as not ready, unless the others have no place any more. */
  async #comeBack(group: Group, playerId: string): Promise<void> {
    const { store } = this.#options
    await settled(async () => {
      const member = notReady(playerIn(group, playerId) as GroupMember)
      const stored = await store.find(group.id)
      // The group was deleted with its last member.
      if (stored === undefined) return group.members.length > 1 || store.create({ ...group, members: [member] })
      const { members, searchingSince } = stored.group
      if (searchingSince !== undefined || members.length >= this.#mostMembers(group.profile)) return true
      return (await store.replace(withMember(stored.group, member), stored.version)) ? true : undefined
    })
  }

  async #cancelTicket({ group, version }: StoredGroup, caller: TicketCaller): Promise<true> {
    const { service, store } = this.#options
    try {
      const ids = group.members.map(({ player }) => player.id)
      await service.cancelTicket(group.id, ownOf(caller, ids))
      // If storing fails, the group is kept as long as others.
      if (group.isEnded !== true) await store.replace({ ...group, isEnded: true }, version).catch(() => {})
    } catch (error) {
      // The group's ticket is being created.
      if (error instanceof UnknownTicket) throw alreadySearching()
      throw error
    }
    return true
  }

  /**
   * Returns the view of a group for one of its members.
   * @param ticket the group's ticket; undefined while the group forms.
   */
  #memberView(group: Group, member: GroupMember, ticket: Ticket | undefined): MemberView {
    const index = group.members.findIndex(({ id }) => id === member.id)
    const view = ofTicket(ticket)
    const token = ticket === undefined ? undefined : this.#options.service.joinToken(ticket, member.player.id)
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
}

/** Repeats a command while it returns undefined, because another request has changed the group in between. */
async function settled<Answer>(command: () => Promise<Answer | undefined>): Promise<Answer> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const answer = await command()
    if (answer !== undefined) return answer
  }
  throw contended()
}

/** Finds a member that the caller may see and change. */
function memberOfCaller(group: Group, memberId: string, caller: TicketCaller): GroupMember {
  const member = memberOf(group, memberId)
  if (member === undefined || !(isBackend(caller) || isSelf(caller, member.player.id))) throw noMember()
  return member
}
