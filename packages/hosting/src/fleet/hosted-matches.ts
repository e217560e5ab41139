import type { Coordinates } from '@muster/core'
import { newId } from '@muster/core/internal'
import { TicketsGone } from '../errors.js'
import type { AllocatorContext } from './allocator-context.js'
import { type FreedReason, type GameServers, LOST_AFTER_MS } from '../game-servers/index.js'
import type { Pools, PoolState } from '../pools/index.js'
import {
  type Assignment,
  type DrainReason,
  ENROLLED,
  type HostedMatch,
  matchIntent,
  newPoolServer,
  newServerFor,
  matchEndEntries,
  type Order,
  type ReturnReason,
  type Server,
  type StopReason,
} from '../records/index.js'
import { ANSWER_MS, loadOn, newOffer, type Offer } from './match-offer.js'
import { middleOfMatch } from './retry-placement.js'
import { ENDS_GAP_MS, startAfterRestart, STORE_PATIENCE_MS } from './server-deadlines.js'
import type { HostingEntry } from '../store/index.js'

interface HostedMatchesOptions extends AllocatorContext {
  readonly gameServers: Pick<GameServers, 'changed' | 'drain'>
  readonly pools: Pools
  /**
   * Creates a server. @param claims entries that bind matches to the server, written together with the server's intent
   */
  readonly begin: (server: Server, claims?: readonly HostingEntry[]) => Promise<void>
  /** Returns the number of servers of a pool that may be created now. */
  readonly room: (pool: string, now: number) => number
  readonly dropServer: (server: Server, reason: StopReason) => void
  /** Called when the server of a single match cannot serve its match. */
  readonly failServer: (server: Server, reason: ReturnReason, counts: boolean) => void
}

/** Maximum milliseconds for which a match waits until a server may be created for it (our choice). */
const ROOM_MS = 60_000
/** Maximum number of servers to which a match is offered before its tickets return to the queue (our choice). */
const MOST_OFFERS = 4

/** The stored facts about a match from before a restart. */
interface InheritedMatch {
  /** The server that has claimed the match. Undefined if there was none, or if the server must end. */
  readonly server: Server | undefined
  /**
   * The address to which the match's players were sent. Undefined if they were not sent, or if the address is unknown.
   */
  readonly assignment: Assignment | undefined
  /** Epoch milliseconds at which the players were sent to the server. Undefined if they were not. */
  readonly playingSince?: number | undefined
  /** Maximum duration of the match in milliseconds from `playingSince`. Undefined if unlimited. */
  readonly lastsMs?: number | undefined
}

const servedOf = ({ id: serverId, matchesServed: matches }: Server): HostingEntry => ({
  kind: 'served',
  serverId,
  matches,
})

/*
 * Every match is a guest on a server. If its queue names a pool, the server belongs to that pool:
 *
 *   intent ──▶ claim ── a warm server fits ──▶ offered ── accepted ──▶ assigned ── over ──▶ the server serves another
 *                │                               │ refused, or silent: claims another server
 *                └── none ──▶ a server is created for the match. Once it has registered, the match is offered to it
 *
 * A claim binds a match to a server. It is stored before the server learns of the match. So after a crash each match is
 * on one server or on none.
 *
 * Without a pool, a server is created for the match alone. Its intent is the claim, and it accepts the match by
 * running. The match lasts as long as the server.
 */
export class HostedMatches {
  readonly #options: HostedMatchesOptions
  readonly #fleet: HostedMatchesOptions['fleet']
  readonly #pools: Pools
  readonly #on: HostedMatchesOptions['on']
  /** The matches that wait for a server of a pool, or for the server to accept them. */
  readonly #offers = new Map<HostedMatch, Offer>()
  #nextEndsAt = 0

  constructor(options: HostedMatchesOptions) {
    this.#options = options
    this.#fleet = options.fleet
    this.#pools = options.pools
    this.#on = options.on
  }

  /** Begins a match. Resolves once the store has the match and, if possible, its claim of a server. */
  async begin(match: HostedMatch, order: Order): Promise<void> {
    const { writer } = this.#options
    // For a server of a single match, the server's intent is also the match's claim.
    if (order.pool === undefined) return this.#options.begin(newServerFor(match, order))
    this.#fleet.addMatch(match)
    this.#offers.set(match, newOffer(0))
    try {
      // A stored match is continued after a restart. Otherwise its tickets would return to the queue.
      await writer.append(matchIntent(match, writer.resumes))
    } catch (error) {
      return this.#unwritten(match, error)
    }
    if (match.isOpen) await this.#findServer(match)
    else this.#end(match)
  }

