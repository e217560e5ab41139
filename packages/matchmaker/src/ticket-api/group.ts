// pure: players who gather before they wait for a match together
import type { Player } from '@muster/servers'

export interface GroupMember {
  /** The member's id, which cannot be guessed. */
  readonly id: string
  readonly player: Player
  readonly ready: boolean
}

/**
 * Players who gather for a match. When all are ready, they become one ticket, with the group's id and with the members
 * as players, in their order. From then on the ticket holds the state, and nobody can join or leave.
 */
export interface Group {
  /** The group's id, which cannot be guessed: whoever knows it may join. */
  readonly id: string
  readonly profile: string
  /** Members in the order in which they joined; the first is the owner. */
  readonly members: readonly GroupMember[]
  /** Epoch milliseconds from which it searches; undefined while it gathers. */
  readonly searchingSince: number | undefined
  /** Whether its ticket was created: one that is not there any more has ended. Default false. */
  readonly isStarted?: boolean | undefined
}

/** A group with the version of its record: 1 at first, and one more with each change. */
export interface StoredGroup {
  readonly version: number
  readonly group: Group
}

export const isComplete = ({ members }: Group): boolean => members.length > 0 && members.every(({ ready }) => ready)

export const memberOf = ({ members }: Group, memberId: string): GroupMember | undefined =>
  members.find(({ id }) => id === memberId)

export const playerIn = ({ members }: Group, playerId: string): GroupMember | undefined =>
  members.find(({ player }) => player.id === playerId)

export const isOwner = ({ members }: Group, playerId: string): boolean => members[0]?.player.id === playerId

/** Adds a member. A player who is a member already keeps their place in the order. */
export function withMember(group: Group, member: GroupMember): Group {
  const { members } = group
  const known = members.some(({ id }) => id === member.id)
  return {
    ...group,
    members: known ? members.map((one) => (one.id === member.id ? member : one)) : [...members, member],
  }
}

export const withoutMember = (group: Group, memberId: string): Group => ({
  ...group,
  members: group.members.filter(({ id }) => id !== memberId),
})
