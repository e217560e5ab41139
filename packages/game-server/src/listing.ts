import { createAttendance } from './attendance.js'
import type { Clock } from './clock.js'
import { InvalidCall } from './errors.js'
import type { JoinClaims } from './join-token.js'
import type { Player } from './served-match.js'
import type { WireHost, WireListing } from './wire.js'

/** How a server is listed for players who look for one. */
export interface Listing {
  /** 1 to 64 characters. */
  readonly name: string
  /** Players who fit. */
  readonly seats: number
  /** Seats by team; their sum is `seats`. */
  readonly teams?: Readonly<Record<string, number>> | undefined
  /** By which players filter, as far as the configuration declares them. */
  readonly attributes?: Readonly<Record<string, string | number | boolean>> | undefined
  /** Whoever wants a seat has to know it. */
  readonly password?: string | undefined
  /** Nobody gets a seat; those who have one may return. */
  readonly locked?: boolean | undefined
}

/** A session that a player or a backend had started: the server is to list itself so. */
export interface SessionWanted {
  readonly name: string
  readonly password?: string | undefined
  /** Id of the player who had it started. */
  readonly owner?: string | undefined
  readonly attributes: Readonly<Record<string, string | number | boolean>>
}

/** What the list knows of this server, and who is on it by the list. */
export function createListing(clock: Clock, changed: () => void) {
  let attendance = createAttendance(clock, changed)
  let listing: Listing | undefined
  let host: WireHost | undefined
  /** The session that was wanted last: it is begun once. */
  let wanted: string | undefined
  let orders: WireListing | undefined
  return {
    set: (given: Listing | undefined) => {
      if (given !== undefined) check(given)
      listing = given
      if (given === undefined) host = undefined
      changed()
    },
    /** Takes the session that the orders want; undefined: none. @returns whether it is a new one */
    want: (given: WireHost | undefined) => {
      if (given === undefined || given.session === wanted) return false
      wanted = given.session
      host = given
      attendance.close()
      attendance = createAttendance(clock, changed)
      return true
    },
    hear: (given: WireListing | undefined) => {
      orders = given
    },
    /** The player of a token; undefined if its session or its seat is not known. */
    playerOf: ({ sub, mid, sid, team, grp }: JoinClaims): Player | undefined => {
      const seat = orders?.session === mid ? orders.seats.find(({ seat_id }) => seat_id === sid) : undefined
      if (seat?.player_id !== sub) return undefined
      return Object.freeze({ id: sub, matchId: mid, team, groupId: grp, attributes: {} })
    },
    get attendance() {
      return attendance
    },
    /** For the next report; undefined while it is not listed. */
    report: (): object | undefined =>
      listing && {
        ...listing,
        ...(host && { session: host.session, ...(host.owner !== undefined && { owner: host.owner }) }),
        // Only those who are there, or may return.
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

/** What nobody sees: as `faultOfShownName` of Muster, which refuses the same. */
const UNSEEN = [
  /[\u{16fe4}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2800\u{13441}\u{13442}\u{1d159}]/u,
  /(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic})(?:\ufe0e|\ufe0f(?!\u20e3))/u,
]

/** @throws {InvalidCall} if a name looks like another one, or like none */
function checkShown(field: string, name: string): void {
  const got = `got ${JSON.stringify(name)}`
  if (UNSEEN.some((one) => one.test(name)))
    throw new InvalidCall(field, `must have no control, direction, zero-width or blank characters, ${got}`)
  if (!/\P{Z}/u.test(name)) throw new InvalidCall(field, `must not be blank, ${got}`)
}