  /** Ends a match that is no longer wanted. The caller handles the match's tickets. */
  drop(match: HostedMatch, reason: StopReason): void {
    match.stopReason ??= reason
    this.#leave(match, match.stopReason)
  }

  /** Called when a server reports that the match's players may come. */
  accepted(match: HostedMatch): void {
    const offer = this.#offers.get(match)
    if (offer === undefined) return
    match.isAccepted = true
    offer.answerBy = Infinity
    this.#sendIfReady(match)
  }

  /** Called when a server reports that it prepares the match. */
  loads(match: HostedMatch): void {
    const offer = this.#offers.get(match)
    if (offer !== undefined) loadOn(offer, match, this.#options.clock.now())
  }

  /** Called when a server reports that it cannot serve the match. */
  refused(match: HostedMatch): void {
    const { ownServer } = match
    if (match.hasBegun) return this.#on.games.over(match, undefined)
    if (ownServer === undefined) {
      if (this.#offers.has(match)) this.#claimAgain(match, 'refused')
    } else if (ownServer.requestId === undefined) this.#on.games.over(match, undefined)
    else this.#options.failServer(ownServer, 'not-listening', true)
  }

  /** Prepares a listening server's own match for play. Returns the entries to write with the server's record. */
  serverListens(server: Server): readonly HostingEntry[] {
    return server.bound.flatMap((match) => this.#send(match, server) ?? [])
  }

  /** Called when the server runs and the entries of `serverListens` are stored. Lets its matches' players connect. */
  serverUp(server: Server): void {
    for (const match of server.guests) {
      if (match.isPlaced) this.#startPlay(match)
      else this.#sendIfReady(match)
    }
  }

  /** Called before a server is stopped: the results of its matches must be stored before their ends. */
  serverEnding(server: Server, reason: StopReason): void {
    for (const match of server.guests) this.#conclude(match, reason)
  }

  /**
   * Ends the matches of a server that has failed, is being stopped or is gone. A repeated call has no effect.
   * @param counts see `AllocatorListener.failed`. Default false
   */
  serverEnded(server: Server, reason: ReturnReason | StopReason, counts: boolean | readonly string[] = false): void {
    for (const match of server.guests) this.#lose(match, reason, counts)
  }

  /** Called when the server has registered. From now on it must reply to the matches that are offered to it. */
  registered(server: Server): void {
    for (const match of server.guests) {
      const offer = this.#offers.get(match)
      if (offer !== undefined && match.isClaimStored && !match.isAccepted)
        offer.answerBy = Math.min(offer.answerBy, this.#options.clock.now() + ANSWER_MS)
    }
  }

  /** Takes over a stored match that does not have its own server. */
  adopt(match: HostedMatch, taken: InheritedMatch): void {
    const { server, playingSince } = taken
    const { order } = match
    this.#fleet.addMatch(match)
    if (order === undefined && (server === undefined || playingSince === undefined)) match.stopReason = 'restarted'
    const isPlayed = match.stopReason === undefined && playingSince !== undefined
    const playsOn = isPlayed ? server?.requestId : undefined
    // The players were sent to a server that no longer exists.
    if (playingSince !== undefined && playsOn === undefined) this.#on.games.ended(match, match.stopReason ?? 'lost')
    if (match.stopReason !== undefined)
      return this.#end(match, server !== undefined && playingSince === undefined ? unused(server) : [])
    if (server === undefined) {
      // Players who were sent to the lost server are free. Players who were not sent get another server.
      if (isPlayed) {
        this.#fail(match, 'lost', false)
        return this.#end(match)
      }
      return order && void this.begin(match, order)
    }
    match.server = server
    server.guests.add(match)
    // Earlier versions stored the claim before the count, so that a crash between the writes left the count too low.
    server.matchesServed = Math.max(server.matchesServed, server.guests.size)
    if (playsOn !== undefined && taken.assignment !== undefined) return this.resumePlay(match, server, taken)
    const offer = newOffer(1)
    // A running server registers again within 25 s, and reports whether it has the match.
    if (server.phase === 'running') offer.answerBy = this.#options.clock.now() + LOST_AFTER_MS
    this.#offers.set(match, offer)
  }

  /** Continues a stored match whose players were sent to its server. */
  resumePlay(
    match: HostedMatch,
    server: Server,
    { assignment, playingSince = match.at, lastsMs = Infinity }: Omit<InheritedMatch, 'server'>,
  ): void {
    const { clock, writer } = this.#options
    const { requestId } = server
    if (requestId !== undefined && assignment !== undefined) match.placeAt(server, requestId, assignment)
    const at = startAfterRestart(server, playingSince, lastsMs, clock)
    match.readyAt = Math.max(server.startedAfter, at)
    match.endsAt = match.readyAt + lastsMs
    // If this were not stored, the match would begin again at each restart, and never end.
    if (at !== playingSince && lastsMs < Infinity) void writer.note({ kind: 'playing', matchId: match.id, at, lastsMs })
    this.#fleet.enterMatch(match, 'running')
    if (match.order !== undefined && requestId !== undefined && assignment !== undefined)
      this.#on.ready(match, requestId, assignment)
    this.#fleet.rememberPlayers(match)
  }

  /** Returns how many further matches the warm servers of a pool can take, besides the matches that already wait. */
  freePlaces(pool: string): number {
    return Math.max(0, this.#pools.freePlaces(pool) - (this.#searching().get(pool) ?? 0))
  }

  /** Returns the number of waiting matches for which a server must be created. */
  needingServers(): number {
    let sum = 0
    for (const [pool, count] of this.#searching()) sum += Math.max(0, count - this.#pools.freePlaces(pool))
    return sum
  }

  /**
   * Takes matches back from servers that do not reply, and ends matches whose time is over.
   * @param wasPaused true if this process was suspended since the last call
   */
  advance(now: number, wasPaused: boolean): void {
    // A server could not reply or report its players while this process was suspended, so the waiting begins again.
    if (wasPaused) for (const match of this.#fleet.playing()) match.joinBy = Math.max(match.joinBy, now + LOST_AFTER_MS)
    for (const [match, offer] of this.#offers) {
      if (offer.isShort) {
        offer.isShort = false
        void this.#findServer(match)
      } else if (wasPaused && offer.answerBy < Infinity) offer.answerBy = Math.max(offer.answerBy, now + ANSWER_MS)
      else if (now >= offer.answerBy) this.#claimAgain(match, 'silent')
    }
    if (now < this.#nextEndsAt) return
    this.#nextEndsAt = now + ENDS_GAP_MS
    this.#endOverdue(now)
  }

  async #findServer(match: HostedMatch): Promise<void> {
    const { room, clock } = this.#options
    const { order } = match
    const pool = order?.pool === undefined ? undefined : this.#pools.find(order.pool)
    if (order === undefined || pool === undefined) return this.#giveUp(match, 'refused', true)
    const placements = await order.placements?.()
    if (!match.isOpen) return this.#end(match)
    const needs = { middle: middleOfMatch(order), placements }
    const warm = this.#pools.warmFor(pool, needs)
    const near = placements?.[0]?.coordinates ?? needs.middle
    const offer = this.#offers.get(match)
    if (offer === undefined || match.server !== undefined) return
    if (!offer.isCounted) offer.uncount = this.#pools.countDemand(pool, warm, needs)
    offer.isCounted = true
    const now = clock.now()
    offer.isShort = warm === undefined && room(pool.definition.name, now) <= 0
    offer.shortSince = offer.isShort ? Math.min(offer.shortSince, now) : Infinity
    const isLate = now - offer.shortSince >= ROOM_MS
    // No server can come for the match. Its tickets return to the queue until a server has a place.
    if (offer.isShort && (isLate || pool.definition.source === ENROLLED))
      return this.#giveUp(match, 'no-capacity', false)
    if (offer.isShort) return
    return warm === undefined ? this.#createFor(match, offer, pool, near) : this.#claim(match, offer, warm)
  }

  async #claim(match: HostedMatch, offer: Offer, server: Server): Promise<void> {
    try {
      await this.#options.writer.append(...this.#assign(match, offer, server, true))
    } catch (error) {
      if (match.server === server) this.#unwritten(match, error)
      return
    }
    this.#tell(match, offer, server)
  }

  /** Creates a server of a pool for a match, near the players or at the locations that the rules choose. */
  async #createFor(match: HostedMatch, offer: Offer, pool: PoolState, near: Coordinates | undefined): Promise<void> {
    const { begin, clock, random } = this.#options
    const { name, source } = pool.definition
    const { tickets = [], placements } = match.order ?? {}
    const wanted = pool.orderFor(tickets, placements)
    const server = newPoolServer({ id: newId(random), pool: name, at: clock.now(), source }, wanted)
    server.chargedPlayers = match.playerIds
    server.near = near
    this.#pools.created(server, near)
    await begin(server, this.#assign(match, offer, server, false))
    this.#tell(match, offer, server)
  }

  /** Assigns a match to a server. @returns the entries to store before the server learns of the match */
  #assign(match: HostedMatch, offer: Offer, server: Server, isWarm: boolean): readonly HostingEntry[] {
    match.server = server
    match.claim = { at: this.#options.clock.now(), isWarm }
    match.isClaimStored = false
    server.guests.add(match)
    server.matchesServed += 1
    this.#pools.began(server)
    this.#on.servers.taken(match, server, isWarm)
    match.isAccepted = false
    offer.answerBy = Infinity
    offer.loadsUntil = undefined
    offer.offers += 1
    return [{ kind: 'claimed', matchId: match.id, serverId: server.id }, servedOf(server)]
  }

  /** Offers the match to its server. Called once the store has the claim. */
  #tell(match: HostedMatch, offer: Offer, server: Server): void {
    if (match.server !== server || !match.isOpen) return
    match.isClaimStored = true
    offer.answerBy = server.presence === undefined ? Infinity : this.#options.clock.now() + ANSWER_MS
    this.#options.gameServers.changed(server)
  }

  #claimAgain(match: HostedMatch, reason: DrainReason & FreedReason): void {
    const { writer, gameServers } = this.#options
    const { server } = match
    // Both entries are written together: after a crash between two writes, the server's count would be wrong.
    void writer.note({ kind: 'claimed', matchId: match.id, serverId: undefined }, ...this.#leaveServer(match, reason))
    if (server !== undefined) gameServers.drain(server, reason)
    const offer = this.#offers.get(match)
    if (offer === undefined || offer.offers >= MOST_OFFERS) return this.#giveUp(match, 'not-listening', true)
    offer.answerBy = Infinity
    void this.#findServer(match)
  }

  /** Ends a match by `drop` or by a time limit. A server that is only for this match is stopped. */
  #leave(match: HostedMatch, reason: StopReason): void {
    if (match.ownServer === undefined) this.#end(match, this.#leaveServer(match, reason))
    else this.#options.dropServer(match.ownServer, reason)
  }

  /** Separates a match from its server. @returns entries to write together with the end of the match or of its claim */
  #leaveServer(match: HostedMatch, reason: FreedReason): readonly HostingEntry[] {
    const { server } = match
    match.server = undefined
    match.claim = undefined
    match.isClaimStored = true
    if (server === undefined) return []
    server.guests.delete(match)
    const entries = match.readyAt === Infinity ? unused(server) : []
    this.#on.servers.freed(match, server, reason)
    this.#pools.ended(server, match)
    this.#options.gameServers.changed(server)
    return entries
  }

  /** Lets the match's players connect if the match is accepted and its server runs. */
  #sendIfReady(match: HostedMatch): void {
    const { server } = match
    const playing = server?.phase === 'running' ? this.#send(match, server) : undefined
    if (playing === undefined) return
    const noted = this.#options.writer.note(playing)
    if (noted === undefined) this.#startPlay(match)
    else void noted.then(() => this.#startPlay(match))
  }

  /**
   * Prepares a match for play. Returns the entry to store before its players are sent. Undefined if not possible now.
   */
  #send(match: HostedMatch, server: Server): HostingEntry | undefined {
    const { requestId, assignment } = server
    if (!match.isAccepted || match.isPlaced || !match.isOpen) return undefined
    if (requestId === undefined || assignment === undefined) return undefined
    this.#offers.delete(match)
    if (server.chargedPlayers === undefined) this.#on.used((server.chargedPlayers = match.playerIds))
    match.placeAt(server, requestId, assignment)
    match.readyAt = this.#options.clock.now()
    const lastsMs = match.order?.deploy.maxDurationMs
    match.endsAt = match.readyAt + (lastsMs ?? Infinity)
    this.#fleet.enterMatch(match, 'warming')
    return { kind: 'playing', matchId: match.id, at: match.readyAt, lastsMs }
  }

  /** Sends the match's players to the server. Called once the store has the entry of `#send`. */
  #startPlay(match: HostedMatch): void {
    const { requestId, assignment, order } = match
    if (requestId === undefined || assignment === undefined || !match.isOpen) return
    this.#fleet.enterMatch(match, 'running')
    match.joinBy = this.#options.clock.now() + (order?.deploy.joinWithinMs ?? Infinity)
    this.#on.ready(match, requestId, assignment)
  }

  /** Handles a match whose server has ended: a played match is over, any other match's tickets return to the queue. */
  #lose(match: HostedMatch, reason: ReturnReason | StopReason, counts: boolean | readonly string[]): void {
    if (match.hasBegun) {
      match.stopReason ??= reason
      this.#on.over(match, match.stopReason)
    } else this.#fail(match, isReturn(reason) ? reason : 'failed', counts)
    // A server's own match is removed together with the server.
    if (match.ownServer === undefined) this.#end(match, this.#leaveServer(match, reason))
  }

