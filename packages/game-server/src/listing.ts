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
      listing = given && checked(given)
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

/** The limits of Muster's `ReportBody`. Muster refuses a whole report for one wrong value, and so all later reports. */
const MOST_SEATS = 1000
const MOST_TEAMS = 32
const MOST_ATTRIBUTES = 32
const LONGEST_ATTRIBUTE = 256
const LONGEST_PASSWORD = 128

/** Returns a copy of a listing, so that later changes of the game's object have no effect. @throws {InvalidCall} */
function checked({ name, seats, teams, attributes, password, locked }: Listing): Listing {
  checkName('name', name)
  const isCount = (value: unknown) =>
    Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MOST_SEATS
  if (!isCount(seats) || seats < 1)
    throw new InvalidCall('seats', `must be a whole number from 1 to 1,000, got ${seats}`)
  for (const [team, count] of Object.entries(teams ?? {})) {
    checkName('teams', team)
    // Muster reads JSON without members of this name.
    if (team === '__proto__') throw new InvalidCall('teams', 'must not have the name __proto__')
    if (!isCount(count)) throw new InvalidCall(`teams.${team}`, `must be a whole number up to 1,000, got ${count}`)
  }
  const counts = Object.values(teams ?? {})
  if (counts.length > MOST_TEAMS) throw new InvalidCall('teams', `must be at most ${MOST_TEAMS}, got ${counts.length}`)
  const sum = counts.reduce((all, one) => all + one, 0)
  if (teams !== undefined && sum !== seats)
    throw new InvalidCall('teams', `must have ${seats} seats in all, got ${sum}`)
  const isPassword = typeof password === 'string' && password !== '' && password.length <= LONGEST_PASSWORD
  if (password !== undefined && !isPassword)
    throw new InvalidCall('password', `must have 1 to ${LONGEST_PASSWORD} characters; leave it out for none`)
  checkAttributes('attributes', attributes)
  return {
    name,
    seats,
    ...(teams && { teams: { ...teams } }),
    ...(attributes && { attributes: { ...attributes } }),
    ...(password !== undefined && { password }),
    ...(locked !== undefined && { locked: Boolean(locked) }),
  }
}

/** Validates attributes of a server. @throws {InvalidCall} for those that Muster would refuse */
export function checkAttributes(field: string, attributes: Listing['attributes']): void {
  // Members that are undefined are not sent.
  const given = Object.entries(attributes ?? {}).filter(([, value]) => value !== undefined)
  if (given.length > MOST_ATTRIBUTES)
    throw new InvalidCall(field, `must be at most ${MOST_ATTRIBUTES}, got ${given.length}`)
  for (const [name, value] of given) {
    if (name.length < 1 || name.length > 64)
      throw new InvalidCall(field, `must have names of 1 to 64 characters, got ${JSON.stringify(name)}`)
    const isText = typeof value === 'string' && value.length <= LONGEST_ATTRIBUTE
    if (!isText && typeof value !== 'boolean' && !Number.isFinite(value))
      throw new InvalidCall(`${field}.${name}`, `must be a text of at most 256 characters, a number, true or false`)
  }
}

/** Match invisible characters. Muster's `faultOfShownName` rejects the same ones. */
const UNSEEN = [
  /[\u{16fe4}\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u2800\u{13441}\u{13442}\u{1d159}]/u,
  /(?![\ufe0e\ufe0f])\p{Default_Ignorable_Code_Point}|(?<!\p{Extended_Pictographic})(?:\ufe0e|\ufe0f(?!\u20e3))/u,
]

/** Validates a name. @throws {InvalidCall} if it looks like another name, is invisible or too long */
function checkName(field: string, name: unknown): void {
  if (typeof name !== 'string' || name.length < 1 || name.length > 64)
    throw new InvalidCall(field, `must have 1 to 64 characters, got ${JSON.stringify(name)}`)
  const got = `got ${JSON.stringify(name)}`
  if (UNSEEN.some((one) => one.test(name)))
    throw new InvalidCall(field, `must have no control, direction, zero-width or filler characters, ${got}`)
  if (!/\P{Z}/u.test(name)) throw new InvalidCall(field, `must not be blank, ${got}`)
}
