import { createAttendance } from './attendance.js'
import type { Clock } from './clock.js'
import { InvalidCall } from './errors.js'
import type { JoinClaims } from './join-token.js'
import type { Player } from './served-match.js'
import type { WireHost, WireListing } from './wire.js'

/** How a server is listed for players who search a server. */
export interface Listing {
  /** Name of the server, with 1 to 64 characters. */
  readonly name: string
  /** Maximum number of players. */
  readonly seats: number
  /** Number of seats by team. Their sum is `seats`. */
  readonly teams?: Readonly<Record<string, number>> | undefined
  /** Attributes that players can filter by. The configuration must declare them. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>> | undefined
  /** The password that players need for a seat. Default: none. */
  readonly password?: string | undefined
  /** True: no new seats are assigned. Players with a seat may return. Default false. */
  readonly locked?: boolean | undefined
}

/** A session that a player or a backend has requested. The server should list itself with these values. */
export interface SessionWanted {
  readonly name: string
  readonly password?: string | undefined
  /** Id of the player who requested the session. */
  readonly owner?: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

/** Creates the listing of the server, with its players. */
export function createListing(clock: Clock, changed: () => void) {
  let attendance = createAttendance(clock, changed)
  let listing: Listing | undefined
  let host: WireHost | undefined
  /** The id of the last requested session. Each session is opened only once. */
  let wanted: string | undefined
  let orders: WireListing | undefined
  return {
    set: (given: Listing | undefined) => {
      if (given !== undefined) check(given)
      listing = given
      if (given === undefined) host = undefined
      changed()
    },
    /** Opens the session that the orders request. @returns true if the session is new */
    openSession: (given: WireHost) => {
      if (given.session === wanted) return false
      wanted = given.session
      host = given
      attendance.close()
      attendance = createAttendance(clock, changed)
      return true
    },
    setOrders: (given: WireListing | undefined) => {
      orders = given
    },
    /** Returns the player of a token; undefined if its session or seat is unknown, or the seat is another player's. */
    playerOf: ({ sub, mid, sid, team, grp }: JoinClaims): Player | undefined => {
      const seat = orders?.session === mid ? orders.seats.find(({ seat_id }) => seat_id === sid) : undefined
      if (seat?.player_id !== sub) return undefined
      return Object.freeze({ id: sub, matchId: mid, team, groupId: grp, attributes: {} })
    },
    get attendance() {
      return attendance
    },
    /** Returns the listing for the next report; undefined while the server is not listed. */
    report: (): object | undefined =>
      listing && {
        ...listing,
        ...(host && { session: host.session, ...(host.owner !== undefined && { owner: host.owner }) }),
        // Only players who are present or may return are reported.
        players: Object.fromEntries([...attendance.statuses()].filter(([, status]) => status !== 'left')),
      },
  }
}

/** Validates a listing. @throws {InvalidCall} */
function check({ name, seats, teams }: Listing): void {
  if (typeof name !== 'string' || name.length < 1 || name.length > 64)
    throw new InvalidCall('name', `must have 1 to 64 characters, got ${JSON.stringify(name)}`)
  checkShown('name', name)
  for (const team of Object.keys(teams ?? {})) checkShown('teams', team)
  if (!Number.isInteger(seats) || seats < 1 || seats > 1000)
    throw new InvalidCall('seats', `must be a whole number from 1 to 1,000, got ${seats}`)
  const sum = Object.values(teams ?? {}).reduce((all, one) => all + one, 0)
  if (teams !== undefined && sum !== seats)
    throw new InvalidCall('teams', `must have ${seats} seats in all, got ${sum}`)
}

/** Match invisible characters. Muster's `faultOfShownName` rejects the same ones. */
const UNSEEN = [
  /[\u{16fe4}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2800\u{13441}\u{13442}\u{1d159}]/u,
  /(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic})(?:\ufe0e|\ufe0f(?!\u20e3))/u,
]

/** Validates a name. @throws {InvalidCall} if it looks like another name, or is invisible */
function checkShown(field: string, name: string): void {
  const got = `got ${JSON.stringify(name)}`
  if (UNSEEN.some((one) => one.test(name)))
    throw new InvalidCall(field, `must have no control, direction, zero-width or filler characters, ${got}`)
  if (!/\P{Z}/u.test(name)) throw new InvalidCall(field, `must not be blank, ${got}`)
}