  /** Returns the match's tickets to the queue. A repeated call has no effect. */
  #fail(match: HostedMatch, reason: ReturnReason, counts: boolean | readonly string[]): void {
    if (match.stopReason !== undefined) return
    match.stopReason = reason
    this.#on.failed(match, reason, counts)
  }

  #giveUp(match: HostedMatch, reason: ReturnReason, counts: boolean): void {
    this.#fail(match, reason, counts)
    this.#end(match, this.#leaveServer(match, reason))
  }

  #unwritten(match: HostedMatch, error: unknown): void {
    if (!(error instanceof TicketsGone)) this.#on.problem('store', error, match)
    this.#giveUp(match, error instanceof TicketsGone ? 'dissolved' : 'unavailable', false)
  }

  /**
   * Announces the end of a match that was played. Called before its end is stored, so that its result is stored first.
   */
  #conclude(match: HostedMatch, reason: StopReason = 'ended'): void {
    if (match.hasBegun) this.#on.games.ended(match, match.stopReason ?? reason)
  }

  /**
   * Removes a match that has left its server. @param left entries about that server, written with the end of the match
   */
  #end(match: HostedMatch, left: readonly HostingEntry[] = []): void {
    // A match that ends before it begins does not count as demand.
    this.#offers.get(match)?.uncount?.()
    this.#offers.delete(match)
    // The listener that `#fail` calls may have removed the match already.
    const isKnown = this.#fleet.match(match.id) === match
    if (isKnown) {
      this.#conclude(match)
      this.#fleet.removeMatch(match)
    }
    const entries = [...left, ...(isKnown ? matchEndEntries([match]) : [])]
    if (entries.length > 0) void this.#options.writer.note(...entries)
  }

  /** Ends matches that nobody joins, that last too long, or whose start cannot be stored in time. */
  #endOverdue(now: number): void {
    for (const match of this.#fleet.playing()) {
      const { isOpen, hasBegun, readyAt, joinBy, server } = match
      const endsAt = server?.isAgeUnknown === true ? Infinity : match.endsAt
      if (!isOpen) continue
      if (!hasBegun && now - readyAt >= STORE_PATIENCE_MS) this.#giveUp(match, 'unavailable', false)
      else if (hasBegun && now >= Math.min(endsAt, joinBy)) {
        match.stopReason = now < endsAt ? 'nobody-joined' : 'max-duration'
        this.#conclude(match)
        this.#on.over(match, match.stopReason)
        this.#leave(match, match.stopReason)
      }
    }
  }

  /** Returns the number of matches without a server, by pool. */
  #searching(): ReadonlyMap<string, number> {
    const counts = new Map<string, number>()
    for (const { server, order } of this.#offers.keys())
      if (server === undefined && order?.pool !== undefined) counts.set(order.pool, (counts.get(order.pool) ?? 0) + 1)
    return counts
  }
}

/** Uncounts a match whose players were never sent to the server. Returns the entry that stores the count. */
function unused(server: Server): readonly HostingEntry[] {
  server.matchesServed = Math.max(0, server.matchesServed - 1)
  return server.stopReason === undefined ? [servedOf(server)] : []
}

const RETURNS: ReadonlySet<string> = new Set<ReturnReason>([
  'no-capacity',
  'refused',
  'unavailable',
  'lost',
  'failed',
  'too-slow',
  'not-listening',
])
const isReturn = (reason: ReturnReason | StopReason): reason is ReturnReason => RETURNS.has(reason)
