import type { Clock, Random } from '@muster/core/clock'
import { newId } from '@muster/core/internal'
import { type ListingReport, LOST_AFTER_MS, type SeatCounts } from '../game-servers/index.js'
import { createInvitations } from './invitations.js'
import { createHeldTimes, createPasswordTries, createRecentTimes } from './recent-times.js'
import { type Seat, SeatRefused, UnknownServer } from './seat.js'
import { emptiest, freeIn, newSession, type Occupant, type Place, type Session, sum, teamsOf } from './session.js'

/*
 * The seats of listed servers, counted by us:
 *
 *   FREE ──hold──▶ HELD ──admitted──▶ TAKEN ⇄ AWAY
 *    ▲              │ expires, released     │ gone from the report
 *    └──────────────┴───────────────────────┘
 *
 * Counts are never kept: each is the number of seats in a state, and free is what the rest leaves. So nothing that is
 * lost, repeated or late can make them wrong.
 */

/** A server that players may join, as it lists itself. */
interface ListedSession {
  readonly serverId: string
  readonly session: string
  readonly listing: ListingReport
  readonly counts: SeatCounts
  readonly teams: readonly { readonly name: string; readonly total: number; readonly free: number }[]
}

/** What a player asks for. */
export interface SeatRequest {
  readonly serverId: string
  /** One player, or a party: all get a seat, or nobody does. */
  readonly playerIds: readonly string[]
  readonly team?: string | undefined
  readonly password?: string | undefined
  /** The build of the players' game. Default: any. */
  readonly build?: string | undefined
  readonly groupId?: string | undefined
  /** Ids for the seats, where they were promised before. */
  readonly seatIds?: readonly string[] | undefined
  /** The player who asks, for a party too. Undefined: a backend, which is trusted. */
  readonly by?: string | undefined
  /** The address of the player who asks. Tries of passwords are counted by it; it is kept nowhere else. */
  readonly address?: string | undefined
}

export type Seats = ReturnType<typeof createSeats>

export interface SeatsOptions {
  readonly clock: Clock
  readonly random: Random
  /** Milliseconds for which a seat is held unless its client follows it, and in all. */
  readonly holdMs: number
  readonly maxHoldMs: number
  /** The build of a server, if known, and whether it takes players now. */
  readonly server: (serverId: string) => { readonly build: string | undefined; readonly isOpen: boolean }
  /** Who has a seat on a server has changed, or its session, or whether it is listed. */
  readonly changed: (serverId: string) => void
  /** A player let holds expire too often, or held seats for too long, and came to none. */
  readonly unused: (playerId: string) => void
}

/** Milliseconds after a hold's end from which a report shows that nobody came: one may be under way (our choice). */
const REPORT_WAY_MS = 5000
/** Holds that nobody used within this time count together (our choices). */
const UNUSED_WINDOW_MS = 300_000
const MOST_UNUSED = 3
/** Servers that are named in place of a full one. */
const MOST_ALTERNATIVES = 3

