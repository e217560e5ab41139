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
  /** Called when the server became READY at most `unseenMs` ago. Whether it listens is checked next. */
  up(server: Server, requestId: string, unseenMs: number): void
  /** Called when the server of the match listens: its players may connect. */
  ready(match: HostedMatch, requestId: string, assignment: Assignment): void
  /**
   * Called when the match's tickets go back to the queue. @param counts true: a failed attempt of all its tickets; a
   * list of ids: only of these tickets
   */
  failed(match: HostedMatch, reason: ReturnReason, counts: boolean | readonly string[]): void
  /** Called when the server failed, before the events of its matches. @param detail the message of its source */
  faulty(server: Server, requestId: string, reason: ServerFailure, detail: string | undefined): void
  /** Called with the last output of a failed server's container, without secrets and addresses. */
  logs(server: Server, requestId: string, reason: ServerFailure, text: string): void
  /** Called when the server's deployment, or a twin of it, is stopped or gone. */
  stopped(server: Server, requestId: string, reason: StopReason): void
  /** Called when the match has lost its server, or its server is stopped. Its players are free. */
  over(match: HostedMatch, reason: StopReason): void
  /** Called when a deployment with the tag of this matchmaker that belonged to no match was stopped. */
  reaped(requestId: string): void
  problem(during: Activity, error: unknown, about?: { readonly id: string }, requestId?: string): void
  /** Knows the players of matches, and receives the servers' reports about matches. */
  readonly games: Pick<GameServerListener, 'rosterOf' | 'left' | 'over' | 'seatsWanted'> & {
    /** Called when a match whose players were sent to a server ends: before that is stored, and also after `over`. */
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
  /** The servers by source and handle, because each source has its own handles. */
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
  /** The matches by the ids of remembered players. */
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
  /** Returns the match of an earlier process in which the player plays, if its players are remembered. */
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
  /** Returns the server that has one of these ids at its source. See `CreateServerRequest`. */
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
  /** Returns the servers that exist but do not run yet, including those stopped before another attempt. */
  starting(): SetIterator<Server> {
    return this.#starting.values()
  }
  /** Returns the servers that run or are being stopped. */
  served(): SetIterator<Server> {
    return this.#served.values()
  }
  /** Returns the matches whose players were sent to their server, or will be once that is stored. */
  playing(): SetIterator<HostedMatch> {
    return this.#playing.values()
  }
  /** Returns the number of servers that exist or may exist, except enrolled ones. */
  count(): number {
    return this.#costly
  }
  /** Returns the number of servers of a source that exist or may exist. */
  countOf(source: string | undefined): number {
    return this.#ofSource.get(source) ?? 0
  }
  /** Returns the number of servers that do not run yet (whether they exist or not) and are not being stopped. */
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
