import type { Clock } from '@muster/core/clock'
import { unlessAborted } from '@muster/core/internal'
import {
  type DrainReason,
  type HostedMatch,
  isEnrolled,
  type ListingReport,
  MOST_IN_ALL,
  MOST_PLAYERS,
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

/** Milliseconds between two reports of a server, and after which a silent server is lost (our choices). */
export const BEAT_MS = 10_000
export const LOST_AFTER_MS = 25_000
/** Milliseconds since its last report for which a server surely lives: a report later than the next one is due. */
const LIVES_MS = BEAT_MS + 2000
/** Milliseconds for which a lost server without a match is kept after its loss (our choice). */
const LOST_GRACE_MS = 60_000
/** Number of consecutive reports with `healthy: false` after which a server is drained. */
const UNHEALTHY_REPORTS = 3
/** Ends the wait for orders. The error is shared, because creating an `AbortError` takes longer than the rest. */
const WAIT_OVER = new Error('the wait for orders is over')

/** Called with the effects of servers' reports. */
export interface GameServerListener {
  /** Returns the teams and players of a match, for its server. Undefined if unknown. */
  rosterOf(matchId: string): MatchRoster | undefined
  /** Called when a server reports that a match's players may come. */
  accepted(match: HostedMatch, server: Server): void
  /** Called with each report of a server that it prepares a match. */
  loads(match: HostedMatch): void
  /** Called when a server reports that it cannot serve a match. */
  refused(match: HostedMatch): void
  /** Called when a server reports that these players of a match have connected. */
  came(match: HostedMatch, playerIds: readonly string[]): void
  left(match: HostedMatch, playerIds: readonly string[]): void
  /**
   * Called when a server reports that a match is over, or no longer reports it. @param leftNow players whom the same
   * report shows as gone for the first time
   */
  over(match: HostedMatch, result: MatchResult | undefined, leftNow?: readonly string[]): void
  /**
   * Called when a match needs more players. `isNew` is false if an earlier call about the same seats is repeated.
   * Returns true once the call has succeeded. Otherwise it is repeated with the next report.
   */
  seatsWanted(match: HostedMatch, seats: SeatsWanted, isNew: boolean): boolean
  /**
   * Called with a server's listing after each report, and when its process or state changes. Undefined if not listed.
   */
  listed(server: Server, listing: ListingReport | undefined, instance: string): void
  /** Returns the parts of a server's orders about its seats and about the session that it should list. */
  seatsOn(server: Server): Pick<ServerOrders, 'listing' | 'host'>
  /** Returns the name and the seats of a listed server. Undefined if the server is not listed. */
  listingOf(server: Server): ServerView['listing']
  /** Returns the name of a server's location in its pool. Undefined if it has none. */
  placeOf(server: Server): string | undefined
  /** True if players are on the server or expected there, besides those of its matches. */
  isOccupied(server: Server): boolean
  /** Called when a server has registered. @param isNew false if the same instance has registered again */
  registered(server: Server, registration: ServerRegistration, isNew: boolean): void
  /** Called when a server has reported. @param knock the datagram that the server says it has received from Muster */
  heard(server: Server, knock: string | undefined): void
  /** Returns the beginning of the datagram that tests the server's address. Undefined if no datagram is sent. */
  knockOf(server: Server): string | undefined
  /** Called when a server gets no further matches. */
  draining: ServerListener['draining']
  /** Called when a server has been silent for 25 s, even since a restart of Muster. Its status should be read. */
  lost: ServerListener['lost']
  /** Called when a lost server has reported again. */
  returned: ServerListener['returned']
  /** Called when a draining server has no matches and players left, or when a silent server is given up. */
  spent(server: Server, reason: DrainReason): void
  problem(server: Server, error: Error): void
}

interface GameServersOptions {
  readonly clock: Clock
  readonly joinAlgorithm: JoinAlgorithm
  readonly joinKeyOf: (server: Server) => Uint8Array
  readonly on: GameServerListener
}

/** A server that registered before a restart of Muster and must register again. */
interface AwaitedServer {
  /** Epoch milliseconds since when the server is expected. */
  readonly since: number
  isLost: boolean
}

/** The statuses of a match whose players may connect. */
const ACCEPTED: ReadonlySet<string> = new Set(['open', 'closed'])

/** The registered game servers. Each report contains the whole state of a server, so only the last one counts. */
export class GameServers {
  readonly #options: GameServersOptions
  readonly #on: GameServerListener
  readonly #registered = new Set<Server>()
  /** Servers that have not reported since a restart. Their matches are unknown, so they do not count as empty. */
  readonly #expected = new Map<Server, AwaitedServer>()
  /** Epoch milliseconds before which no silence counts, because this process could not receive reports. */
  upSince: number

  constructor(options: GameServersOptions) {
    this.#options = options
    this.#on = options.on
    this.upSince = options.clock.now()
  }

  /**
   * Registers a process of a server. A new instance replaces the previous one. The same instance may register again.
   */
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
   * Applies a report, which contains the whole state of the server. An outdated report changes nothing.
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
   * Resolves with a server's orders once their version differs from the given one, or after `waitMs`. A further call
   * for the same server ends the wait of the earlier one. A call of a replaced process resolves at once. Rejects with
   * the signal's reason.
   */
  async waitForOrders(server: Server, wait: OrdersWait): Promise<ServerOrders> {
    const presence = presenceOf(server)
    const { instance = presence.registration.instance, version, waitMs, signal } = wait
    const isReplaced = instance !== presence.registration.instance
    if (!isReplaced) presence.waiter?.()
    if (!isReplaced && presence.version === version && waitMs > 0) {
      const ending = new AbortController()
      const end = () => ending.abort(WAIT_OVER)
      presence.waiter = end
      await unlessAborted(
        this.#options.clock.sleep(waitMs, ending.signal).catch(() => {}),
        signal,
      ).finally(() => {
        ending.abort(WAIT_OVER)
        if (presence.waiter === end) presence.waiter = undefined
      })
    }
    return this.#ordersFor(server, presence, instance)
  }

  /** Called when a server's orders have changed. Ends the server's wait for orders. */
  changed(server: Server): void {
    const { presence } = server
    if (presence !== undefined) {
      if (!server.isWanted) this.#on.listed(server, undefined, presence.registration.instance)
      presence.raiseVersion(this.#options.clock.now())
    }
    this.#endIfSpent(server)
  }

  /** Drains a server, so that it gets no further matches. Once it has none left, `spent` is called. */
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
   * Called for a server that registered before a restart. It must register again, or it is lost like a silent server.
   */
  expect(server: Server): void {
    this.#expected.set(server, { since: this.#options.clock.now(), isLost: false })
  }

  /**
   * True if a server has not reported since a restart, and is not lost. Its listing is unknown.
   * @param serverId id of the server. Default: any server
   */
  isExpected(serverId?: string): boolean {
    for (const [{ id }, { isLost }] of this.#expected)
      if (!isLost && (serverId === undefined || id === serverId)) return true
    return false
  }

  forget(server: Server): void {
    this.#expected.delete(server)
    this.#registered.delete(server)
    const { presence } = server
    if (presence === undefined) return
    server.presence = undefined
    this.#on.listed(server, undefined, presence.registration.instance)
    presence.waiter?.()
  }

  /** @param wasPaused true if this process was suspended since the last call */
  advance(now: number, wasPaused: boolean): void {
    if (wasPaused) this.upSince = now
    for (const server of this.#registered) if (server.presence !== undefined) this.#lookAt(server, server.presence, now)
    for (const [server, one] of this.#expected) this.#lookAtExpected(server, one, now)
  }

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
    // For 25 s after its replacement, an instance is ordered to drain. After that, it gets an error.
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

  /** True if a match or a player needs the server. A match counts even if the server does not know it yet. */
  #isUsed(server: Server): boolean {
    return server.matches.length > 0 || this.#on.isOccupied(server)
  }

  /**
   * Calls `spent` for a draining server that nobody needs. A server from before a restart must report first, because
   * only its report shows its players.
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
      // The process no longer reports a match that it reported before, so the match is over.
      else if (before.has(match.id)) this.#on.over(match, undefined)
    }
    for (const id of before.keys()) if (!reported.has(id)) said.delete(id)
    if (said.size === 0 && presence.said === said) presence.said = NO_REPORTS
  }

  /** Applies the report about a match. @returns true if `seatsWanted` must be repeated */
  #applyMatch(match: HostedMatch, server: Server, reported: MatchReport, before: ReportedMatch | undefined): boolean {
    const { players, status, seats } = reported
    if (ACCEPTED.has(status) && !ACCEPTED.has(before?.status ?? '')) this.#on.accepted(match, server)
    const present = new Set(match.playerIds)
    const came = inOf(players).filter((id) => present.has(id) && before?.players[id] !== 'in')
    if (came.length > 0) this.#on.came(match, came)
    // A player who has left may get a seat in the match again. Until they connect, the server still reports them as
    // `left`.
    const hasLeft = (id: string) => Object.hasOwn(players, id) && players[id] === 'left'
    const left = match.playerIds.filter((id) => hasLeft(id) && before?.players[id] !== 'left')
    // If all players leave in the report that ends the match, `over` announces that. Otherwise the match would end
    // without its result.
    const isEnd = status === 'over' && left.length === match.playerIds.length
    if (left.length > 0 && !isEnd) this.#on.left(match, left)
    const isNew = !isSame(seats, before?.seats)
    const isAsked = seats !== undefined && (isNew || before?.isUnmet === true)
    const isUnmet = isAsked && !this.#on.seatsWanted(match, seats, isNew)
    if (status === 'loading') this.#on.loads(match)
    else if (status === 'refused') this.#on.refused(match)
    else if (status === 'over') this.#on.over(match, reported.result, isEnd ? left : undefined)
    return isUnmet
  }

  /** True if the server has just reported, waits for orders, or is expected after a restart and not lost. */
  isReporting(server: Server): boolean {
    const { presence } = server
    if (presence === undefined) return this.#expected.get(server)?.isLost === false
    const silentSince = Math.max(presence.seenAt, this.upSince)
    return presence.waiter !== undefined || this.#options.clock.now() - silentSince < LIVES_MS
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
    // A server that waits for orders has an open request, so it is not silent.
    if (!server.isWanted || presence.waiter !== undefined) return
    const silentSince = Math.max(presence.seenAt, this.upSince)
    if (lostAt === undefined) {
      if (now - silentSince < LOST_AFTER_MS) return
      presence.lostAt = now
      this.#on.lost(server, now - presence.seenAt)
    } else if (now - Math.max(lostAt, this.upSince) >= LOST_GRACE_MS && (isEnrolled(server) || !this.#isUsed(server))) {
      server.draining ??= 'silent'
      // Muster cannot read the status of an enrolled server, so a long silence counts as its end.
      if (isEnrolled(server)) return this.#on.spent(server, 'silent')
      if (!server.isListed) this.#expected.delete(server)
      this.#endIfSpent(server)
    }
  }

  #lookAtExpected(server: Server, one: AwaitedServer, now: number): void {
    if (!server.isWanted) return void this.#expected.delete(server)
    const silentMs = now - Math.max(one.since, this.upSince)
    if (server.presence !== undefined) {
      // After 85 s without a report the server counts as lost, even if its process waits for orders or sends invalid
      // reports. The server list is incomplete until each expected server has reported or is lost.
      one.isLost = server.presence.lostAt !== undefined || silentMs >= LOST_AFTER_MS + LOST_GRACE_MS
      return
    }
    if (silentMs < LOST_AFTER_MS) return
    if (!one.isLost) this.#on.lost(server, silentMs)
    one.isLost = true
    // A listed server may have players, so it is kept, like a server with matches.
    if (silentMs < LOST_AFTER_MS + LOST_GRACE_MS) return
    if (!isEnrolled(server) && (server.matches.length > 0 || server.isListed)) return
    this.#on.spent(server, 'silent')
  }
}

/** Returns the state of a registered server. @throws {ServerGone}; {ServerNotRegistered} */
function presenceOf(server: Server): RegisteredServer {
  const { presence } = server
  if (presence !== undefined) return presence
  if (!server.isWanted) throw new ServerGone('This server is no longer needed. End its process.')
  throw new ServerNotRegistered('This server is not registered. Send POST /servers first.')
}

/** True if a server may get players: it is registered, not lost, healthy and not draining. */
export const isOpen = (server: Server): boolean => {
  const { presence, draining } = server
  if (presence === undefined || draining !== undefined || !server.isWanted) return false
  return presence.lostAt === undefined && presence.unhealthy === 0
}

/** Returns the number of further matches that a server can take now. Undefined if it may get none, see `isOpen`. */
export const freePlacesOn = (server: Server): number | undefined => {
  if (server.presence === undefined || !isOpen(server)) return undefined
  return isFull(server) ? 0 : Math.max(0, server.presence.registration.matches - server.claims)
}

/** True if a report could not name the players of a further match: each may be named twice, also in a ranking. */
function isFull({ guests }: Server): boolean {
  const mostPlayers = MOST_IN_ALL / 2 - MOST_PLAYERS
  if (guests.size * MOST_PLAYERS <= mostPlayers) return false
  let players = 0
  for (const match of guests) if (match.isOpen) players += match.playerIds.length
  return players > mostPlayers
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
