import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import type { GameServerListener, ServerListener } from '../game-servers/index.js'
import { type ServerEvent, stepServer } from './server-state.js'
import {
  type Activity,
  type Assignment,
  type HostedMatch,
  isEnrolled,
  possibleServerIdsOf,
  type ReturnReason,
  type Server,
  type ServerFailure,
  type ServerPhase,
  type StopReason,
  tagOfCredential,
} from '../records/index.js'

/** A server, or a match. `source`: name of the server's source. Undefined: the deployment service, or a match. */
interface ProblemSubject {
  readonly id?: string | undefined
  readonly source?: string | undefined
}

/** Receives events of servers and of their matches. */
export interface AllocatorListener {
  created(server: Server, requestId: string): void
  /** Called with the players who are charged for a warm server: the first who use it. */
  used(playerIds: readonly string[]): void
  /** Called when the server has become READY, at most `unseenMs` milliseconds ago. It need not listen yet. */
  up(server: Server, requestId: string, unseenMs: number): void
  /** Called when the players of a match may connect to its server. */
  ready(match: HostedMatch, requestId: string, assignment: Assignment): void
  /**
   * Called when a match's tickets return to the queue. @param counts true if that counts as a failed attempt of all
   * tickets; or the ids of the tickets for which it counts
   */
  failed(match: HostedMatch, reason: ReturnReason, counts: boolean | readonly string[]): void
  /** Called when a server failed, before the events of its matches. @param detail the error message of its source */
  faulty(server: Server, requestId: string, reason: ServerFailure, detail: string | undefined): void
  /** Called with the last output of a failed server, without secrets and addresses. */
  logs(server: Server, requestId: string, reason: ServerFailure, text: string): void
  /** Called when a server's deployment, or another deployment of the same create, is stopped or gone. */
  stopped(server: Server, requestId: string, reason: StopReason): void
  /** Called when a match that was played ends because its server has ended, or its time is over. */
  over(match: HostedMatch, reason: StopReason): void
  /** Called when a deployment without a server was stopped, although it has the tag of this matchmaker. */
  reaped(requestId: string): void
  problem(during: Activity, error: unknown, about?: ProblemSubject, requestId?: string): void
  /** Returns the players of matches, and receives what servers report about matches. */
  readonly games: Pick<GameServerListener, 'rosterOf' | 'left' | 'over' | 'seatsWanted'> & {
    /**
     * Called when a match ends whose players were sent to a server: before its end is stored, and also after `over`.
     */
    ended(match: HostedMatch, reason: StopReason): void
  }
  readonly servers: ServerListener
}

/** Remembers matches and servers that ended recently. A command about one of them is ignored, without an error. */
export type EndedMatches = ReturnType<typeof createEndedMatches>

/** Maximum number of remembered ids (our choice). */
const REMEMBERED = 10_000

export function createEndedMatches() {
  const ended = new LRUCache<string, true>(growingTo(REMEMBERED))
  return { add: (id: string) => void ended.set(id, true), has: (id: string) => ended.has(id) }
}

const nameIn = (source: string | undefined, handle: string) => (source === undefined ? handle : `${source} ${handle}`)

interface FleetOptions {
  /** Receives the ids of removed matches and servers. */
  readonly ended?: Pick<EndedMatches, 'add'> | undefined
  /** Called when the phase of a server has changed, or the phase or the players of one of its matches. */
  readonly changed?: ((server: Server) => void) | undefined
  readonly gone?: ((server: Server) => void) | undefined
}

/** All servers that exist or may exist, and all matches. */
export class Fleet {
  readonly #ended: Pick<EndedMatches, 'add'>
  readonly #changed: (server: Server) => void
  readonly #gone: (server: Server) => void
  readonly #servers = new Map<string, Server>()
  readonly #matches = new Map<string, HostedMatch>()
  /** Servers by source and handle. Handles of different sources may be equal. */
  readonly #requested = new Map<string, Server>()
  /**
   * Number of servers that exist or may exist, by source. Enrolled servers are not counted, because they cost nothing.
   */
  readonly #ofSource = new Map<string | undefined, number>()
  #costly = 0
  /** Servers in the phases `starting`, `warming` and `retrying`. */
  readonly #starting = new Set<Server>()
  /** Servers in the phases `running` and `stopping`. */
  readonly #served = new Set<Server>()
  #servedCostly = 0
  /** Matches whose players were sent to their server, or will be once that is stored. */
  readonly #playing = new Set<HostedMatch>()
  /** Matches by the ids of players whose tickets this process does not have. */
  readonly #players = new Map<string, HostedMatch>()

  constructor({ ended = createEndedMatches(), changed = () => {}, gone = () => {} }: FleetOptions = {}) {
    this.#ended = ended
    this.#changed = changed
    this.#gone = gone
  }

