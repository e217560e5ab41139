import type { Clock } from '@muster/core/clock'
import { unlessAborted } from '@muster/core/internal'
import { type Allocation, credentialOf, isEnrolled } from '../records/index.js'
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
  accepted(match: Allocation): void
  /** The server cannot serve the match, or did not answer in time. */
  refused(match: Allocation): void
  /** These players of the match have connected. */
  came(match: Allocation, playerIds: readonly string[]): void
  left(match: Allocation, playerIds: readonly string[]): void
  /** @param leftNow players who have left with the end */
  over(match: Allocation, result: MatchResult | undefined, leftNow?: readonly string[]): void
  /**
   * The server wants seats filled: others than before (`isNew`), or those that are not met yet. Returns whether the
   * wish is met for good. One that is not is repeated with the next report.
   */
  seatsWanted(match: Allocation, seats: SeatsWanted, isNew: boolean): boolean
  /** What a server lists; undefined: nothing. Called with each report, and when its process or its fate is another. */
  listed(server: Allocation, listing: ListingReport | undefined, instance: string): void
  /** What a listed server is told of its seats, and of the session that it is to list. */
  seatsOn(server: Allocation): Pick<ServerOrders, 'listing' | 'host'>
  /** Whether it is listed. */
  isListed(server: Allocation): boolean
  /** Whether players are on it, or come to it, beside those of matches. */
  isOccupied(server: Allocation): boolean
  /** The server has registered. `isNew`: this instance of it for the first time. */
  registered(server: Allocation, registration: ServerRegistration, isNew: boolean): void
  /** The server takes no match any more. */
  draining: ServerListener['draining']
  /** The server has been silent for too long: its status is read. */
  lost: ServerListener['lost']
  /** A lost server was heard again. */
  returned: ServerListener['returned']
  /** The server serves nothing and is not wanted any more. */
  spent(server: Allocation, reason: DrainReason): void
  problem(server: Allocation, error: Error): void
}

/** The game servers that have registered. Their states are levels: what they report last is what is so. */
export type GameServers = ReturnType<typeof createGameServers>

export interface GameServersOptions {
  readonly clock: Clock
  readonly joinAlgorithm: JoinAlgorithm
  readonly joinKeyOf: (server: Allocation) => Uint8Array
  /** The matches that a server serves or is to serve. */
  readonly matchesOn: (server: Allocation) => readonly Allocation[]
  /** Their number, with those of which the server may not be told yet. */
  readonly claimsOn: (server: Allocation) => number
  readonly on: GameServerListener
}

type GameServer = ReturnType<typeof newGameServer>

