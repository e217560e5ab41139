import { createAttendance } from './attendance.js'
import type { Clock } from './clock.js'
import { InvalidCall } from './errors.js'
import type { JoinClaims } from './join-token.js'
import type { Player } from './served-match.js'
import type { WireHost, WireListing } from './wire.js'

/** The listing of a server for players who look for one. */
export interface Listing {
  /** 1 to 64 characters. */
  readonly name: string
  /** Maximum number of players. */
  readonly seats: number
  /** Seats by team. Their sum is `seats`. */
  readonly teams?: Readonly<Record<string, number>> | undefined
  /** Attributes for the players' filters, if the configuration declares them. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>> | undefined
  /** The password required for a seat. */
  readonly password?: string | undefined
  /** True: no new seats. Players with a seat may return. */
  readonly locked?: boolean | undefined
}

/** A session requested by a player or a backend. The server should list itself accordingly. */
export interface SessionWanted {
  readonly name: string
  readonly password?: string | undefined
  /** Id of the player who requested it. */
  readonly owner?: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

/** The server's listing and its players. */
export function createListing(clock: Clock, changed: () => void) {
  let attendance = createAttendance(clock, changed)
  let listing: Listing | undefined
  let host: WireHost | undefined
  /** The id of the last wanted session. Each is started once. */
  let wanted: string | undefined
  let orders: WireListing | undefined
  return {
    set: (given: Listing | undefined) => {
      if (given !== undefined) check(given)
      listing = given
      if (given === undefined) host = undefined
      changed()
    },
    /** Opens the session in the orders. Undefined: none. @returns true if it is a new one */
    openSession: (given: WireHost | undefined) => {
      if (given === undefined || given.session === wanted) return false
      wanted = given.session
      host = given
      attendance.close()
      attendance = createAttendance(clock, changed)
      return true
    },
    setOrders: (given: WireListing | undefined) => {
      orders = given
    },
    /** The player of a token. Undefined if its session or its seat is unknown. */
    playerOf: ({ sub, mid, sid, team, grp }: JoinClaims): Player | undefined => {
      const seat = orders?.session === mid ? orders.seats.find(({ seat_id }) => seat_id === sid) : undefined
      if (seat?.player_id !== sub) return undefined
      return Object.freeze({ id: sub, matchId: mid, team, groupId: grp, attributes: {} })
    },
    get attendance() {
      return attendance
    },
    /** The listing for the next report. Undefined while it is not listed. */
    report: (): object | undefined =>
      listing && {
        ...listing,
        ...(host && { session: host.session, ...(host.owner !== undefined && { owner: host.owner }) }),
        // Only players who are present or may return.
        players: Object.fromEntries([...attendance.statuses()].filter(([, status]) => status !== 'left')),
      },
  }
}

/** @throws {InvalidCall} */
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

/** Invisible characters. `faultOfShownName` of Muster rejects the same ones. */
const UNSEEN = [
  /[\u{16fe4}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2800\u{13441}\u{13442}\u{1d159}]/u,
  /(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic})(?:\ufe0e|\ufe0f(?!\u20e3))/u,
]

/** @throws {InvalidCall} if a name looks like another one, or is invisible */
function checkShown(field: string, name: string): void {
  const got = `got ${JSON.stringify(name)}`
  if (UNSEEN.some((one) => one.test(name)))
    throw new InvalidCall(field, `must have no control, direction, zero-width or blank characters, ${got}`)
  if (!/\P{Z}/u.test(name)) throw new InvalidCall(field, `must not be blank, ${got}`)
}
