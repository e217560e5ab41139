import type { ListingReport } from '../records/index.js'
import type { SeatState } from './seat.js'

/** A player who occupies a seat of a listed server, or has one reserved. */
export interface Occupant {
  readonly id: string
  readonly playerId: string
  team: string
  state: SeatState
  readonly groupId: string | undefined
  heldAt: number
  until: number
  /** True if this is the player's only seat. False if the player has a seat on another server or gave this one back. */
  isOwn: boolean
  /** True if the player gave the seat back and is still on the server. */
  isGivenBack: boolean
  /** True if Muster gave the player this seat. False if only the server reports the player. */
  isGiven: boolean
  /** True if the server may report the player as seated, see `createInvitations`. */
  isInvited: boolean
}

/** The listed session of a server and its seats. */
export interface Session {
  readonly serverId: string
  readonly id: string
  listing: ListingReport
  teams: ReadonlyMap<string, number>
  /** The occupied and reserved seats, by player id. */
  readonly occupants: Map<string, Occupant>
  /** Ids of players who gave back their seat while away, and whom the server still reports as away. */
  givenBack: ReadonlySet<string>
  /**
   * Epoch milliseconds until which all reported players count as seated. After a restart, only the server knows them.
   */
  readonly resumedUntil: number
}

const NOBODY: ReadonlySet<string> = new Set()

/** A seat and its session. */
export interface SessionSeat {
  readonly session: Session
  readonly occupant: Occupant
}

const ONE_TEAM = ''
/** Returns the number of seats of each team. A server without teams has one team, whose name is ''. */
export const teamsOf = ({ seats, teams }: ListingReport): ReadonlyMap<string, number> =>
  teams === undefined ? new Map([[ONE_TEAM, seats]]) : new Map(Object.entries(teams))

export const newSession = (given: Pick<Session, 'serverId' | 'id' | 'listing' | 'resumedUntil'>): Session => ({
  ...given,
  teams: new Map(),
  occupants: new Map(),
  givenBack: NOBODY,
})

/** Returns the number of free seats of each team. */
export const freeIn = ({ teams, occupants }: Session): Map<string, number> => {
  const free = new Map(teams)
  // A team that the server no longer lists has no seats.
  for (const { team } of occupants.values()) if (free.has(team)) free.set(team, (free.get(team) ?? 0) - 1)
  for (const [team, count] of free) if (count < 0) free.set(team, 0)
  return free
}
export const sum = (numbers: Iterable<number>) => {
  let total = 0
  for (const number of numbers) total += number
  return total
}
/** Returns the team with the most free seats. Among equal teams, the first one. */
export const emptiest = (free: ReadonlyMap<string, number>): string => {
  let best: string | undefined
  for (const [team, count] of free) if (best === undefined || count > (free.get(best) ?? 0)) best = team
  return best ?? ONE_TEAM
}
