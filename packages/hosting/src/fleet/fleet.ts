import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import type { GameServerListener, ServerListener } from '../game-servers/index.js'
import { type ServerEvent, stepServer } from './server-state.js'
import {
  type Activity,
  type Assignment,
  type HostedMatch,
  isEnrolled,
  matchIdsOf,
  type ReturnReason,
  type Server,
  type ServerFailure,
  type ServerPhase,
  type StopReason,
  tagOfCredential,
} from '../records/index.js'

/** Called with events of servers and of the matches on them. */
export interface AllocatorListener {
  created(server: Server, requestId: string): void
  /** Called with the first players of a server of a pool that was not created for them. */
  used(playerIds: readonly string[]): void
  /** The server became READY at most `unseenMs` ago. Whether it listens is checked next. */
  up(server: Server, requestId: string, unseenMs: number): void
  /** The server of the match listens: its players may connect. */
  ready(match: HostedMatch, requestId: string, assignment: Assignment): void
  /**
   * The match's tickets go back to the queue. @param counts true if it is a failed attempt of all tickets; ids: only of
   * these tickets
   */
  failed(match: HostedMatch, reason: ReturnReason, counts: boolean | readonly string[]): void
  /** The server failed. The next call reports what happens to its matches. @param detail the message of its source */
  faulty(server: Server, requestId: string, reason: ServerFailure, detail: string | undefined): void
  /** The last output of a failed server's container, without secrets and addresses. */
  logs(server: Server, requestId: string, reason: ServerFailure, text: string): void
  /** A deployment of the server is stopped or gone: its own or a twin. */
  stopped(server: Server, requestId: string, reason: StopReason): void
  /** The match has lost its server, or its server is stopped. Its players are free. */
  over(match: HostedMatch, reason: StopReason): void
  /** A deployment with the tag of this matchmaker that belonged to no match was stopped. */
  reaped(requestId: string): void
  problem(during: Activity, error: unknown, about?: { readonly id: string }, requestId?: string): void
  /** Knows the players of matches, and receives the servers' reports about matches. */
  readonly games: Pick<GameServerListener, 'rosterOf' | 'left' | 'over' | 'seatsWanted'> & {
    /** A match whose players were sent to its server ends. Called before that is written, and also after `over`. */
    ended(match: HostedMatch, reason: StopReason): void
  }
  /** Receives the events of game servers. */
  readonly servers: ServerListener
}

/** The matches and servers that have ended recently. A command about one of them does nothing and is not an error. */
export type EndedMatches = ReturnType<typeof createEndedMatches>

/** Maximum number of remembered matches (our choice). */
const REMEMBERED = 10_000

export function createEndedMatches() {
  const ended = new LRUCache<string, true>(growingTo(REMEMBERED))
  return { add: (id: string) => void ended.set(id, true), has: (id: string) => ended.has(id) }
}

const nameIn = (source: string | undefined, handle: string) => (source === undefined ? handle : `${source} ${handle}`)

interface FleetOptions {
  /** Receives removed matches and servers. */
  readonly ended?: Pick<EndedMatches, 'add'> | undefined
  /** Called when the phase of a server, or of a match on it, or the match's players have changed. */
  readonly changed?: ((server: Server) => void) | undefined
  /** Called when a server is removed. */
  readonly gone?: ((server: Server) => void) | undefined
}

/** The servers that exist or may exist, found by id, handle or credential, and the matches on them. */
export class Fleet {
  readonly #ended: Pick<EndedMatches, 'add'>
  readonly #changed: (server: Server) => void
  readonly #gone: (server: Server) => void
  readonly #servers = new Map<string, Server>()
  readonly #matches = new Map<string, HostedMatch>()
  /** By source and handle, because each source has its own handles. */
  readonly #requested = new Map<string, Server>()
  /**
   * Number of servers that exist or may exist, by source and in total. Enrolled servers cost nothing and are not
   * counted.
   */
  readonly #ofSource = new Map<string | undefined, number>()
  #costly = 0
  /** Servers that exist and do not run yet. A server whose create has no response yet is in neither set. */
  readonly #starting = new Set<Server>()
  /** Servers that run or are being stopped. */
  readonly #served = new Set<Server>()
  #servedCostly = 0
  /** Matches whose players were sent to their server, or will be once that is stored. */
  readonly #playing = new Set<HostedMatch>()
  /** The matches of remembered players. */
  readonly #players = new Map<string, HostedMatch>()

