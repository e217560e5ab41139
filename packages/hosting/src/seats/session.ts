import type { ListingReport } from '../records/index.js'
import type { SeatState } from './seat.js'

/** A player who is on a listed server or comes to it. */
export interface Occupant {
  readonly id: string
  readonly playerId: string
  team: string
  state: SeatState
  readonly groupId: string | undefined
  readonly heldAt: number
  until: number
  /** True if this is the player's only seat. False for players who were let in while they have a seat elsewhere. */
  isOwn: boolean
  /** True if the player has given the seat back but is still on the server. */
  isGivenBack: boolean
  /** True if Muster gave the player this seat. False if only the server reports that they are there. */
  isGiven: boolean
  /** True if the server may report this player on their seat, see `createInvitations`. */
  isInvited: boolean
}

/** A server's listing and its seats. */
export interface Session {
  readonly serverId: string
  readonly id: string
  listing: ListingReport
  teams: ReadonlyMap<string, number>
  /** By player. */
  readonly occupants: Map<string, Occupant>
  /** Players who gave back an away seat while the server still reports that they may return. */
  givenBack: ReadonlySet<string>
  /** Clock time until which the server's reports are trusted, because an earlier Muster process gave the seats. */
  readonly resumedUntil: number
}

const NOBODY: ReadonlySet<string> = new Set()

/** A seat and its session. */
export interface SessionSeat {
  readonly session: Session
  readonly occupant: Occupant
}

const ONE_TEAM = ''
/** Returns the seats by team. Without teams, one team without a name. */
export const teamsOf = ({ seats, teams }: ListingReport): ReadonlyMap<string, number> =>
  teams === undefined ? new Map([[ONE_TEAM, seats]]) : new Map(Object.entries(teams))

export const newSession = (given: Pick<Session, 'serverId' | 'id' | 'listing' | 'resumedUntil'>): Session => ({
  ...given,
  teams: new Map(),
  occupants: new Map(),
  givenBack: NOBODY,
})

/** Returns the free seats by team. */
export const freeIn = ({ teams, occupants }: Session): Map<string, number> => {
  const free = new Map(teams)
  // A team that is no longer listed has no seats.
  for (const { team } of occupants.values()) if (free.has(team)) free.set(team, (free.get(team) ?? 0) - 1)
  for (const [team, count] of free) if (count < 0) free.set(team, 0)
  return free
}
export const sum = (numbers: Iterable<number>) => {
  let total = 0
  for (const number of numbers) total += number
  return total
}
/** Returns the team with the most free seats, the first one of equals. */
export const emptiest = (free: ReadonlyMap<string, number>): string => {
  let best: string | undefined
  for (const [team, count] of free) if (best === undefined || count > (free.get(best) ?? 0)) best = team
  return best ?? ONE_TEAM
}