const newGameServer = (
  allocation: Allocation,
  registration: ServerRegistration,
  draining: DrainReason | undefined,
  now: number,
) => ({
  allocation,
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
  const servers = new Map<string, GameServer>()
  /** Servers that have yet to register again and to report, with the epoch milliseconds since when. */
  const expected = new Map<Allocation, { readonly since: number; isLost: boolean }>()
  /** Why servers that have yet to register again take no match from then on. */
  const drainingUnheard = new Map<Allocation, DrainReason>()
  let lookedAt = clock.now()
  /** No server counts as silent before: this process could not hear it. */
  let upSince = clock.now()

  const isWanted = ({ unwanted, phase }: Allocation) => unwanted === undefined && phase !== 'stopping'

  const ordersOf = (server: GameServer): ServerOrders => {
    const { allocation, version, draining } = server
    if (!isWanted(allocation)) return { version, want: 'stop', reason: allocation.unwanted, matches: [] }
    const matches = matchesOn(allocation).map((match) => ({
      id: match.matchId,
      ...(on.rosterOf(match.matchId) ?? unknownRoster(match)),
    }))
    const want = draining === undefined ? 'run' : 'drain'
    return { version, want, reason: draining, matches, ...on.seatsOn(allocation) }
  }

  /** Whether anybody needs the server. */
  const isUsed = (allocation: Allocation) => matchesOn(allocation).length > 0 || on.isOccupied(allocation)

  /** Never the version of other orders, also not of those of a process before. */
  const raise = (server: GameServer) => {
    server.version = Math.max(server.version + 1, Math.floor(clock.now()))
    server.waiter?.()
  }

  const stateOf = ({ allocation, lostAt, draining, matches }: GameServer): ServerState => {
    if (!isWanted(allocation)) return 'STOPPING'
    if (lostAt !== undefined) return 'LOST'
    if (draining !== undefined) return 'DRAINING'
    const served = matchesOn(allocation)
    if (served.length === 0) return on.isListed(allocation) ? 'PLAYING' : 'IDLE'
    return served.some(({ matchId }) => ACCEPTED.has(matches.get(matchId)?.status ?? '')) ? 'PLAYING' : 'TAKEN'
  }

  const viewOf = (server: GameServer): GameServerView => ({
    id: server.allocation.matchId,
    allocation: server.allocation,
    state: stateOf(server),
    registration: server.registration,
    registeredAt: server.registeredAt,
    seenAt: server.seenAt,
    draining: server.draining,
    matches: matchesOn(server.allocation).map(({ matchId }) => matchId),
    playersIn: [...server.matches.values()].reduce((sum, { players }) => sum + inOf(players).length, 0),
  })

  const isOpen = ({ allocation, draining, lostAt, unhealthy }: GameServer) =>
    isWanted(allocation) && draining === undefined && lostAt === undefined && unhealthy === 0

  /** What an earlier process knew of the players on a server is unknown until its first report: that is not nobody. */
  const isUnknown = (allocation: Allocation) => expected.has(allocation)

  const endIfSpent = (server: GameServer) => {
    const { allocation, draining } = server
    if (draining !== undefined && isWanted(allocation) && !isUnknown(allocation) && !isUsed(allocation))
      on.spent(allocation, draining)
  }

  /** A server that serves nothing need not register to be stopped. */
  const endIfUnheard = (allocation: Allocation) => {
    const reason = drainingUnheard.get(allocation)
    if (reason === undefined || !isWanted(allocation) || isUnknown(allocation)) return
    if ((allocation.guests?.size ?? 0) === 0) on.spent(allocation, reason)
  }

  const drain = (server: GameServer, reason: DrainReason) => {
    if (server.draining !== undefined) return
    server.draining = reason
    on.draining(server.allocation, reason)
    raise(server)
    endIfSpent(server)
  }

  const seen = (server: GameServer) => {
    const now = clock.now()
    const isBack = server.lostAt !== undefined
    const silentMs = now - server.seenAt
    server.seenAt = now
    server.lostAt = undefined
    if (isBack) on.returned(server.allocation, silentMs)
  }

  /** @throws {ServerGone}; {ServerNotRegistered} */
  const registered = (allocation: Allocation): GameServer => {
    const server = servers.get(allocation.matchId)
    if (server === undefined) {
      if (!isWanted(allocation)) throw new ServerGone('This server is not wanted any more. End its process.')
      throw new ServerNotRegistered('This server is not registered. Send POST /servers first.')
    }
    return server
  }

  const takeMatch = (server: GameServer, match: Allocation, reported: MatchReport) => {
    const before = server.matches.get(match.matchId)
    const known = { ...reported, isUnmet: false }
    server.matches.set(match.matchId, known)
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

  const take = (server: GameServer, report: ServerReport) => {
    const { allocation } = server
    const reported = new Map(report.matches.map((match) => [match.id, match]))
    for (const match of matchesOn(allocation)) {
      const now = reported.get(match.matchId)
      if (now !== undefined) takeMatch(server, match, now)
      // An instance that has said of a match and says nothing of it any more has given it up.
      else if (server.matches.has(match.matchId)) on.over(match, undefined)
    }
    for (const id of server.matches.keys()) if (!reported.has(id)) server.matches.delete(id)
    on.listed(allocation, isWanted(allocation) ? report.listing : undefined, report.instance)
    server.unhealthy = report.healthy ? 0 : server.unhealthy + 1
    if (report.attributes !== undefined) server.registration = { ...server.registration, attributes: report.attributes }
    if (server.unhealthy >= UNHEALTHY_REPORTS) drain(server, 'unhealthy')
    if (report.draining) drain(server, 'own-wish')
    endIfSpent(server)
  }

  /** An instance that was replaced is told to drain for as long as a silent one is spared, then that it is gone. */
  const ordersOfReplaced = (server: GameServer, instance: string): ServerOrders => {
    const until = server.replaced.get(instance) ?? -Infinity
    if (clock.now() >= until)
      throw new ServerGone('Another process has registered with the token of this server. End this process.')
    return { version: server.version, want: 'drain', reason: 'replaced', matches: [] }
  }

  const ordersFor = (server: GameServer, instance: string): ServerOrders =>
    instance === server.registration.instance ? ordersOf(server) : ordersOfReplaced(server, instance)

  const replace = (server: GameServer, registration: ServerRegistration) => {
    const now = clock.now()
    const { replaced } = server
    for (const [instance, until] of replaced) if (now >= until) replaced.delete(instance)
    replaced.set(server.registration.instance, now + LOST_AFTER_MS)
    replaced.delete(registration.instance)
    server.registration = registration
    server.registeredAt = now
    server.seq = -1
    server.matches.clear()
    on.listed(server.allocation, undefined, registration.instance)
    raise(server)
    const { allocation } = server
    const message = `Server "${allocation.matchId}": a second process registered with its token. The first drains.`
    on.problem(allocation, new Error(message))
  }

  const lookAt = (server: GameServer, now: number) => {
    const { allocation, lostAt } = server
    // One that waits for orders is there.
    if (!isWanted(allocation) || server.waiter !== undefined) return
    const silentSince = Math.max(server.seenAt, upSince)
    if (lostAt === undefined) {
      if (now - silentSince < LOST_AFTER_MS) return
      server.lostAt = now
      on.lost(allocation, now - server.seenAt)
    } else if (now - Math.max(lostAt, upSince) >= LOST_GRACE_MS && (isEnrolled(allocation) || !isUsed(allocation))) {
      server.draining ??= 'silent'
      // Nothing but its silence tells the end of one that Muster has not started: its matches are over.
      if (isEnrolled(allocation)) return on.spent(allocation, 'silent')
      if (!allocation.isListed) expected.delete(allocation)
      endIfSpent(server)
    }
  }

  const lookAtExpected = (allocation: Allocation, one: { readonly since: number; isLost: boolean }, now: number) => {
    if (!isWanted(allocation)) return void expected.delete(allocation)
    const server = servers.get(allocation.matchId)
    if (server !== undefined) {
      one.isLost = server.lostAt !== undefined
      return
    }
    const silentMs = now - Math.max(one.since, upSince)
    if (silentMs < LOST_AFTER_MS) return
    if (!one.isLost) on.lost(allocation, silentMs)
    one.isLost = true
    // Players may be on one that was listed, and it is silent for as long as it may be without a restart.
    if (silentMs < LOST_AFTER_MS + LOST_GRACE_MS) return
    if (!isEnrolled(allocation) && (matchesOn(allocation).length > 0 || allocation.isListed)) return
    on.spent(allocation, 'silent')
  }

  return {
    /**
     * Registers the server of an allocation. The same again changes nothing. Another instance replaces the one before.
     * @throws {ServerGone}
     */
    register: (allocation: Allocation, registration: ServerRegistration): Registered => {
      if (!isWanted(allocation)) throw new ServerGone('This server is not wanted any more. End its process.')
      let server = servers.get(allocation.matchId)
      const isNew = server?.registration.instance !== registration.instance
      if (server === undefined) {
        const draining = allocation.drainAsked ? 'operator' : drainingUnheard.get(allocation)
        server = newGameServer(allocation, registration, draining, clock.now())
        servers.set(allocation.matchId, server)
      } else if (isNew) replace(server, registration)
      else server.registration = registration
      drainingUnheard.delete(allocation)
      seen(server)
      on.registered(allocation, registration, isNew)
      endIfSpent(server)
      return {
        id: credentialOf(allocation.tag),
        alg: joinAlgorithm,
        key: Buffer.from(joinKeyOf(allocation)).toString('base64url'),
        retireAt: Number.isFinite(allocation.endsAt) ? allocation.endsAt : undefined,
        ...ordersOf(server),
      }
    },

    /**
     * Takes the whole state of a server. A report that is older than one before changes nothing.
     * @throws {InvalidInput} naming the field, and nothing changes; {ServerGone}; {ServerNotRegistered}
     */
    report: (allocation: Allocation, report: ServerReport): ServerOrders => {
      const server = registered(allocation)
      assertPossible(report, server.registration)
      assertOwnPlayers(report, matchesOn(allocation))
      if (report.instance === server.registration.instance) {
        seen(server)
        expected.delete(allocation)
        if (report.seq > server.seq) {
          server.seq = report.seq
          take(server, report)
        }
      }
      return ordersFor(server, report.instance)
    },

    /**
     * Resolves with the orders of a server once their version differs from the given one, or the time is over. A later
     * call of the same server ends an earlier one. A process that was replaced does not wait, and ends no other's wait.
     * Rejects with the signal's reason.
     */
    waitForOrders: async (
      allocation: Allocation,
      { instance: given, version, waitMs, signal }: OrdersWait,
    ): Promise<ServerOrders> => {
      const server = registered(allocation)
      const instance = given ?? server.registration.instance
      const isReplaced = instance !== server.registration.instance
      if (!isReplaced) server.waiter?.()
      if (!isReplaced && server.version === version && waitMs > 0) {
        const ending = new AbortController()
        const end = () => ending.abort()
        server.waiter = end
        await unlessAborted(
          clock.sleep(waitMs, ending.signal).catch(() => {}),
          signal,
        ).finally(() => {
          ending.abort()
          if (server.waiter === end) server.waiter = undefined
        })
      }
      return ordersFor(server, instance)
    },

    /** Ids of the matches that the server said it has. */
    reportedOn: ({ matchId }: Allocation): readonly string[] => [...(servers.get(matchId)?.matches.keys() ?? [])],
    /** Something has changed that the server's orders say: it is told at once if it waits. */
    changed: (allocation: Allocation) => {
      const server = servers.get(allocation.matchId)
      if (server === undefined) return endIfUnheard(allocation)
      if (!isWanted(allocation)) on.listed(allocation, undefined, server.registration.instance)
      raise(server)
      endIfSpent(server)
    },
    /** From now on the server takes no match; once it serves none, `spent` is called. */
    drain: (allocation: Allocation, reason: DrainReason) => {
      const server = servers.get(allocation.matchId)
      if (server !== undefined) return drain(server, reason)
      if (!drainingUnheard.has(allocation)) {
        drainingUnheard.set(allocation, reason)
        on.draining(allocation, reason)
      }
      endIfUnheard(allocation)
    },
    /** It registered with an earlier process, and is to do so again; otherwise it is lost as a silent one is. */
    expect: (allocation: Allocation) => void expected.set(allocation, { since: clock.now(), isLost: false }),
    /**
     * Whether the server is expected to register again and to report, and is not lost: nobody knows what it lists.
     * @param serverId default: any
     */
    isExpected: (serverId?: string) => {
      for (const [{ matchId }, { isLost }] of expected)
        if (!isLost && (serverId === undefined || matchId === serverId)) return true
      return false
    },
    /** The allocation of the server is gone. */
    forget: (allocation: Allocation) => {
      expected.delete(allocation)
      drainingUnheard.delete(allocation)
      const server = servers.get(allocation.matchId)
      if (server?.allocation !== allocation) return
      servers.delete(allocation.matchId)
      on.listed(allocation, undefined, server.registration.instance)
      server.waiter?.()
    },

    /** Looks for servers that are silent. */
    advance: (now: number) => {
      if (now - lookedAt > OWN_PAUSE_MS) upSince = now
      lookedAt = now
      for (const server of servers.values()) lookAt(server, now)
      for (const [allocation, one] of expected) lookAtExpected(allocation, one, now)
    },
    find: (serverId: string): GameServerView | undefined => {
      const server = servers.get(serverId)
      return server && viewOf(server)
    },
    /** Further matches that the server takes now; undefined while it gets none: see `isOpen`. */
    freePlaces: (allocation: Allocation) => {
      const server = servers.get(allocation.matchId)
      if (server === undefined || !isOpen(server)) return undefined
      return Math.max(0, server.registration.matches - claimsOn(allocation))
    },
    /** Whether it may get players: it is heard, healthy, and not to drain. */
    isOpen: (allocation: Allocation) => {
      const server = servers.get(allocation.matchId)
      return server !== undefined && isOpen(server)
    },
    *all(): Iterable<GameServerView> {
      for (const server of servers.values()) yield viewOf(server)
    },
  }
}

const inOf = (players: MatchReport['players']): string[] =>
  Object.entries(players).flatMap(([id, status]) => (status === 'in' ? [id] : []))

const isSame = (one: SeatsWanted | undefined, other: SeatsWanted | undefined) =>
  JSON.stringify(one) === JSON.stringify(other)

const unknownRoster = ({ queue, playerIds }: Allocation): MatchRoster => ({
  queue,
  teams: [{ name: '', players: playerIds.map((id) => ({ id, ticketId: '' })) }],
  equality: {},
  intersection: {},
})
