import type { ListingReport } from '../game-servers/index.js'
import type { SeatState } from './seat.js'

/** A player on a listed server, or who comes to it. */
export interface Occupant {
  readonly id: string
  readonly playerId: string
  team: string
  state: SeatState
  readonly groupId: string | undefined
  readonly heldAt: number
  until: number
  /** Whether it is the player's one seat. Not so for players who were let in while they have a seat elsewhere. */
  isOwn: boolean
  /** The player has given the seat back, and is still on the server. */
  isGivenBack: boolean
  /** Whether the player asked us for the seat: of others only the server says that they are there. */
  isGiven: boolean
  /** Whether it is the seat of a player whom the server may name: see `createInvitations`. */
  isInvited: boolean
}

/** What a server lists, and who has a seat on it. */
export interface Session {
  readonly serverId: string
  readonly id: string
  listing: ListingReport
  teams: ReadonlyMap<string, number>
  /** By player. */
  readonly occupants: Map<string, Occupant>
  /** Players who gave back the seat to which they might have returned, while the server still says that they may. */
  givenBack: ReadonlySet<string>
  /** Milliseconds of the clock until which the server knows better, since an earlier process of ours gave the seats. */
  readonly resumedUntil: number
}

const NOBODY: ReadonlySet<string> = new Set()

/** A seat, and the session that it is of. */
export interface Place {
  readonly session: Session
  readonly occupant: Occupant
}

const ONE_TEAM = ''
/** Seats by team; of a server without teams, of one without a name. */
export const teamsOf = ({ seats, teams }: ListingReport): ReadonlyMap<string, number> =>
  teams === undefined ? new Map([[ONE_TEAM, seats]]) : new Map(Object.entries(teams))

export const newSession = (given: Pick<Session, 'serverId' | 'id' | 'listing' | 'resumedUntil'>): Session => ({
  ...given,
  teams: new Map(),
  occupants: new Map(),
  givenBack: NOBODY,
})

/** Free seats by team. */
export const freeIn = ({ teams, occupants }: Session): Map<string, number> => {
  const free = new Map(teams)
  // A team that is not listed any more has no seats.
  for (const { team } of occupants.values()) if (free.has(team)) free.set(team, (free.get(team) ?? 0) - 1)
  for (const [team, count] of free) if (count < 0) free.set(team, 0)
  return free
}
/** The sum of numbers. */
export const sum = (numbers: Iterable<number>) => {
  let total = 0
  for (const number of numbers) total += number
  return total
}
/** The team with the most free seats, the first of equals. */
export const emptiest = (free: ReadonlyMap<string, number>): string => {
  let best: string | undefined
  for (const [team, count] of free) if (best === undefined || count > (free.get(best) ?? 0)) best = team
  return best ?? ONE_TEAM
}
