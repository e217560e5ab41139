import type { Clock } from '@muster/core/clock'
import { unlessAborted } from '@muster/core/internal'
import {
  type DrainReason,
  type HostedMatch,
  isEnrolled,
  type ListingReport,
  type MatchReport,
  type MatchResult,
  NO_REPORTS,
  RegisteredServer,
  type ReportedMatch,
  type SeatsWanted,
  type Server,
  type ServerRegistration,
  type ServerReport,
} from '../records/index.js'
import type { JoinAlgorithm } from './join-tokens.js'
import {
  type MatchRoster,
  type Registered,
  ServerGone,
  ServerNotRegistered,
  type OrdersWait,
  type ServerOrders,
} from './server-orders.js'
import { assertOwnPlayers, assertPossible } from './report-checks.js'
import type { ServerListener, ServerState, ServerView } from './server-overview.js'

/** Milliseconds between two reports of a server, and until a silent server is lost (our choices). */
export const BEAT_MS = 10_000
export const LOST_AFTER_MS = 25_000
/** Milliseconds for which a lost server without a match is kept (our choice). */
const LOST_GRACE_MS = 60_000
/** Number of consecutive reports with `healthy: false` after which a server is drained. */
const UNHEALTHY_REPORTS = 3
/** A longer pause of this process in milliseconds is an outage, during which no server counts as silent. */
export const OWN_PAUSE_MS = 5000

/** Called with the consequences of servers' reports for their matches. */
export interface GameServerListener {
  /** Returns the players of a match by team. Undefined if they are unknown. */
  rosterOf(matchId: string): MatchRoster | undefined
  /** Called when the server reports that players may come. */
  accepted(match: HostedMatch, server: Server): void
  /** Called when the server cannot serve the match, or did not reply in time. */
  refused(match: HostedMatch): void
  /** Called when the server reports that these players of the match have connected. */
  came(match: HostedMatch, playerIds: readonly string[]): void
  left(match: HostedMatch, playerIds: readonly string[]): void
  /** @param leftNow players who have left with the end */
  over(match: HostedMatch, result: MatchResult | undefined, leftNow?: readonly string[]): void
  /**
   * Called when the server wants seats filled: new ones (`isNew`), or those that are not filled yet. Returns true if
   * nothing is left to do. Otherwise the call is repeated with the next report.
   */
  seatsWanted(match: HostedMatch, seats: SeatsWanted, isNew: boolean): boolean
  /**
   * Receives the listing of a server. Undefined: none. Called with each report, and when its process or its state
   * changes.
   */
  listed(server: Server, listing: ListingReport | undefined, instance: string): void
  /** Returns the parts of a server's orders about its seats and the session that it should list. */
  seatsOn(server: Server): Pick<ServerOrders, 'listing' | 'host'>
  /** Returns the server's public listing. Undefined unless it is listed. */
  listingOf(server: Server): ServerView['listing']
  /** Returns the location of the server's pool at which the server is kept. */
  placeOf(server: Server): string | undefined
  /** True if players are or will be on the server, in addition to those of matches. */
  isOccupied(server: Server): boolean
  /** Called when the server has registered. `isNew`: for the first time with this instance. */
  registered(server: Server, registration: ServerRegistration, isNew: boolean): void
  /** Called when a server has reported. @param knock the datagram that it says it has received from Muster */
  heard(server: Server, knock: string | undefined): void
  /** Returns the beginning of the datagram with which Muster tests the server's address. Undefined: none is sent. */
  knockOf(server: Server): string | undefined
  /** The server takes no more matches. */
  draining: ServerListener['draining']
  /** The server has been silent for too long. Its status is read. */
  lost: ServerListener['lost']
  /** A lost server has reported again. */
  returned: ServerListener['returned']
  /** Called when the server serves nothing and is no longer wanted. */
  spent(server: Server, reason: DrainReason): void
  problem(server: Server, error: Error): void
}

