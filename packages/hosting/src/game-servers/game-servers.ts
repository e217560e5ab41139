import type { Clock } from '@muster/core/clock'
import { unlessAborted } from '@muster/core/internal'
import { type HostedMatch, isEnrolled, type Server } from '../records/index.js'
import type { JoinAlgorithm } from './join-tokens.js'
import {
  type MatchRoster,
  type Registered,
  ServerGone,
  ServerNotRegistered,
  type OrdersWait,
  type ServerOrders,
} from './server-orders.js'
import {
  assertOwnPlayers,
  assertPossible,
  type ListingReport,
  type MatchReport,
  type MatchResult,
  type SeatsWanted,
  type ServerRegistration,
  type ServerReport,
} from './server-reports.js'
import type { DrainReason, GameServerView, ServerListener, ServerState } from './server-overview.js'

/** Milliseconds between two reports of a server, and after which a silent one is lost (our choices). */
export const BEAT_MS = 10_000
export const LOST_AFTER_MS = 25_000
/** Milliseconds for which a lost server without a match is kept (our choice). */
const LOST_GRACE_MS = 60_000
/** Reports in a row that say `healthy: false`, after which a server is drained. */
const UNHEALTHY_REPORTS = 3
/** A pause of our own work of more milliseconds than this is an outage: no server was silent then. */
export const OWN_PAUSE_MS = 5000

/** What becomes of a server's matches; called with what its reports say. */
export interface GameServerListener {
  /** Undefined if the players of the match are not known. */
  rosterOf(matchId: string): MatchRoster | undefined
  /** The server says that players may come. */
  accepted(match: HostedMatch): void
  /** The server cannot serve the match, or did not answer in time. */
  refused(match: HostedMatch): void
  /** These players of the match have connected. */
  came(match: HostedMatch, playerIds: readonly string[]): void
  left(match: HostedMatch, playerIds: readonly string[]): void
  /** @param leftNow players who have left with the end */
  over(match: HostedMatch, result: MatchResult | undefined, leftNow?: readonly string[]): void
  /**
   * The server wants seats filled: others than before (`isNew`), or those that are not met yet. Returns whether the
   * wish is met for good. One that is not is repeated with the next report.
   */
  seatsWanted(match: HostedMatch, seats: SeatsWanted, isNew: boolean): boolean
  /** What a server lists; undefined: nothing. Called with each report, and when its process or its fate is another. */
  listed(server: Server, listing: ListingReport | undefined, instance: string): void
  /** What a listed server is told of its seats, and of the session that it is to list. */
  seatsOn(server: Server): Pick<ServerOrders, 'listing' | 'host'>
  /** Whether it is listed. */
  isListed(server: Server): boolean
  /** Whether players are on it, or come to it, beside those of matches. */
  isOccupied(server: Server): boolean
  /** The server has registered. `isNew`: this instance of it for the first time. */
  registered(server: Server, registration: ServerRegistration, isNew: boolean): void
  /** A server was heard. @param knock the datagram by which Muster knocked at it, as it says */
  heard(server: Server, knock: string | undefined): void
  /** How the datagram begins by which Muster knocks at the server; undefined: by none. */
  knockOf(server: Server): string | undefined
  /** The server takes no match any more. */
  draining: ServerListener['draining']
  /** The server has been silent for too long: its status is read. */
  lost: ServerListener['lost']
  /** A lost server was heard again. */
  returned: ServerListener['returned']
  /** The server serves nothing and is not wanted any more. */
  spent(server: Server, reason: DrainReason): void
  problem(server: Server, error: Error): void
}

/** The game servers that have registered. Their states are levels: what they report last is what is so. */
export type GameServers = ReturnType<typeof createGameServers>

export interface GameServersOptions {
  readonly clock: Clock
  readonly joinAlgorithm: JoinAlgorithm
  readonly joinKeyOf: (server: Server) => Uint8Array
  /** The matches that a server serves or is to serve. */
  readonly matchesOn: (server: Server) => readonly HostedMatch[]
  /** Their number, with those of which the server may not be told yet. */
  readonly claimsOn: (server: Server) => number
  readonly on: GameServerListener
}