/** Creates the seats of all listed servers. */
export function createSeats(options: SeatsOptions) {
  const { clock, random, holdMs, maxHoldMs } = options
  const sessions = new Map<string, Session>()
  /** The one seat of each player. */
  const own = new Map<string, Place>()
  const bySeat = new Map<string, Place>()
  const tries = createPasswordTries(clock)
  const unusedAt = createRecentTimes(UNUSED_WINDOW_MS, clock)
  const heldFor = createHeldTimes(clock)
  const invitations = createInvitations(clock)
  /** Servers whose seats have changed since the last `tell`. */
  const different = new Set<string>()
  /** Called once all is as it is to be: whoever hears of it may read the seats, or change them. */
  const tell = () => {
    const serverIds = [...different]
    different.clear()
    for (const serverId of serverIds) options.changed(serverId)
  }

  const viewOf = ({ serverId, id: session }: Session, occupant: Occupant): Seat => {
    const { id, playerId, team, groupId, state, until } = occupant
    return { id, serverId, session, playerId, team, groupId, state, until: state === 'held' ? until : undefined }
  }

  const sit = (session: Session, given: Pick<Occupant, 'playerId' | 'team' | 'state' | 'groupId'>, id: string) => {
    const now = clock.now()
    const isOwn = !own.has(given.playerId)
    const isGiven = given.state === 'held'
    if (isGiven) invitations.given(session, given.playerId)
    const isInvited = invitations.names(session, given.playerId)
    const times = { heldAt: now, until: now + holdMs }
    const occupant: Occupant = { ...given, ...times, id, isOwn, isGivenBack: false, isGiven, isInvited }
    session.occupants.set(given.playerId, occupant)
    if (session.givenBack.has(given.playerId))
      session.givenBack = new Set([...session.givenBack].filter((other) => other !== given.playerId))
    different.add(session.serverId)
    const place = { session, occupant }
    bySeat.set(id, place)
    if (isOwn) own.set(given.playerId, place)
    return occupant
  }

  /** Somebody is there by the server's word alone: that keeps them from nothing. */
  const isClaimed = ({ session, occupant }: Place) =>
    occupant.state !== 'held' && !occupant.isInvited && !invitations.has(session, occupant.playerId)

  /** The seat counts as its player's no more, and is free once the server says that they are gone. */
  const giveBack = (occupant: Occupant) => {
    occupant.isOwn = false
    occupant.isGivenBack = true
    own.delete(occupant.playerId)
  }

  const free = (session: Session, occupant: Occupant) => {
    session.occupants.delete(occupant.playerId)
    different.add(session.serverId)
    bySeat.delete(occupant.id)
    if (own.get(occupant.playerId)?.occupant === occupant) own.delete(occupant.playerId)
    if (occupant.isInvited) invitations.ended(session, occupant.playerId)
  }

  const unused = (playerId: string) => {
    unusedAt.add(playerId)
    if (unusedAt.of(playerId).length < MOST_UNUSED) return
    unusedAt.forget(playerId)
    options.unused(playerId)
  }

  /** A hold ends without its player. Holds that are given back and taken again count by their time together. */
  const endUnused = (session: Session, occupant: Occupant) => {
    const { playerId, heldAt, until, state } = occupant
    free(session, occupant)
    if (state !== 'held') return
    if (heldFor.add(playerId, Math.min(clock.now(), until) - heldAt) < maxHoldMs) return
    heldFor.forget(playerId)
    options.unused(playerId)
  }

  const expire = (session: Session, occupant: Occupant) => {
    endUnused(session, occupant)
    unused(occupant.playerId)
  }

  const end = (session: Session) => {
    for (const occupant of session.occupants.values()) free(session, occupant)
    sessions.delete(session.serverId)
    different.add(session.serverId)
  }

  /** Somebody is on the server, by its word. @param place takes a place in a team */
  const takeIn = (session: Session, playerId: string, state: 'taken' | 'away', place: () => string) => {
    let occupant = session.occupants.get(playerId)
    if (occupant === undefined) {
      const elsewhere = own.get(playerId)
      // Somebody who was away there is here now.
      if (elsewhere?.occupant.state === 'away' && state === 'taken' && invitations.has(session, playerId))
        free(elsewhere.session, elsewhere.occupant)
      occupant = sit(session, { playerId, team: place(), state, groupId: undefined }, newId(random))
    }
    occupant.state = state
    if (!occupant.isOwn && !occupant.isGivenBack && !own.has(playerId)) {
      occupant.isOwn = true
      own.set(playerId, { session, occupant })
    }
  }

  const take = (session: Session) => {
    const { players } = session.listing
    const mayReturn = (playerId: string) => Object.hasOwn(players, playerId) && players[playerId] === 'away'
    if (session.givenBack.size > 0) session.givenBack = new Set([...session.givenBack].filter(mayReturn))
    for (const occupant of session.occupants.values()) {
      const said = Object.hasOwn(players, occupant.playerId) ? players[occupant.playerId] : 'left'
      if (said !== 'left') continue
      if (occupant.state !== 'held') free(session, occupant)
      else if (clock.now() >= occupant.until + REPORT_WAY_MS) expire(session, occupant)
    }
    // Counted once, however many come.
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
      different.add(session.serverId)
    }
    for (const [playerId, said] of Object.entries(players))
      if (said !== 'left' && !session.givenBack.has(playerId))
        takeIn(session, playerId, said === 'in' ? 'taken' : 'away', place)
  }

  const countsOf = ({ occupants }: Session, left: ReadonlyMap<string, number>): SeatCounts => {
    const counts = { held: 0, taken: 0, away: 0 }
    for (const { state } of occupants.values()) counts[state] += 1
    const rest = sum(left.values())
    return { total: rest + occupants.size, free: rest, ...counts }
  }

  const renewed = (occupant: Occupant) => {
    if (occupant.state === 'held')
      occupant.until = Math.max(occupant.until, Math.min(clock.now() + holdMs, occupant.heldAt + maxHoldMs))
  }

  /** Teams for a party: all in one if there is room; undefined if it does not fit. */
  const teamsFor = (session: Session, size: number, team: string | undefined): readonly string[] | undefined => {
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

  const isJoinable = ({ serverId, listing }: Session, build: string | undefined): boolean => {
    const server = options.server(serverId)
    return (
      server.isOpen && !listing.locked && (build === undefined || server.build === undefined || server.build === build)
    )
  }

  const alternativesTo = (full: Session, size: number, build: string | undefined): readonly string[] => {
    // The fullest first, so that others become full too. Most are ruled out by two numbers.
    const best: Session[] = []
    for (const session of sessions.values()) {
      const { listing, occupants } = session
      if (occupants.size + size > listing.seats || listing.password !== undefined || session === full) continue
      if (best.length === MOST_ALTERNATIVES && occupants.size <= (best.at(-1)?.occupants.size ?? 0)) continue
      if (!isJoinable(session, build) || teamsFor(session, size, undefined) === undefined) continue
      const at = best.findIndex((other) => other.occupants.size < occupants.size)
      best.splice(at === -1 ? best.length : at, 0, session)
      best.length = Math.min(best.length, MOST_ALTERNATIVES)
    }
    return best.map(({ serverId }) => serverId)
  }

  /** @throws {SeatRefused} */
  const assertAdmitted = (session: Session, { playerIds: [playerId = ''], password, build, address }: SeatRequest) => {
    const { serverId, listing } = session
    const server = options.server(serverId)
    if (build !== undefined && server.build !== undefined && server.build !== build)
      throw new SeatRefused('wrong-build', 'The server runs another build of the game.')
    if (!server.isOpen || listing.locked)
      throw new SeatRefused('server-closed', 'The server takes no players now. Choose another one.')
    if (listing.password === undefined) return
    const guess = { serverId, playerId, address }
    const waitMs = tries.waitMs(guess)
    if (waitMs > 0)
      throw new SeatRefused('too-many-tries', 'Too many wrong passwords. Try again later.', { retryAfterMs: waitMs })
    if (tries.isRight(guess, { given: password ?? '', wanted: listing.password })) return
    throw new SeatRefused('wrong-password', 'The password of the server is wrong.')
  }

  return {
    /**
     * Takes what a server lists now, as a level; undefined: it is not listed any more, so nobody has a seat on it.
     * @param instance the process of the server: without an id of its own, the session is the process's.
     * @param isResumed whether it was listed under an earlier process of ours, which has forgotten its seats
     */
    listed: (serverId: string, listing: ListingReport | undefined, instance: string, isResumed = false) => {
      const before = sessions.get(serverId)
      if (listing === undefined) {
        if (before !== undefined) end(before)
        return tell()
      }
      const id = listing.session ?? instance
      if (before !== undefined && before.id !== id) end(before)
      let session = sessions.get(serverId)
      if (session === undefined) {
        const resumedUntil = isResumed && before === undefined ? clock.now() + maxHoldMs : -Infinity
        session = newSession({ serverId, id, listing, resumedUntil })
        sessions.set(serverId, session)
        different.add(serverId)
      }
      session.listing = listing
      session.teams = teamsOf(listing)
      take(session)
      tell()
    },

    /**
     * Holds seats. Players who have one on this server get the same again, renewed. Held seats elsewhere are freed, and
     * so is one to which the player who asks might return; others of a party keep such a seat.
     * @throws {UnknownServer}; {SeatRefused}, and nothing changes
     */
    hold: (request: SeatRequest): { readonly seats: readonly Seat[]; readonly isNew: boolean } => {
      const { serverId, playerIds, team, build, groupId, seatIds, by } = request
      const session = sessions.get(serverId)
      if (session === undefined) throw new UnknownServer('There is no such server, or it is not listed any more.')
      const seated = (playerId: string) => {
        const occupant = session.occupants.get(playerId)
        return occupant?.isOwn === true ? occupant : undefined
      }
      const missing = playerIds.filter((playerId) => seated(playerId) === undefined)
      if (missing.length > 0) {
        assertAdmitted(session, request)
        for (const playerId of missing) {
          const there = own.get(playerId)
          const { state } = there?.occupant ?? {}
          if (there !== undefined && isClaimed(there)) continue
          if (there !== undefined && (state === 'taken' || (state === 'away' && by !== undefined && by !== playerId)))
            throw new SeatRefused(
              'seat-held-elsewhere',
              'The player is on another server. Give that seat back first.',
              {
                playerId,
                seatId: there.occupant.id,
              },
            )
        }
        if (team !== undefined && !session.teams.has(team))
          throw new SeatRefused('no-such-team', 'The server has no such team.')
        // Somebody who is on this server already, without a seat of their own, takes the seat on which they are.
        const coming = missing.filter((playerId) => !session.occupants.has(playerId))
        const teams = teamsFor(session, coming.length, team)
        if (teams === undefined)
          throw new SeatRefused('server-full', 'The server has not enough free seats.', {
            alternatives: alternativesTo(session, playerIds.length, build),
          })
        for (const playerId of missing) {
          const there = own.get(playerId)
          if (there === undefined) continue
          if (there.occupant.state === 'taken') giveBack(there.occupant)
          else if (by === playerId) endUnused(there.session, there.occupant)
          else free(there.session, there.occupant)
        }
        for (const [index, playerId] of coming.entries()) {
          const id = seatIds?.[playerIds.indexOf(playerId)] ?? newId(random)
          sit(session, { playerId, team: teams[index] as string, state: 'held', groupId }, id)
        }
        for (const playerId of missing) {
          const occupant = session.occupants.get(playerId) as Occupant
          occupant.isOwn = true
          occupant.isGiven = true
          occupant.isInvited = true
          occupant.isGivenBack = false
          invitations.given(session, playerId)
          own.set(playerId, { session, occupant })
        }
      }
      const seats = playerIds.map((playerId) => session.occupants.get(playerId) as Occupant)
      for (const occupant of seats) renewed(occupant)
      tell()
      return { seats: seats.map((occupant) => viewOf(session, occupant)), isNew: missing.length > 0 }
    },

    /** The client of a held seat follows it: the hold lasts longer. Undefined if there is no such seat. */
    renew: (seatId: string): Seat | undefined => {
      const place = bySeat.get(seatId)
      if (place?.occupant.isOwn !== true) return undefined
      renewed(place.occupant)
      return viewOf(place.session, place.occupant)
    },
    find: (seatId: string): Seat | undefined => {
      const place = bySeat.get(seatId)
      return place?.occupant.isOwn === true ? viewOf(place.session, place.occupant) : undefined
    },
    /**
     * Gives a seat back. One whose player is on the server counts as theirs no more, and is free once the server says
     * that they are gone. One to which they might return is free at once. Returns false if there is no such seat.
     * @param isOwnWish whether its player gives it back, so that a hold counts as unused
     */
    release: (seatId: string, isOwnWish = false) => {
      const place = bySeat.get(seatId)
      if (place?.occupant.isOwn !== true) return false
      const { session, occupant } = place
      if (occupant.state === 'taken') giveBack(occupant)
      else {
        if (occupant.state === 'away') session.givenBack = new Set([...session.givenBack, occupant.playerId])
        if (isOwnWish) endUnused(session, occupant)
        else free(session, occupant)
      }
      invitations.over(occupant.playerId)
      tell()
      return true
    },
    /** The player is sent to a match: a server where they had a seat does not have them any more. */
    sentElsewhere: (playerId: string) => {
      if (!own.has(playerId) && invitations.knows(playerId)) invitations.over(playerId)
    },
    /** The player gave back what was kept for them. It counts as a hold that they let expire. */
    unused,
    /** Their seat, unless a server says so that we gave them none on. */
    givenTo: (playerId: string): Seat | undefined => {
      const place = own.get(playerId)
      return place === undefined || isClaimed(place) ? undefined : viewOf(place.session, place.occupant)
    },
    ofPlayer: (playerId: string): Seat | undefined => {
      const place = own.get(playerId)
      return place && viewOf(place.session, place.occupant)
    },

    /** The seats of a server, for its orders; undefined if it is not listed. */
    on: (serverId: string): { readonly session: string; readonly seats: readonly Seat[] } | undefined => {
      const session = sessions.get(serverId)
      if (session === undefined) return undefined
      const seats = [...session.occupants.values()].map((occupant) => viewOf(session, occupant))
      return { session: session.id, seats }
    },
    /** Whether somebody has a seat on the server. */
    isOccupied: (serverId: string) => (sessions.get(serverId)?.occupants.size ?? 0) > 0,
    /** Whether somebody has a seat on the server that they asked us for. */
    hasGiven: (serverId: string) => {
      for (const { isGiven } of sessions.get(serverId)?.occupants.values() ?? []) if (isGiven) return true
      return false
    },
    /** Whether somebody is on the server, or comes to it, who has or had a seat by us, not by its word alone. */
    hasInvited: (serverId: string) => {
      const session = sessions.get(serverId)
      if (session === undefined) return false
      for (const occupant of session.occupants.values())
        if (!occupant.isGivenBack && !isClaimed({ session, occupant })) return true
      return false
    },
    isListed: (serverId: string) => sessions.has(serverId),
    /** What the server lists, and its session. */
    listing: (serverId: string): Pick<ListedSession, 'session' | 'listing'> | undefined => {
      const session = sessions.get(serverId)
      return session && { session: session.id, listing: session.listing }
    },
    /** The same with the numbers of seats, which are counted for that. */
    read: (serverId: string): ListedSession | undefined => {
      const session = sessions.get(serverId)
      if (session === undefined) return undefined
      const left = freeIn(session)
      return {
        serverId,
        session: session.id,
        listing: session.listing,
        counts: countsOf(session, left),
        teams: Array.from(session.teams, ([name, total]) => ({ name, total, free: left.get(name) ?? 0 })),
      }
    },
    serverIds: (): Iterable<string> => sessions.keys(),

    /**
     * Frees holds whose time is over, on servers that are silent. Others say themselves who has come: the next report
     * after its time frees a hold, so that no seat is given to two whose server says late that the first has come.
     */
    advance: (now: number) => {
      for (const session of sessions.values()) {
        for (const occupant of session.occupants.values())
          if (occupant.state === 'held' && now >= occupant.until + LOST_AFTER_MS) expire(session, occupant)
      }
      tell()
    },
  }
}