interface GameServersOptions {
  readonly clock: Clock
  readonly joinAlgorithm: JoinAlgorithm
  readonly joinKeyOf: (server: Server) => Uint8Array
  readonly on: GameServerListener
}

/** A server that must register again. It registered with an earlier process. */
interface AwaitedServer {
  /** Epoch milliseconds. */
  readonly since: number
  isLost: boolean
}

/** The match statuses with which a server lets players come. */
const ACCEPTED: ReadonlySet<string> = new Set(['open', 'closed'])

/** The game servers that have registered. Each report has the whole state, so the last one counts. */
export class GameServers {
  readonly #options: GameServersOptions
  readonly #on: GameServerListener
  readonly #registered = new Set<Server>()
  /**
   * Servers that have yet to register again and to report. Until then their matches and listings are unknown, so they
   * do not count as empty.
   */
  readonly #expected = new Map<Server, AwaitedServer>()
  #lookedAt: number
  /** No server counts as silent before this time, because this process could not receive its reports. */
  #upSince: number

  constructor(options: GameServersOptions) {
    this.#options = options
    this.#on = options.on
    this.#lookedAt = options.clock.now()
    this.#upSince = this.#lookedAt
  }

  /** Registers a process of a server. A repeated call changes nothing. Another instance replaces the previous one. */
  register(server: Server, registration: ServerRegistration): Registered {
    if (!server.isWanted) throw new ServerGone('This server is no longer needed. End its process.')
    const before = server.presence
    const isNew = before?.registration.instance !== registration.instance
    const presence = before ?? new RegisteredServer(registration, this.#options.clock.now())
    if (before === undefined) {
      server.presence = presence
      this.#registered.add(server)
      if (server.drainAsked) server.draining = 'operator'
    } else if (isNew) this.#replace(server, presence, registration)
    else presence.registration = registration
    this.#heard(server, presence)
    this.#on.registered(server, registration, isNew)
    this.#endIfSpent(server)
    return {
      id: server.credential,
      alg: this.#options.joinAlgorithm,
      key: Buffer.from(this.#options.joinKeyOf(server)).toString('base64url'),
      retireAt: Number.isFinite(server.endsAt) ? server.endsAt : undefined,
      ...this.#ordersOf(server, presence),
    }
  }

  /**
   * Applies a report, which has the whole state of the server. A report that is older than an earlier one changes
   * nothing.
   * @throws {InvalidInput} with the field, and nothing changes; {ServerGone}; {ServerNotRegistered}
   */
  report(server: Server, report: ServerReport): ServerOrders {
    const presence = presenceOf(server)
    assertPossible(report, presence.registration)
    assertOwnPlayers(report, server.matches)
    if (report.instance === presence.registration.instance) {
      this.#heard(server, presence)
      this.#expected.delete(server)
      this.#on.heard(server, report.knock)
      if (report.seq > presence.seq) {
        presence.seq = report.seq
        this.#apply(server, presence, report)
      }
    }
    return this.#ordersFor(server, presence, report.instance)
  }

  /**
   * Resolves with the orders of a server once their version differs from the given one, or the time is over. A later
   * call of the same server ends an earlier one. A replaced process does not wait, and does not end the wait of
   * another. Rejects with the signal's reason.
   */
  async waitForOrders(server: Server, wait: OrdersWait): Promise<ServerOrders> {
    const presence = presenceOf(server)
    const { instance = presence.registration.instance, version, waitMs, signal } = wait
    const isReplaced = instance !== presence.registration.instance
    if (!isReplaced) presence.waiter?.()
    if (!isReplaced && presence.version === version && waitMs > 0) {
      const ending = new AbortController()
      const end = () => ending.abort()
      presence.waiter = end
      await unlessAborted(
        this.#options.clock.sleep(waitMs, ending.signal).catch(() => {}),
        signal,
      ).finally(() => {
        ending.abort()
        if (presence.waiter === end) presence.waiter = undefined
      })
    }
    return this.#ordersFor(server, presence, instance)
  }

  /** Called when the server's orders have changed. A server that waits for them gets them at once. */
  changed(server: Server): void {
    const { presence } = server
    if (presence !== undefined) {
      if (!server.isWanted) this.#on.listed(server, undefined, presence.registration.instance)
      presence.raiseVersion(this.#options.clock.now())
    }
    this.#endIfSpent(server)
  }

  /** From now on the server takes no match. Once it serves none, `spent` is called. */
  drain(server: Server, reason: DrainReason): void {
    const { presence } = server
    if (server.draining === undefined) {
      server.draining = reason
      this.#on.draining(server, reason)
      presence?.raiseVersion(this.#options.clock.now())
    } else if (presence !== undefined) return
    this.#endIfSpent(server)
  }

  /**
   * Called for a server that registered with an earlier process. It must register again, or it is lost like a silent
   * server.
   */
  expect(server: Server): void {
    this.#expected.set(server, { since: this.#options.clock.now(), isLost: false })
  }

  /**
   * True if the server is expected to register again and to report, and is not lost. Its listing is unknown.
   * @param serverId default: any server
   */
  isExpected(serverId?: string): boolean {
    for (const [{ id }, { isLost }] of this.#expected)
      if (!isLost && (serverId === undefined || id === serverId)) return true
    return false
  }

  /** Called when the server is gone. */
  forget(server: Server): void {
    this.#expected.delete(server)
    this.#registered.delete(server)
    const { presence } = server
    if (presence === undefined) return
    server.presence = undefined
    this.#on.listed(server, undefined, presence.registration.instance)
    presence.waiter?.()
  }

  /** Looks for silent servers. */
  advance(now: number): void {
    if (now - this.#lookedAt > OWN_PAUSE_MS) this.#upSince = now
    this.#lookedAt = now
    for (const server of this.#registered) if (server.presence !== undefined) this.#lookAt(server, server.presence, now)
    for (const [server, one] of this.#expected) this.#lookAtExpected(server, one, now)
  }

  /** Returns the servers that have registered. */
  *views(): Iterable<ServerView> {
    for (const server of this.#registered)
      if (server.presence !== undefined) yield this.#viewOf(server, server.presence)
  }

  #ordersOf(server: Server, { version }: RegisteredServer): ServerOrders {
    const { draining, stopReason } = server
    if (!server.isWanted) return { version, want: 'stop', reason: stopReason, matches: [] }
    const matches = server.matches.map((match) => ({
      id: match.id,
      ...(this.#on.rosterOf(match.id) ?? unknownRoster(match)),
    }))
    const want = draining === undefined ? 'run' : 'drain'
    const knock = this.#on.knockOf(server)
    return {
      version,
      want,
      reason: draining,
      matches,
      ...this.#on.seatsOn(server),
      ...(knock !== undefined && { knock }),
    }
  }

  #ordersFor(server: Server, presence: RegisteredServer, instance: string): ServerOrders {
    if (instance === presence.registration.instance) return this.#ordersOf(server, presence)
    // A replaced instance gets the order to drain for as long as a silent server is spared.
    if (this.#options.clock.now() >= (presence.replaced?.get(instance) ?? -Infinity))
      throw new ServerGone('Another process has registered with the token of this server. End this process.')
    return { version: presence.version, want: 'drain', reason: 'replaced', matches: [] }
  }

  #stateOf(server: Server, { lostAt, said }: RegisteredServer, isListed: boolean): ServerState {
    if (!server.isWanted) return 'STOPPING'
    if (lostAt !== undefined) return 'LOST'
    if (server.draining !== undefined) return 'DRAINING'
    // No players are sent to an enrolled server before its address is proved.
    if (isEnrolled(server) && server.phase === 'warming') return 'STARTING'
    const { matches } = server
    if (matches.length === 0) return isListed ? 'PLAYING' : 'IDLE'
    return matches.some(({ id }) => ACCEPTED.has(said.get(id)?.status ?? '')) ? 'PLAYING' : 'TAKEN'
  }

  #viewOf(server: Server, presence: RegisteredServer): ServerView {
    const { registration, registeredAt, seenAt, said } = presence
    const { id, pool, source, requestId, matchesServed, draining } = server
    const listing = this.#on.listingOf(server)
    const inMatches = [...said.values()].reduce((sum, { players }) => sum + inOf(players).length, 0)
    return {
      id,
      state: this.#stateOf(server, presence, listing !== undefined),
      pool,
      place: this.#on.placeOf(server) ?? server.assignment?.location?.city,
      source,
      enrolmentKey: server.enrolled?.key,
      requestId,
      build: registration.build,
      matches: server.matches.map((match) => match.id),
      matchesAtOnce: registration.matches,
      matchesServed,
      playersIn: inMatches + (listing?.seats.taken ?? 0),
      seats: registration.seats,
      listing,
      registeredAt,
      seenAt,
      draining,
    }
  }

  /** True if anyone needs the server. A server that a match has taken need not know the match yet. */
  #isUsed(server: Server): boolean {
    return server.matches.length > 0 || this.#on.isOccupied(server)
  }

  /**
   * Ends a server that takes no match and serves nothing. A server without matches ends even if it has not registered.
   * A server that registered with an earlier process must report first, because only its report shows what it serves.
   */
  #endIfSpent(server: Server): void {
    const { draining, presence } = server
    if (draining === undefined || !server.isWanted || this.#expected.has(server)) return
    if (presence === undefined ? server.guests.size > 0 : this.#isUsed(server)) return
    this.#on.spent(server, draining)
  }

  #heard(server: Server, presence: RegisteredServer): void {
    const now = this.#options.clock.now()
    const isBack = presence.lostAt !== undefined
    const silentMs = now - presence.seenAt
    presence.seenAt = now
    presence.lostAt = undefined
    if (isBack) this.#on.returned(server, silentMs)
  }

  #apply(server: Server, presence: RegisteredServer, report: ServerReport): void {
    if (report.matches.length > 0 || presence.said.size > 0) this.#applyMatches(server, presence, report)
    this.#on.listed(server, server.isWanted ? report.listing : undefined, report.instance)
    presence.unhealthy = report.healthy ? 0 : presence.unhealthy + 1
    if (report.attributes !== undefined)
      presence.registration = { ...presence.registration, attributes: report.attributes }
    if (presence.unhealthy >= UNHEALTHY_REPORTS) this.drain(server, 'unhealthy')
    if (report.draining) this.drain(server, 'own-wish')
    this.#endIfSpent(server)
  }

  #applyMatches(server: Server, presence: RegisteredServer, report: ServerReport): void {
    const { said: before } = presence
    const reported = new Map(report.matches.map((match) => [match.id, match]))
    const said = new Map(before)
    presence.said = said
    for (const match of server.matches) {
      const now = reported.get(match.id)
      if (now !== undefined) {
        const known = { ...now, isUnmet: false }
        said.set(match.id, known)
        known.isUnmet = this.#applyMatch(match, server, now, before.get(match.id))
      }
      // An instance that no longer reports a match has given it up.
      else if (before.has(match.id)) this.#on.over(match, undefined)
    }
    for (const id of before.keys()) if (!reported.has(id)) said.delete(id)
    if (said.size === 0 && presence.said === said) presence.said = NO_REPORTS
  }

  /** @returns true if the server wants seats filled, for which not everything was done yet */
  #applyMatch(match: HostedMatch, server: Server, reported: MatchReport, before: ReportedMatch | undefined): boolean {
    const { players, status, seats } = reported
    if (ACCEPTED.has(status) && !ACCEPTED.has(before?.status ?? '')) this.#on.accepted(match, server)
    const present = new Set(match.playerIds)
    const came = inOf(players).filter((id) => present.has(id) && before?.players[id] !== 'in')
    if (came.length > 0) this.#on.came(match, came)
    // A player who left before has an open seat again. The server reports them as `left` until they connect.
    const hasLeft = (id: string) => Object.hasOwn(players, id) && players[id] === 'left'
    const left = match.playerIds.filter((id) => hasLeft(id) && before?.players[id] !== 'left')
    // A match ends without a result when the last player leaves. In a match that is over, they leave at its end.
    const isEnd = status === 'over' && left.length === match.playerIds.length
    if (left.length > 0 && !isEnd) this.#on.left(match, left)
    const isNew = !isSame(seats, before?.seats)
    const isAsked = seats !== undefined && (isNew || before?.isUnmet === true)
    const isUnmet = isAsked && !this.#on.seatsWanted(match, seats, isNew)
    if (status === 'refused') this.#on.refused(match)
    else if (status === 'over') this.#on.over(match, reported.result, isEnd ? left : undefined)
    return isUnmet
  }

  #replace(server: Server, presence: RegisteredServer, registration: ServerRegistration): void {
    const now = this.#options.clock.now()
    presence.replaceInstance(registration, now, now + LOST_AFTER_MS)
    this.#on.listed(server, undefined, registration.instance)
    presence.raiseVersion(this.#options.clock.now())
    const message = `Server "${server.id}": a second process registered with its token. The first drains.`
    this.#on.problem(server, new Error(message))
  }

  #lookAt(server: Server, presence: RegisteredServer, now: number): void {
    const { lostAt } = presence
    // A server that waits for orders is present.
    if (!server.isWanted || presence.waiter !== undefined) return
    const silentSince = Math.max(presence.seenAt, this.#upSince)
    if (lostAt === undefined) {
      if (now - silentSince < LOST_AFTER_MS) return
      presence.lostAt = now
      this.#on.lost(server, now - presence.seenAt)
    } else if (
      now - Math.max(lostAt, this.#upSince) >= LOST_GRACE_MS &&
      (isEnrolled(server) || !this.#isUsed(server))
    ) {
      server.draining ??= 'silent'
      // For a server that Muster has not started, silence is the only sign of its end. Its matches are then over.
      if (isEnrolled(server)) return this.#on.spent(server, 'silent')
      if (!server.isListed) this.#expected.delete(server)
      this.#endIfSpent(server)
    }
  }

  #lookAtExpected(server: Server, one: AwaitedServer, now: number): void {
    if (!server.isWanted) return void this.#expected.delete(server)
    if (server.presence !== undefined) {
      one.isLost = server.presence.lostAt !== undefined
      return
    }
    const silentMs = now - Math.max(one.since, this.#upSince)
    if (silentMs < LOST_AFTER_MS) return
    if (!one.isLost) this.#on.lost(server, silentMs)
    one.isLost = true
    // Players may be on a listed server. It may be silent for as long as it may be without a restart of Muster.
    if (silentMs < LOST_AFTER_MS + LOST_GRACE_MS) return
    if (!isEnrolled(server) && (server.matches.length > 0 || server.isListed)) return
    this.#on.spent(server, 'silent')
  }
}

/** @throws {ServerGone}; {ServerNotRegistered} */
function presenceOf(server: Server): RegisteredServer {
  const { presence } = server
  if (presence !== undefined) return presence
  if (!server.isWanted) throw new ServerGone('This server is no longer needed. End its process.')
  throw new ServerNotRegistered('This server is not registered. Send POST /servers first.')
}

/** True if a server may get players: it reports, is healthy, and does not drain. */
export const isOpen = (server: Server): boolean => {
  const { presence, draining } = server
  if (presence === undefined || draining !== undefined || !server.isWanted) return false
  return presence.lostAt === undefined && presence.unhealthy === 0
}

/** Returns the number of further matches that a server takes now. Undefined while it gets none, see `isOpen`. */
export const freePlacesOn = (server: Server): number | undefined =>
  server.presence === undefined || !isOpen(server)
    ? undefined
    : Math.max(0, server.presence.registration.matches - server.claims)

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