/** What is heard of a server that has registered. It is not stored. */
type Presence = ReturnType<typeof newPresence>

const newPresence = (
  server: Server,
  registration: ServerRegistration,
  draining: DrainReason | undefined,
  now: number,
) => ({
  server,
  registration,
  /** Earlier instances, with the epoch milliseconds until which they are told to drain. */
  replaced: new Map<string, number>(),
  seq: -1,
  version: Math.floor(now),
  registeredAt: now,
  seenAt: now,
  lostAt: undefined as number | undefined,
  unhealthy: 0,
  draining,
  /** What its instance has said of each match, and whether what it wants of seats is not met for good. */
  matches: new Map<string, MatchReport & { isUnmet: boolean }>(),
  /** Ends the long poll that waits. */
  waiter: undefined as (() => void) | undefined,
})

const ACCEPTED: ReadonlySet<string> = new Set(['open', 'closed'])

export function createGameServers(options: GameServersOptions) {
  const { clock, joinAlgorithm, joinKeyOf, matchesOn, claimsOn, on } = options
  const servers = new Map<string, Presence>()
  /** Servers that have yet to register again and to report, with the epoch milliseconds since when. */
  const expected = new Map<Server, { readonly since: number; isLost: boolean }>()
  /** Why servers that have yet to register again take no match from then on. */
  const drainingUnheard = new Map<Server, DrainReason>()
  let lookedAt = clock.now()
  /** No server counts as silent before: this process could not hear it. */
  let upSince = clock.now()

  const isWanted = ({ unwanted, phase }: Server) => unwanted === undefined && phase !== 'stopping'

  const ordersOf = (presence: Presence): ServerOrders => {
    const { server, version, draining } = presence
    if (!isWanted(server)) return { version, want: 'stop', reason: server.unwanted, matches: [] }
    const matches = matchesOn(server).map((match) => ({
      id: match.id,
      ...(on.rosterOf(match.id) ?? unknownRoster(match)),
    }))
    const want = draining === undefined ? 'run' : 'drain'
    const knock = on.knockOf(server)
    return { version, want, reason: draining, matches, ...on.seatsOn(server), ...(knock !== undefined && { knock }) }
  }

  /** Whether anybody needs the server. */
  const isUsed = (server: Server) => matchesOn(server).length > 0 || on.isOccupied(server)

  /** Never the version of other orders, also not of those of a process before. */
  const raise = (presence: Presence) => {
    presence.version = Math.max(presence.version + 1, Math.floor(clock.now()))
    presence.waiter?.()
  }

  const stateOf = ({ server, lostAt, draining, matches }: Presence): ServerState => {
    if (!isWanted(server)) return 'STOPPING'
    if (lostAt !== undefined) return 'LOST'
    if (draining !== undefined) return 'DRAINING'
    // Nobody is sent to it before its address is proved.
    if (isEnrolled(server) && server.phase === 'warming') return 'STARTING'
    const served = matchesOn(server)
    if (served.length === 0) return on.isListed(server) ? 'PLAYING' : 'IDLE'
    return served.some(({ id }) => ACCEPTED.has(matches.get(id)?.status ?? '')) ? 'PLAYING' : 'TAKEN'
  }

  const viewOf = (presence: Presence): GameServerView => ({
    id: presence.server.id,
    server: presence.server,
    state: stateOf(presence),
    registration: presence.registration,
    registeredAt: presence.registeredAt,
    seenAt: presence.seenAt,
    draining: presence.draining,
    matches: matchesOn(presence.server).map(({ id }) => id),
    playersIn: [...presence.matches.values()].reduce((sum, { players }) => sum + inOf(players).length, 0),
  })

  const isOpen = ({ server, draining, lostAt, unhealthy }: Presence) =>
    isWanted(server) && draining === undefined && lostAt === undefined && unhealthy === 0

  /** What an earlier process knew of the players on a server is unknown until its first report: that is not nobody. */
  const isUnknown = (server: Server) => expected.has(server)

  const endIfSpent = (presence: Presence) => {
    const { server, draining } = presence
    if (draining !== undefined && isWanted(server) && !isUnknown(server) && !isUsed(server)) on.spent(server, draining)
  }

  /** A server that serves nothing need not register to be stopped. */
  const endIfUnheard = (server: Server) => {
    const reason = drainingUnheard.get(server)
    if (reason === undefined || !isWanted(server) || isUnknown(server)) return
    if (server.guests.size === 0) on.spent(server, reason)
  }

  const drain = (presence: Presence, reason: DrainReason) => {
    if (presence.draining !== undefined) return
    presence.draining = reason
    on.draining(presence.server, reason)
    raise(presence)
    endIfSpent(presence)
  }

  const seen = (presence: Presence) => {
    const now = clock.now()
    const isBack = presence.lostAt !== undefined
    const silentMs = now - presence.seenAt
    presence.seenAt = now
    presence.lostAt = undefined
    if (isBack) on.returned(presence.server, silentMs)
  }

  /** @throws {ServerGone}; {ServerNotRegistered} */
  const registered = (server: Server): Presence => {
    const presence = servers.get(server.id)
    if (presence === undefined) {
      if (!isWanted(server)) throw new ServerGone('This server is not wanted any more. End its process.')
      throw new ServerNotRegistered('This server is not registered. Send POST /servers first.')
    }
    return presence
  }

  const takeMatch = (presence: Presence, match: HostedMatch, reported: MatchReport) => {
    const before = presence.matches.get(match.id)
    const known = { ...reported, isUnmet: false }
    presence.matches.set(match.id, known)
    const { players, status, seats } = reported
    if (ACCEPTED.has(status) && !ACCEPTED.has(before?.status ?? '')) on.accepted(match)
    const present = new Set(match.playerIds)
    const came = inOf(players).filter((id) => present.has(id) && before?.players[id] !== 'in')
    if (came.length > 0) on.came(match, came)
    // Who had left before has come back to an open seat: of that the server says nothing until they connect.
    const hasLeft = (id: string) => Object.hasOwn(players, id) && players[id] === 'left'
    const left = match.playerIds.filter((id) => hasLeft(id) && before?.players[id] !== 'left')
    // With the last player a match ends without a result, so of one that is over they leave at its end.
    const isEnd = status === 'over' && left.length === match.playerIds.length
    if (left.length > 0 && !isEnd) on.left(match, left)
    const isNew = !isSame(seats, before?.seats)
    if (seats !== undefined && (isNew || before?.isUnmet === true)) known.isUnmet = !on.seatsWanted(match, seats, isNew)
    if (status === 'refused') on.refused(match)
    else if (status === 'over') on.over(match, reported.result, isEnd ? left : undefined)
  }

  const take = (presence: Presence, report: ServerReport) => {
    const { server } = presence
    const reported = new Map(report.matches.map((match) => [match.id, match]))
    for (const match of matchesOn(server)) {
      const now = reported.get(match.id)
      if (now !== undefined) takeMatch(presence, match, now)
      // An instance that has said of a match and says nothing of it any more has given it up.
      else if (presence.matches.has(match.id)) on.over(match, undefined)
    }
    for (const id of presence.matches.keys()) if (!reported.has(id)) presence.matches.delete(id)
    on.listed(server, isWanted(server) ? report.listing : undefined, report.instance)
    presence.unhealthy = report.healthy ? 0 : presence.unhealthy + 1
    if (report.attributes !== undefined)
      presence.registration = { ...presence.registration, attributes: report.attributes }
    if (presence.unhealthy >= UNHEALTHY_REPORTS) drain(presence, 'unhealthy')
    if (report.draining) drain(presence, 'own-wish')
    endIfSpent(presence)
  }

  /** An instance that was replaced is told to drain for as long as a silent one is spared, then that it is gone. */
  const ordersOfReplaced = (presence: Presence, instance: string): ServerOrders => {
    const until = presence.replaced.get(instance) ?? -Infinity
    if (clock.now() >= until)
      throw new ServerGone('Another process has registered with the token of this server. End this process.')
    return { version: presence.version, want: 'drain', reason: 'replaced', matches: [] }
  }

  const ordersFor = (presence: Presence, instance: string): ServerOrders =>
    instance === presence.registration.instance ? ordersOf(presence) : ordersOfReplaced(presence, instance)

  const replace = (presence: Presence, registration: ServerRegistration) => {
    const now = clock.now()
    const { replaced } = presence
    for (const [instance, until] of replaced) if (now >= until) replaced.delete(instance)
    replaced.set(presence.registration.instance, now + LOST_AFTER_MS)
    replaced.delete(registration.instance)
    presence.registration = registration
    presence.registeredAt = now
    presence.seq = -1
    presence.matches.clear()
    on.listed(presence.server, undefined, registration.instance)
    raise(presence)
    const { server } = presence
    const message = `Server "${server.id}": a second process registered with its token. The first drains.`
    on.problem(server, new Error(message))
  }

  const lookAt = (presence: Presence, now: number) => {
    const { server, lostAt } = presence
    // One that waits for orders is there.
    if (!isWanted(server) || presence.waiter !== undefined) return
    const silentSince = Math.max(presence.seenAt, upSince)
    if (lostAt === undefined) {
      if (now - silentSince < LOST_AFTER_MS) return
      presence.lostAt = now
      on.lost(server, now - presence.seenAt)
    } else if (now - Math.max(lostAt, upSince) >= LOST_GRACE_MS && (isEnrolled(server) || !isUsed(server))) {
      presence.draining ??= 'silent'
      // Nothing but its silence tells the end of one that Muster has not started: its matches are over.
      if (isEnrolled(server)) return on.spent(server, 'silent')
      if (!server.isListed) expected.delete(server)
      endIfSpent(presence)
    }
  }

  const lookAtExpected = (server: Server, one: { readonly since: number; isLost: boolean }, now: number) => {
    if (!isWanted(server)) return void expected.delete(server)
    const presence = servers.get(server.id)
    if (presence !== undefined) {
      one.isLost = presence.lostAt !== undefined
      return
    }
    const silentMs = now - Math.max(one.since, upSince)
    if (silentMs < LOST_AFTER_MS) return
    if (!one.isLost) on.lost(server, silentMs)
    one.isLost = true
    // Players may be on one that was listed, and it is silent for as long as it may be without a restart.
    if (silentMs < LOST_AFTER_MS + LOST_GRACE_MS) return
    if (!isEnrolled(server) && (matchesOn(server).length > 0 || server.isListed)) return
    on.spent(server, 'silent')
  }

  return {
    /**
     * Registers a process of a server. The same again changes nothing. Another instance replaces the one before.
     * @throws {ServerGone}
     */
    register: (server: Server, registration: ServerRegistration): Registered => {
      if (!isWanted(server)) throw new ServerGone('This server is not wanted any more. End its process.')
      let presence = servers.get(server.id)
      const isNew = presence?.registration.instance !== registration.instance
      if (presence === undefined) {
        const draining = server.drainAsked ? 'operator' : drainingUnheard.get(server)
        presence = newPresence(server, registration, draining, clock.now())
        servers.set(server.id, presence)
      } else if (isNew) replace(presence, registration)
      else presence.registration = registration
      drainingUnheard.delete(server)
      seen(presence)
      on.registered(server, registration, isNew)
      endIfSpent(presence)
      return {
        id: server.credential,
        alg: joinAlgorithm,
        key: Buffer.from(joinKeyOf(server)).toString('base64url'),
        retireAt: Number.isFinite(server.endsAt) ? server.endsAt : undefined,
        ...ordersOf(presence),
      }
    },

    /**
     * Takes the whole state of a server. A report that is older than one before changes nothing.
     * @throws {InvalidInput} naming the field, and nothing changes; {ServerGone}; {ServerNotRegistered}
     */
    report: (server: Server, report: ServerReport): ServerOrders => {
      const presence = registered(server)
      assertPossible(report, presence.registration)
      assertOwnPlayers(report, matchesOn(server))
      if (report.instance === presence.registration.instance) {
        seen(presence)
        expected.delete(server)
        on.heard(server, report.knock)
        if (report.seq > presence.seq) {
          presence.seq = report.seq
          take(presence, report)
        }
      }
      return ordersFor(presence, report.instance)
    },

    /**
     * Resolves with the orders of a server once their version differs from the given one, or the time is over. A later
     * call of the same server ends an earlier one. A process that was replaced does not wait, and ends no other's wait.
     * Rejects with the signal's reason.
     */
    waitForOrders: async (
      server: Server,
      { instance: given, version, waitMs, signal }: OrdersWait,
    ): Promise<ServerOrders> => {
      const presence = registered(server)
      const instance = given ?? presence.registration.instance
      const isReplaced = instance !== presence.registration.instance
      if (!isReplaced) presence.waiter?.()
      if (!isReplaced && presence.version === version && waitMs > 0) {
        const ending = new AbortController()
        const end = () => ending.abort()
        presence.waiter = end
        await unlessAborted(
          clock.sleep(waitMs, ending.signal).catch(() => {}),
          signal,
        ).finally(() => {
          ending.abort()
          if (presence.waiter === end) presence.waiter = undefined
        })
      }
      return ordersFor(presence, instance)
    },

    /** Ids of the matches that the server said it has. */
    reportedOn: ({ id }: Server): readonly string[] => [...(servers.get(id)?.matches.keys() ?? [])],
    /** Something has changed that the server's orders say: it is told at once if it waits. */
    changed: (server: Server) => {
      const presence = servers.get(server.id)
      if (presence === undefined) return endIfUnheard(server)
      if (!isWanted(server)) on.listed(server, undefined, presence.registration.instance)
      raise(presence)
      endIfSpent(presence)
    },
    /** From now on the server takes no match; once it serves none, `spent` is called. */
    drain: (server: Server, reason: DrainReason) => {
      const presence = servers.get(server.id)
      if (presence !== undefined) return drain(presence, reason)
      if (!drainingUnheard.has(server)) {
        drainingUnheard.set(server, reason)
        on.draining(server, reason)
      }
      endIfUnheard(server)
    },
    /** It registered with an earlier process, and is to do so again; otherwise it is lost as a silent one is. */
    expect: (server: Server) => void expected.set(server, { since: clock.now(), isLost: false }),
    /**
     * Whether the server is expected to register again and to report, and is not lost: nobody knows what it lists.
     * @param serverId default: any
     */
    isExpected: (serverId?: string) => {
      for (const [{ id }, { isLost }] of expected)
        if (!isLost && (serverId === undefined || id === serverId)) return true
      return false
    },
    /** The server is gone. */
    forget: (server: Server) => {
      expected.delete(server)
      drainingUnheard.delete(server)
      const presence = servers.get(server.id)
      if (presence?.server !== server) return
      servers.delete(server.id)
      on.listed(server, undefined, presence.registration.instance)
      presence.waiter?.()
    },

    /** Looks for servers that are silent. */
    advance: (now: number) => {
      if (now - lookedAt > OWN_PAUSE_MS) upSince = now
      lookedAt = now
      for (const presence of servers.values()) lookAt(presence, now)
      for (const [server, one] of expected) lookAtExpected(server, one, now)
    },
    find: (serverId: string): GameServerView | undefined => {
      const presence = servers.get(serverId)
      return presence && viewOf(presence)
    },
    /** Further matches that the server takes now; undefined while it gets none: see `isOpen`. */
    freePlaces: (server: Server) => {
      const presence = servers.get(server.id)
      if (presence === undefined || !isOpen(presence)) return undefined
      return Math.max(0, presence.registration.matches - claimsOn(server))
    },
    /** Whether it may get players: it is heard, healthy, and not to drain. */
    isOpen: (server: Server) => {
      const presence = servers.get(server.id)
      return presence !== undefined && isOpen(presence)
    },
    *all(): Iterable<GameServerView> {
      for (const presence of servers.values()) yield viewOf(presence)
    },
  }
}

const inOf = (players: MatchReport['players']): string[] =>
  Object.entries(players).flatMap(([id, status]) => (status === 'in' ? [id] : []))

const isSame = (one: SeatsWanted | undefined, other: SeatsWanted | undefined) =>
  JSON.stringify(one) === JSON.stringify(other)

const unknownRoster = ({ queue, playerIds }: HostedMatch): MatchRoster => ({
  queue,
  teams: [{ name: '', players: playerIds.map((id) => ({ id, ticketId: '' })) }],
  equality: {},
  intersection: {},
})
