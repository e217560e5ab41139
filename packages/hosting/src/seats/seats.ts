import type { Clock, Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'
import { LOST_AFTER_MS, type SeatCounts } from '../game-servers/index.js'
import type { ListingReport } from '../records/index.js'
import { createInvitations } from './invitations.js'
import { createHeldTimes, createPasswordTries, createRecentTimes } from './recent-times.js'
import { type Seat, SeatRefused, UnknownServer } from './seat.js'
import { emptiest, freeIn, newSession, type Occupant, type SessionSeat, type Session, sum, teamsOf } from './session.js'

/*
 * The states of a seat on a listed server:
 *
 * FREE ──hold──▶ HELD ──player comes──▶ TAKEN ⇄ AWAY
 *    ▲              │ expires, released     │ gone from the report
 *    └──────────────┴───────────────────────┘
 *
 * Muster does not store counts. It counts the occupied seats in each state, and the remaining seats are free. So no
 * lost, repeated or late message can make a count wrong.
 */

/** A listed server: its session, its own report and its seats as counted by Muster. */
interface SessionListing {
  readonly serverId: string
  readonly session: string
  readonly listing: ListingReport
  readonly counts: SeatCounts
  readonly teams: readonly { readonly name: string; readonly total: number; readonly free: number }[]
}

/** A request for seats on a listed server. */
export interface SeatRequest {
  readonly serverId: string
  /** A player or a party. Either all of them get seats, or none. */
  readonly playerIds: readonly string[]
  readonly team?: string | undefined
  readonly password?: string | undefined
  /** The build of the players' game client. Default: any. */
  readonly build?: string | undefined
  readonly groupId?: string | undefined
  /** Ids of the seats, if they were promised before the server was listed. Default: new ids. */
  readonly seatIds?: readonly string[] | undefined
  /** Id of the requesting player. Undefined: a trusted backend. */
  readonly by?: string | undefined
  /** IP address of the requesting player, by which password guesses are limited. It is not stored with the seat. */
  readonly address?: string | undefined
}

export interface SeatsOptions {
  readonly clock: Clock
  readonly random: Random
  /** Milliseconds that a seat stays reserved after its client last read it, and the maximum in total. */
  readonly holdMs: number
  readonly maxHoldMs: number
  /** Returns a server's build, if known, and whether the server accepts players now. */
  readonly server: (serverId: string) => { readonly build: string | undefined; readonly isOpen: boolean }
  /** Called when the seats, session or listing of a server have changed. */
  readonly changed: (serverId: string) => void
  /** Called when a player has repeatedly let reserved seats expire, or has held unused seats for too long. */
  readonly unused: (playerId: string) => void
}

/** Milliseconds from expiry until a report frees a held seat (our choice). Earlier ones may precede an arrival. */
const REPORT_WAY_MS = 5000
/** Milliseconds within which `MOST_UNUSED` unused seats of a player lead to a call of `unused` (our choices). */
const UNUSED_WINDOW_MS = 300_000
const MOST_UNUSED = 3
/** Maximum number of servers that are suggested instead of a full one. */
const MOST_ALTERNATIVES = 3

export class Seats {
  readonly #options: SeatsOptions
  readonly #sessions = new Map<string, Session>()
  /** The only seat of each player, by player id. */
  readonly #own = new Map<string, SessionSeat>()
  readonly #bySeat = new Map<string, SessionSeat>()
  readonly #tries: ReturnType<typeof createPasswordTries>
  readonly #unusedAt: ReturnType<typeof createRecentTimes>
  readonly #heldFor: ReturnType<typeof createHeldTimes>
  readonly #invitations: ReturnType<typeof createInvitations>
  /** Ids of the servers whose seats have changed since the last call of `#tell`. */
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
   * Applies the listing of a server's last report. Undefined if the server is not listed, so that it has no seats.
   * @param instance id of the server's process, and of the session if the listing has no session id
   * @param isResumed true if the server was listed before a restart of Muster, which has lost the seats
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
   * Reserves seats. A player who already has a seat on this server keeps it, and its expiry is extended. A held seat
   * on another server becomes free. An away seat elsewhere becomes free only if it belongs to the requesting player.
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
      // Players who already occupy a seat on this server get that seat. Only the others need a free one.
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

  /** Extends the expiry of a seat, because its client has read it. Undefined if there is no such seat. */
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
   * Gives a seat back. A seat whose player is on the server becomes free once the server reports that the player has
   * left. Any other seat becomes free at once. Returns false if there is no such seat.
   * @param isOwnWish true if the player gives the seat back, so that the time for which it was held counts as unused
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

  /** Called when a player is sent to a match. A server of an earlier seat may then not report them as seated. */
  sentElsewhere(playerId: string) {
    if (!this.#own.has(playerId) && this.#invitations.knows(playerId)) this.#invitations.over(playerId)
  }

  /** Called when a player gives back a seat on a server that is still starting. It counts like an expired seat. */
  unused(playerId: string) {
    this.#unusedAt.add(playerId)
    if (this.#unusedAt.of(playerId).length < MOST_UNUSED) return
    this.#unusedAt.forget(playerId)
    this.#options.unused(playerId)
  }

  /** Returns the player's seat if Muster gave it. Undefined if the player has none or only a server reports one. */
  givenTo(playerId: string): Seat | undefined {
    const place = this.#own.get(playerId)
    return place === undefined || this.#isClaimed(place) ? undefined : this.#viewOf(place.session, place.occupant)
  }

  ofPlayer(playerId: string): Seat | undefined {
    const place = this.#own.get(playerId)
    return place && this.#viewOf(place.session, place.occupant)
  }

  /** Returns the session and the seats of a server, for its orders. Undefined if the server is not listed. */
  on(serverId: string): { readonly session: string; readonly seats: readonly Seat[] } | undefined {
    const session = this.#sessions.get(serverId)
    if (session === undefined) return undefined
    const seats = [...session.occupants.values()].map((occupant) => this.#viewOf(session, occupant))
    return { session: session.id, seats }
  }

  /** True if at least one seat of the server is occupied or reserved. */
  isOccupied(serverId: string) {
    return (this.#sessions.get(serverId)?.occupants.size ?? 0) > 0
  }

  /** True if Muster gave at least one of the server's occupied or reserved seats. */
  hasGiven(serverId: string) {
    for (const { isGiven } of this.#sessions.get(serverId)?.occupants.values() ?? []) if (isGiven) return true
    return false
  }

  /** True if a player who has or had a seat from Muster is on the server or is expected there. */
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

  /** Returns the session id and the listing of a server. Undefined if the server is not listed. */
  listing(serverId: string): Pick<SessionListing, 'session' | 'listing'> | undefined {
    const session = this.#sessions.get(serverId)
    return session && { session: session.id, listing: session.listing }
  }

  /** Like `listing`, with the current seat counts. */
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

  /** Called after this process was suspended. No client could read its seat meanwhile, so each hold begins again. */
  resumed(now: number) {
    for (const { occupants } of this.#sessions.values())
      for (const occupant of occupants.values()) {
        occupant.heldAt = now
        this.#renewed(occupant)
      }
  }

  /** Frees expired seats of silent servers. Other servers' seats are freed by reports: their player may have come. */
  advance(now: number) {
    for (const session of this.#sessions.values())
      for (const occupant of session.occupants.values())
        if (occupant.state === 'held' && now >= occupant.until + LOST_AFTER_MS) this.#expire(session, occupant)
    this.#tell()
  }

  /** Reports the changed servers. Called once a change is complete, because a listener may read or change seats. */
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

  /** True if only the server reports the player, without a seat from Muster. Such a player may get a seat elsewhere. */
  #isClaimed({ session, occupant }: SessionSeat) {
    return occupant.state !== 'held' && !occupant.isInvited && !this.#invitations.has(session, occupant.playerId)
  }

  /** Takes the seat from a player who is still on the server. It becomes free once the server reports their absence. */
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

  /** Ends a seat. If its player never came, adds the time for which it was held to the player's unused time. */
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

  /** Records that a server reports a player as present or away. @param place returns a team with a free seat */
  #takeIn(session: Session, playerId: string, state: 'taken' | 'away', place: () => string) {
    let occupant = session.occupants.get(playerId)
    if (occupant === undefined) {
      const elsewhere = this.#own.get(playerId)
      // The player was away from another server and is on this one now.
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
    // Computed once for all arrivals of a report.
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

  /** Returns a team for each player of a party, the same one if it has room. Undefined if the party does not fit. */
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
    // The fullest servers first, so that servers fill up. The check of the seat counts comes first because it is
    // cheap.
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

  /** Checks the build, the lock and the password of a server. @throws {SeatRefused} */
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
