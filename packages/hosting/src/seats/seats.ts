import type { Clock, Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'
import { LOST_AFTER_MS, type SeatCounts } from '../game-servers/index.js'
import type { ListingReport } from '../records/index.js'
import { createInvitations } from './invitations.js'
import { createHeldTimes, createPasswordTries, createRecentTimes } from './recent-times.js'
import { type Seat, SeatRefused, UnknownServer } from './seat.js'
import { emptiest, freeIn, newSession, type Occupant, type SessionSeat, type Session, sum, teamsOf } from './session.js'

/*
 * The seats of listed servers, counted by Muster:
 *
 * FREE ──hold──▶ HELD ──admitted──▶ TAKEN ⇄ AWAY
 *    ▲              │ expires, released     │ gone from the report
 *    └──────────────┴───────────────────────┘
 *
 * Counts are not stored. Each is computed from the seats in a state, and the remaining seats are free. So no lost,
 * repeated or late message can make them wrong.
 */

/** A server that players may join, with its own listing. */
interface SessionListing {
  readonly serverId: string
  readonly session: string
  readonly listing: ListingReport
  readonly counts: SeatCounts
  readonly teams: readonly { readonly name: string; readonly total: number; readonly free: number }[]
}

/** A player's request for seats. */
export interface SeatRequest {
  readonly serverId: string
  /** One player or a party. Either all get a seat, or nobody. */
  readonly playerIds: readonly string[]
  readonly team?: string | undefined
  readonly password?: string | undefined
  /** The build of the players' game. Default: any. */
  readonly build?: string | undefined
  readonly groupId?: string | undefined
  /** Ids for the seats, if the players got them earlier, when their server was still to be started. */
  readonly seatIds?: readonly string[] | undefined
  /** The requesting player, also for a party. Undefined: a trusted backend. */
  readonly by?: string | undefined
  /** The address of the requesting player. Password guesses are counted by it. It is stored nowhere else. */
  readonly address?: string | undefined
}

export interface SeatsOptions {
  readonly clock: Clock
  readonly random: Random
  /** Milliseconds for which a seat is held unless its client follows it, and the maximum in total. */
  readonly holdMs: number
  readonly maxHoldMs: number
  /** The build of a server, if known, and whether it accepts players now. */
  readonly server: (serverId: string) => { readonly build: string | undefined; readonly isOpen: boolean }
  /** Called when a server's seats, session or listing have changed. */
  readonly changed: (serverId: string) => void
  /** Called when a player let holds expire too often, or held seats for too long without using any. */
  readonly unused: (playerId: string) => void
}

/**
 * Milliseconds after a hold's end from which a report shows that nobody came. Earlier ones may be late (our choice).
 */
const REPORT_WAY_MS = 5000
/** `unused` reports a player who left `MOST_UNUSED` held seats unused within this many milliseconds (our choices). */
const UNUSED_WINDOW_MS = 300_000
const MOST_UNUSED = 3
/** Maximum number of servers suggested in place of a full one. */
const MOST_ALTERNATIVES = 3

/** The seats of all listed servers. */
export class Seats {
  readonly #options: SeatsOptions
  readonly #sessions = new Map<string, Session>()
  /** The one seat of each player. */
  readonly #own = new Map<string, SessionSeat>()
  readonly #bySeat = new Map<string, SessionSeat>()
  readonly #tries: ReturnType<typeof createPasswordTries>
  readonly #unusedAt: ReturnType<typeof createRecentTimes>
  readonly #heldFor: ReturnType<typeof createHeldTimes>
  readonly #invitations: ReturnType<typeof createInvitations>
  /** Servers whose seats have changed since the last `tell`. */
  readonly #different = new Set<string>()

  constructor(options: SeatsOptions) {
    this.#options = options
    const { clock } = options
    this.#tries = createPasswordTries(clock)
    this.#unusedAt = createRecentTimes(UNUSED_WINDOW_MS, clock)
    this.#heldFor = createHeldTimes(clock)
    this.#invitations = createInvitations(clock)
  }

  /**
   * Applies the current listing of a server. Undefined: it is no longer listed, so nobody has a seat on it.
   * @param instance the process of the server. A listing without an id has one session per process.
   * @param isResumed true if it was listed under an earlier Muster process. Its seats are lost then
   */
  listed(serverId: string, listing: ListingReport | undefined, instance: string, isResumed = false) {
    const before = this.#sessions.get(serverId)
    if (listing === undefined) {
      if (before !== undefined) this.#end(before)
      return this.#tell()
    }
    const id = listing.session ?? instance
    if (before !== undefined && before.id !== id) this.#end(before)
    let session = this.#sessions.get(serverId)
    if (session === undefined) {
      const resumedUntil =
        isResumed && before === undefined ? this.#options.clock.now() + this.#options.maxHoldMs : -Infinity
      session = newSession({ serverId, id, listing, resumedUntil })
      this.#sessions.set(serverId, session)
      this.#different.add(serverId)
    }
    session.listing = listing
    session.teams = teamsOf(listing)
    this.#applyReport(session)
    this.#tell()
  }

  /**
   * Holds seats. Players who have a seat on this server get the same seat again, renewed. Held seats elsewhere become
   * free, and also an away seat of the requesting player. Other members of a party keep their away seats.
   * @throws {UnknownServer}; {SeatRefused}, and nothing changes
   */
  hold(request: SeatRequest): { readonly seats: readonly Seat[]; readonly isNew: boolean } {
    const { serverId, playerIds, team, build, groupId, seatIds, by } = request
    const session = this.#sessions.get(serverId)
    if (session === undefined) throw new UnknownServer('There is no such server, or it is not listed any more.')
    const seated = (playerId: string) => {
      const occupant = session.occupants.get(playerId)
      return occupant?.isOwn === true ? occupant : undefined
    }
    const missing = playerIds.filter((playerId) => seated(playerId) === undefined)
    if (missing.length > 0) {
      this.#assertAdmitted(session, request)
      for (const playerId of missing) {
        const there = this.#own.get(playerId)
        const { state } = there?.occupant ?? {}
        if (there !== undefined && this.#isClaimed(there)) continue
        if (there !== undefined && (state === 'taken' || (state === 'away' && by !== undefined && by !== playerId)))
          throw new SeatRefused('seat-held-elsewhere', 'The player is on another server. Give that seat back first.', {
            playerId,
            seatId: there.occupant.id,
          })
      }
      if (team !== undefined && !session.teams.has(team))
        throw new SeatRefused('no-such-team', 'The server has no such team.')
      // A player who is on this server without a seat of their own gets the place that they already occupy.
      const coming = missing.filter((playerId) => !session.occupants.has(playerId))
      const teams = this.#teamsFor(session, coming.length, team)
      if (teams === undefined)
        throw new SeatRefused('server-full', 'The server has not enough free seats.', {
          alternatives: this.#alternativesTo(session, playerIds.length, build),
        })
      for (const playerId of missing) {
        const there = this.#own.get(playerId)
        if (there === undefined) continue
        if (there.occupant.state === 'taken') this.#giveBack(there.occupant)
        else if (by === playerId) this.#endUnused(there.session, there.occupant)
        else this.#free(there.session, there.occupant)
      }
      for (const [index, playerId] of coming.entries()) {
        const id = seatIds?.[playerIds.indexOf(playerId)] ?? newId(this.#options.random)
        this.#occupy(session, { playerId, team: teams[index] as string, state: 'held', groupId }, id)
      }
      for (const playerId of missing) {
        const occupant = session.occupants.get(playerId) as Occupant
        occupant.isOwn = true
        occupant.isGiven = true
        occupant.isInvited = true
        occupant.isGivenBack = false
        this.#invitations.given(session, playerId)
        this.#own.set(playerId, { session, occupant })
      }
    }
    const seats = playerIds.map((playerId) => session.occupants.get(playerId) as Occupant)
    for (const occupant of seats) this.#renewed(occupant)
    this.#tell()
    return { seats: seats.map((occupant) => this.#viewOf(session, occupant)), isNew: missing.length > 0 }
  }

  /** Extends the hold of a seat, because its client follows the seat. Undefined if there is no such seat. */
  renew(seatId: string): Seat | undefined {
    const place = this.#bySeat.get(seatId)
    if (place?.occupant.isOwn !== true) return undefined
    this.#renewed(place.occupant)
    return this.#viewOf(place.session, place.occupant)
  }

  find(seatId: string): Seat | undefined {
    const place = this.#bySeat.get(seatId)
    return place?.occupant.isOwn === true ? this.#viewOf(place.session, place.occupant) : undefined
  }

  /**
   * Gives a seat back. If its player is on the server, it no longer counts as theirs, and becomes free once the server
   * reports that they are gone. An away seat becomes free at once. Returns false if there is no such seat.
   * @param isOwnWish true if its player gives it back, so that a hold counts as unused
   */
  release(seatId: string, isOwnWish = false) {
    const place = this.#bySeat.get(seatId)
    if (place?.occupant.isOwn !== true) return false
    const { session, occupant } = place
    if (occupant.state === 'taken') this.#giveBack(occupant)
    else {
      if (occupant.state === 'away') session.givenBack = new Set([...session.givenBack, occupant.playerId])
      if (isOwnWish) this.#endUnused(session, occupant)
      else this.#free(session, occupant)
    }
    this.#invitations.over(occupant.playerId)
    this.#tell()
    return true
  }

  /** Called when the player is sent to a match. A server where they had a seat may no longer report them on it. */
  sentElsewhere(playerId: string) {
    if (!this.#own.has(playerId) && this.#invitations.knows(playerId)) this.#invitations.over(playerId)
  }

  /** Called when the player has given back a seat on a server that is being started. It counts like an expired hold. */
  unused(playerId: string) {
    this.#unusedAt.add(playerId)
    if (this.#unusedAt.of(playerId).length < MOST_UNUSED) return
    this.#unusedAt.forget(playerId)
    this.#options.unused(playerId)
  }

  /** Returns the player's seat, unless it exists only by a server's report. */
  givenTo(playerId: string): Seat | undefined {
    const place = this.#own.get(playerId)
    return place === undefined || this.#isClaimed(place) ? undefined : this.#viewOf(place.session, place.occupant)
  }

  ofPlayer(playerId: string): Seat | undefined {
    const place = this.#own.get(playerId)
    return place && this.#viewOf(place.session, place.occupant)
  }

  /** Returns the seats of a server for its orders. Undefined if the server is not listed. */
  on(serverId: string): { readonly session: string; readonly seats: readonly Seat[] } | undefined {
    const session = this.#sessions.get(serverId)
    if (session === undefined) return undefined
    const seats = [...session.occupants.values()].map((occupant) => this.#viewOf(session, occupant))
    return { session: session.id, seats }
  }

  /** True if somebody has a seat on the server. */
  isOccupied(serverId: string) {
    return (this.#sessions.get(serverId)?.occupants.size ?? 0) > 0
  }

  /** True if somebody has a seat on the server that Muster gave them. */
  hasGiven(serverId: string) {
    for (const { isGiven } of this.#sessions.get(serverId)?.occupants.values() ?? []) if (isGiven) return true
    return false
  }

  /**
   * True if a player with a seat from Muster, present or past, is on the server or comes to it. The server's report
   * alone is not enough.
   */
  hasInvited(serverId: string) {
    const session = this.#sessions.get(serverId)
    if (session === undefined) return false
    for (const occupant of session.occupants.values())
      if (!occupant.isGivenBack && !this.#isClaimed({ session, occupant })) return true
    return false
  }

  isListed(serverId: string) {
    return this.#sessions.has(serverId)
  }

  /** Returns the server's listing and its session. */
  listing(serverId: string): Pick<SessionListing, 'session' | 'listing'> | undefined {
    const session = this.#sessions.get(serverId)
    return session && { session: session.id, listing: session.listing }
  }

  /** Like `listing`, with the current numbers of seats. */
  read(serverId: string): SessionListing | undefined {
    const session = this.#sessions.get(serverId)
    if (session === undefined) return undefined
    const left = freeIn(session)
    return {
      serverId,
      session: session.id,
      listing: session.listing,
      counts: this.#countsOf(session, left),
      teams: Array.from(session.teams, ([name, total]) => ({ name, total, free: left.get(name) ?? 0 })),
    }
  }

  serverIds(): Iterable<string> {
    return this.#sessions.keys()
  }

  /**
   * Frees expired holds on silent servers. Other servers report who has come: the first report after a hold's end frees
   * it. So no seat is given to a second player while a report about the first is late.
   */
  advance(now: number) {
    for (const session of this.#sessions.values()) {
      for (const occupant of session.occupants.values())
        if (occupant.state === 'held' && now >= occupant.until + LOST_AFTER_MS) this.#expire(session, occupant)
    }
    this.#tell()
  }

  /** Reports the changed servers once a change is complete, because a listener may read or change the seats. */
  #tell() {
    const serverIds = [...this.#different]
    this.#different.clear()
    for (const serverId of serverIds) this.#options.changed(serverId)
  }

  #viewOf({ serverId, id: session }: Session, occupant: Occupant): Seat {
    const { id, playerId, team, groupId, state, until } = occupant
    return { id, serverId, session, playerId, team, groupId, state, until: state === 'held' ? until : undefined }
  }

  #occupy(session: Session, given: Pick<Occupant, 'playerId' | 'team' | 'state' | 'groupId'>, id: string) {
    const now = this.#options.clock.now()
    const isOwn = !this.#own.has(given.playerId)
    const isGiven = given.state === 'held'
    if (isGiven) this.#invitations.given(session, given.playerId)
    const isInvited = this.#invitations.names(session, given.playerId)
    const times = { heldAt: now, until: now + this.#options.holdMs }
    const occupant: Occupant = { ...given, ...times, id, isOwn, isGivenBack: false, isGiven, isInvited }
    session.occupants.set(given.playerId, occupant)
    if (session.givenBack.has(given.playerId))
      session.givenBack = new Set([...session.givenBack].filter((other) => other !== given.playerId))
    this.#different.add(session.serverId)
    const place = { session, occupant }
    this.#bySeat.set(id, place)
    if (isOwn) this.#own.set(given.playerId, place)
    return occupant
  }

  /** True if the player is there only by the server's report. Such a player may get other seats. */
  #isClaimed({ session, occupant }: SessionSeat) {
    return occupant.state !== 'held' && !occupant.isInvited && !this.#invitations.has(session, occupant.playerId)
  }

  /** Takes the seat from its player. It becomes free once the server reports that the player is gone. */
  #giveBack(occupant: Occupant) {
    occupant.isOwn = false
    occupant.isGivenBack = true
    this.#own.delete(occupant.playerId)
  }

  #free(session: Session, occupant: Occupant) {
    session.occupants.delete(occupant.playerId)
    this.#different.add(session.serverId)
    this.#bySeat.delete(occupant.id)
    if (this.#own.get(occupant.playerId)?.occupant === occupant) this.#own.delete(occupant.playerId)
    if (occupant.isInvited) this.#invitations.ended(session, occupant.playerId)
  }

  /** Ends a hold whose player did not come. The times of repeated holds add up. */
  #endUnused(session: Session, occupant: Occupant) {
    const { playerId, heldAt, until, state } = occupant
    this.#free(session, occupant)
    if (state !== 'held') return
    if (this.#heldFor.add(playerId, Math.min(this.#options.clock.now(), until) - heldAt) < this.#options.maxHoldMs)
      return
    this.#heldFor.forget(playerId)
    this.#options.unused(playerId)
  }

  #expire(session: Session, occupant: Occupant) {
    this.#endUnused(session, occupant)
    this.unused(occupant.playerId)
  }

  #end(session: Session) {
    for (const occupant of session.occupants.values()) this.#free(session, occupant)
    this.#sessions.delete(session.serverId)
    this.#different.add(session.serverId)
  }

  /** Records a player who is on the server by its report. @param place takes a place in a team */
  #takeIn(session: Session, playerId: string, state: 'taken' | 'away', place: () => string) {
    let occupant = session.occupants.get(playerId)
    if (occupant === undefined) {
      const elsewhere = this.#own.get(playerId)
      // A player who was away from a seat elsewhere is on this server now.
      if (elsewhere?.occupant.state === 'away' && state === 'taken' && this.#invitations.has(session, playerId))
        this.#free(elsewhere.session, elsewhere.occupant)
      occupant = this.#occupy(
        session,
        { playerId, team: place(), state, groupId: undefined },
        newId(this.#options.random),
      )
    }
    occupant.state = state
    if (!occupant.isOwn && !occupant.isGivenBack && !this.#own.has(playerId)) {
      occupant.isOwn = true
      this.#own.set(playerId, { session, occupant })
    }
  }

  #applyReport(session: Session) {
    const { players } = session.listing
    const mayReturn = (playerId: string) => Object.hasOwn(players, playerId) && players[playerId] === 'away'
    if (session.givenBack.size > 0) session.givenBack = new Set([...session.givenBack].filter(mayReturn))
    for (const occupant of session.occupants.values()) {
      const said = Object.hasOwn(players, occupant.playerId) ? players[occupant.playerId] : 'left'
      if (said !== 'left') continue
      if (occupant.state !== 'held') this.#free(session, occupant)
      else if (this.#options.clock.now() >= occupant.until + REPORT_WAY_MS) this.#expire(session, occupant)
    }
    // The free places are counted once, for any number of arrivals.
    let left: Map<string, number> | undefined
    const place = () => {
      left ??= freeIn(session)
      const team = emptiest(left)
      left.set(team, (left.get(team) ?? 0) - 1)
      return team
    }
    for (const occupant of session.occupants.values()) {
      if (session.teams.has(occupant.team)) continue
      occupant.team = place()
      this.#different.add(session.serverId)
    }
    for (const [playerId, said] of Object.entries(players))
      if (said !== 'left' && !session.givenBack.has(playerId))
        this.#takeIn(session, playerId, said === 'in' ? 'taken' : 'away', place)
  }

  #countsOf({ occupants }: Session, left: ReadonlyMap<string, number>): SeatCounts {
    const counts = { held: 0, taken: 0, away: 0 }
    for (const { state } of occupants.values()) counts[state] += 1
    const rest = sum(left.values())
    return { total: rest + occupants.size, free: rest, ...counts }
  }

  #renewed(occupant: Occupant) {
    if (occupant.state === 'held')
      occupant.until = Math.max(
        occupant.until,
        Math.min(this.#options.clock.now() + this.#options.holdMs, occupant.heldAt + this.#options.maxHoldMs),
      )
  }

  /** Returns teams for a party: all in one if there is room. Undefined if the party does not fit. */
  #teamsFor(session: Session, size: number, team: string | undefined): readonly string[] | undefined {
    const left = freeIn(session)
    if (team !== undefined) return (left.get(team) ?? 0) >= size ? Array<string>(size).fill(team) : undefined
    if (sum(left.values()) < size) return undefined
    const together = emptiest(left)
    if ((left.get(together) ?? 0) >= size) return Array<string>(size).fill(together)
    return Array.from({ length: size }, () => {
      const one = emptiest(left)
      left.set(one, (left.get(one) ?? 0) - 1)
      return one
    })
  }

  #isJoinable({ serverId, listing }: Session, build: string | undefined): boolean {
    const server = this.#options.server(serverId)
    return (
      server.isOpen && !listing.locked && (build === undefined || server.build === undefined || server.build === build)
    )
  }

  #alternativesTo(full: Session, size: number, build: string | undefined): readonly string[] {
    // The fullest servers come first, so that servers fill up. Comparing two numbers excludes most candidates.
    const best: Session[] = []
    for (const session of this.#sessions.values()) {
      const { listing, occupants } = session
      if (occupants.size + size > listing.seats || listing.password !== undefined || session === full) continue
      if (best.length === MOST_ALTERNATIVES && occupants.size <= (best.at(-1)?.occupants.size ?? 0)) continue
      if (!this.#isJoinable(session, build) || this.#teamsFor(session, size, undefined) === undefined) continue
      const at = best.findIndex((other) => other.occupants.size < occupants.size)
      best.splice(at === -1 ? best.length : at, 0, session)
      best.length = Math.min(best.length, MOST_ALTERNATIVES)
    }
    return best.map(({ serverId }) => serverId)
  }

  /** @throws {SeatRefused} */
  #assertAdmitted(session: Session, { playerIds: [playerId = ''], password, build, address }: SeatRequest) {
    const { serverId, listing } = session
    const server = this.#options.server(serverId)
    if (build !== undefined && server.build !== undefined && server.build !== build)
      throw new SeatRefused('wrong-build', 'The server runs another build of the game.')
    if (!server.isOpen || listing.locked)
      throw new SeatRefused('server-closed', 'The server takes no players now. Choose another one.')
    if (listing.password === undefined) return
    const guess = { serverId, playerId, address }
    const waitMs = this.#tries.waitMs(guess)
    if (waitMs > 0)
      throw new SeatRefused('too-many-tries', 'Too many wrong passwords. Try again later.', { retryAfterMs: waitMs })
    if (this.#tries.isRight(guess, { given: password ?? '', wanted: listing.password })) return
    throw new SeatRefused('wrong-password', 'The password of the server is wrong.')
  }
}