  constructor({ ended = createEndedMatches(), changed = () => {}, gone = () => {} }: FleetOptions = {}) {
    this.#ended = ended
    this.#changed = changed
    this.#gone = gone
  }

  /** Adds a server, and its match if it is only for that match. */
  add(server: Server): void {
    this.#servers.set(server.id, server)
    for (const match of server.bound) this.#matches.set(match.id, match)
    this.#addToCounts(server, 1)
  }
  addMatch(match: HostedMatch): void {
    this.#matches.set(match.id, match)
  }
  /** Sets the phase of a server, also of one of an earlier process, and updates the counts. */
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
  /** Applies an event to a server. Returns false, and changes nothing, if the event does not fit the phase. */
  step(server: Server, event: ServerEvent): boolean {
    const next = stepServer(server.phase, event)
    if (next !== undefined) this.enter(server, next)
    return next !== undefined
  }
  /** Records that the players of a match may be sent to its server, or have been. */
  enterMatch(match: HostedMatch, phase: 'warming' | 'running'): void {
    match.phase = phase
    if (this.#matches.get(match.id) !== match) return
    this.#playing.add(match)
    this.#tellChanged(match)
  }
  /** Records the id of a server's deployment. */
  identify(server: Server, requestId: string): void {
    server.requestId = requestId
    this.#requested.set(nameIn(server.source, requestId), server)
  }
  /** Records that the deployment of a server is gone. */
  release(server: Server): void {
    if (server.requestId !== undefined) this.#requested.delete(nameIn(server.source, server.requestId))
    server.requestId = undefined
  }
  /** Remembers the players of a match of an earlier process who have no known tickets. */
  rememberPlayers(match: HostedMatch): void {
    const known = new Set(match.order?.tickets.flatMap((ticket) => ticket.players.map(({ id }) => id)))
    for (const id of match.playerIds) if (!known.has(id)) this.#players.set(id, match)
  }
  /** Replaces the players of a match. */
  setPlayers(match: HostedMatch, playerIds: readonly string[]): void {
    const isRemembered = match.playerIds.some((id) => this.#players.get(id) === match)
    this.#forgetPlayers(match)
    match.playerIds = playerIds
    if (isRemembered) this.rememberPlayers(match)
    this.#tellChanged(match)
  }
  /** The match of an earlier process in which the player plays, if its players are remembered. */
  playedBy(playerId: string): HostedMatch | undefined {
    if (this.#players.size === 0) return undefined
    const match = this.#players.get(playerId)
    // The match is over for its players once its server is being stopped.
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
  /** Removes a server, and its match if it was only for that match. */
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
  /** @param serverId the id of a match finds the server that is only for that match */
  find(serverId: string): Server | undefined {
    return this.#servers.get(serverId)
  }
  match(matchId: string): HostedMatch | undefined {
    return this.#matches.get(matchId)
  }
  /** @param source name of the source. Undefined: the deployment service */
  byRequest(requestId: string, source?: string): Server | undefined {
    return this.#requested.get(nameIn(source, requestId))
  }
  /** By the ids that the server may have at its source, see `CreateServerRequest`. */
  byServerIds(ids: readonly string[]): Server | undefined {
    for (const id of ids) {
      const tag = tagOfCredential(id)
      for (const serverId of matchIdsOf(tag)) {
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
  /** The servers that exist but do not run yet, including those stopped before another attempt. */
  starting(): SetIterator<Server> {
    return this.#starting.values()
  }
  /** The servers that run or are being stopped. */
  served(): SetIterator<Server> {
    return this.#served.values()
  }
  /** The matches whose players were sent to their server, or will be once that is stored. */
  playing(): SetIterator<HostedMatch> {
    return this.#playing.values()
  }
  /** Number of servers that exist or may exist, except enrolled ones. */
  count(): number {
    return this.#costly
  }
  /** Number of servers of a source that exist or may exist. */
  countOf(source: string | undefined): number {
    return this.#ofSource.get(source) ?? 0
  }
  /** Number of servers that do not run yet (whether they exist or not) and are not being stopped. */
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