  /** Adds a server. A server of a single match is added with its match. */
  add(server: Server): void {
    this.#servers.set(server.id, server)
    for (const match of server.bound) this.#matches.set(match.id, match)
    this.#addToCounts(server, 1)
  }
  addMatch(match: HostedMatch): void {
    this.#matches.set(match.id, match)
  }
  /** Sets the phase of a server, and updates the counts. */
  enter(server: Server, phase: ServerPhase): void {
    server.phase = phase
    if (this.#servers.get(server.id) !== server) return
    if (phase === 'starting' || phase === 'warming' || phase === 'retrying') this.#starting.add(server)
    else this.#starting.delete(server)
    if ((phase === 'running' || phase === 'stopping') && !this.#served.has(server)) {
      this.#served.add(server)
      if (!isEnrolled(server)) this.#servedCostly += 1
    }
    this.#changed(server)
  }
  /** Applies an event to a server. Returns false without effect if the event does not fit the server's phase. */
  step(server: Server, event: ServerEvent): boolean {
    const next = stepServer(server.phase, event)
    if (next !== undefined) this.enter(server, next)
    return next !== undefined
  }
  /** Records that a match's players were sent to its server (`running`), or will be once that is stored (`warming`). */
  enterMatch(match: HostedMatch, phase: 'warming' | 'running'): void {
    match.phase = phase
    if (this.#matches.get(match.id) !== match) return
    this.#playing.add(match)
    this.#tellChanged(match)
  }
  identify(server: Server, requestId: string): void {
    server.requestId = requestId
    this.#requested.set(nameIn(server.source, requestId), server)
  }
  /** Records that a server no longer has a deployment. */
  release(server: Server): void {
    if (server.requestId !== undefined) this.#requested.delete(nameIn(server.source, server.requestId))
    server.requestId = undefined
  }
  /** Remembers the players of a match from before a restart whose tickets this process does not have. */
  rememberPlayers(match: HostedMatch): void {
    const known = new Set(match.order?.tickets.flatMap((ticket) => ticket.players.map(({ id }) => id)))
    for (const id of match.playerIds) if (!known.has(id)) this.#players.set(id, match)
  }
  setPlayers(match: HostedMatch, playerIds: readonly string[]): void {
    const isRemembered = match.playerIds.some((id) => this.#players.get(id) === match)
    this.#forgetPlayers(match)
    match.playerIds = playerIds
    if (isRemembered) this.rememberPlayers(match)
    this.#tellChanged(match)
  }
  /** Returns the match of a player whose ticket this process does not have. Undefined if none is known. */
  playedBy(playerId: string): HostedMatch | undefined {
    if (this.#players.size === 0) return undefined
    const match = this.#players.get(playerId)
    // A match whose server is being stopped is over for its players.
    return match?.stopReason === undefined ? match : undefined
  }
  removeMatch(match: HostedMatch): void {
    this.#forgetPlayers(match)
    if (this.#matches.get(match.id) === match) this.#matches.delete(match.id)
    this.#playing.delete(match)
    match.isGone = true
    this.#ended.add(match.id)
    match.tellEnded()
  }
  /** Removes a server. A server of a single match is removed with its match. */
  remove(server: Server): void {
    const isKnown = this.#servers.delete(server.id)
    this.#ended.add(server.id)
    this.#starting.delete(server)
    if (this.#served.delete(server) && !isEnrolled(server)) this.#servedCostly -= 1
    if (isKnown) this.#addToCounts(server, -1)
    const name = nameIn(server.source, server.requestId ?? '')
    if (this.#requested.get(name) === server) this.#requested.delete(name)
    this.#gone(server)
    for (const match of server.bound) this.removeMatch(match)
  }
  /** Returns a server by its id. A server of a single match has the id of the match. */
  find(serverId: string): Server | undefined {
    return this.#servers.get(serverId)
  }
  match(matchId: string): HostedMatch | undefined {
    return this.#matches.get(matchId)
  }
  /** Returns a server by its handle. @param source name of the server's source. Undefined: the deployment service */
  byRequest(requestId: string, source?: string): Server | undefined {
    return this.#requested.get(nameIn(source, requestId))
  }
  /** Returns the server that has one of these credentials, see `Server.credential`. */
  byServerIds(ids: readonly string[]): Server | undefined {
    for (const id of ids) {
      const tag = tagOfCredential(id)
      for (const serverId of possibleServerIdsOf(tag)) {
        const server = this.#servers.get(serverId)
        if (server?.tag === tag) return server
      }
    }
    return undefined
  }
  all(): MapIterator<Server> {
    return this.#servers.values()
  }
  matches(): MapIterator<HostedMatch> {
    return this.#matches.values()
  }
  /** Returns the servers in the phases `starting`, `warming` and `retrying`. */
  starting(): SetIterator<Server> {
    return this.#starting.values()
  }
  /** Returns the servers in the phases `running` and `stopping`. */
  served(): SetIterator<Server> {
    return this.#served.values()
  }
  /** Returns the matches whose players were sent to their server, or will be once that is stored. */
  playing(): SetIterator<HostedMatch> {
    return this.#playing.values()
  }
  /** Returns the number of servers that exist or may exist. Enrolled servers are not counted. */
  count(): number {
    return this.#costly
  }
  /** Returns the number of servers that exist or may exist at a source. Enrolled servers are not counted. */
  countOf(source: string | undefined): number {
    return this.#ofSource.get(source) ?? 0
  }
  /** Returns the number of servers that neither run nor are being stopped. */
  startingCount(): number {
    return this.#costly - this.#servedCostly
  }

  #addToCounts(server: Server, sign: 1 | -1): void {
    if (isEnrolled(server)) return
    this.#ofSource.set(server.source, this.countOf(server.source) + sign)
    this.#costly += sign
  }
  #forgetPlayers(match: HostedMatch): void {
    if (this.#players.size === 0) return
    for (const id of match.playerIds) if (this.#players.get(id) === match) this.#players.delete(id)
  }
  #tellChanged({ server }: HostedMatch): void {
    if (server !== undefined) this.#changed(server)
  }
}
