import { type Clock, dateOf } from '@muster/core/clock'
import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import { MatchmakerClosed } from '../errors.js'
import type { GameServerListener, ServerListener } from '../game-servers/index.js'
import type { ServerLogWriter } from '../store/index.js'
import {
  type Activity,
  type Assignment,
  type HostedMatch,
  isEnrolled,
  leftAfter,
  matchIdsOf,
  NOBODY,
  playersEntry,
  type ReturnReason,
  type Server,
  type ServerFailure,
  type ServerPhase,
  type StopReason,
  tagOfCredential,
} from '../records/index.js'

/** Called with what happens to servers, and to the matches on them. */
export interface AllocatorListener {
  created(server: Server, requestId: string): void
  /** These players are the first to use a server of a pool that was not created for them. */
  used(playerIds: readonly string[]): void
  /** The server became READY at most `unseenMs` ago; whether it listens is checked next. */
  up(server: Server, requestId: string, unseenMs: number): void
  /** The server of the match listens: its players may connect. */
  ready(match: HostedMatch, requestId: string, assignment: Assignment): void
  /** Its tickets go back to the queue. @param counts whether that is a failed attempt, of all tickets or of these */
  failed(match: HostedMatch, reason: ReturnReason, counts: boolean | readonly string[]): void
  /** The server failed. The next call says what happens to its matches. @param detail what its source says */
  faulty(server: Server, requestId: string, reason: ServerFailure, detail: string | undefined): void
  /** What the container of a server that failed wrote at its end, without secrets and addresses. */
  logs(server: Server, requestId: string, reason: ServerFailure, text: string): void
  /** A deployment of the server is stopped or gone: its own, or a twin. */
  stopped(server: Server, requestId: string, reason: StopReason): void
  /** The match has lost its server, or its server is stopped: its players are free. */
  over(match: HostedMatch, reason: StopReason): void
  /** A deployment with the tag of this matchmaker that belonged to no match was stopped. */
  reaped(requestId: string): void
  problem(during: Activity, error: unknown, about?: { readonly id: string }, requestId?: string): void
  /** Knows who plays a match, and hears what its server says of it. */
  readonly games: Pick<GameServerListener, 'rosterOf' | 'left' | 'over' | 'seatsWanted'> & {
    /** A match whose players were sent to its server ends, before that is written; also one that is over by `over`. */
    ended(match: HostedMatch, reason: StopReason): void
  }
  /** Hears of game servers. */
  readonly servers: ServerListener
}

/** What happens to a server, as far as its matches are concerned. */
export interface MatchHosting {
  /** It runs: where players connect is known. */
  serverUp(server: Server): void
  /** It is to be stopped: matches that were played on it are over. Their results are kept before that is. */
  serverEnding(server: Server, reason: StopReason): void
  /**
   * It fails, is stopped or gone, and its matches with it. Again for the same server, it changes nothing.
   * @param counts see `AllocatorListener.failed`. Default: no.
   */
  serverEnded(server: Server, reason: ReturnReason | StopReason, counts?: boolean | readonly string[]): void
}

/** Resolves when the server of the match is gone, or free of it. @throws {MatchmakerClosed} */
export const whenEnded = (match: HostedMatch): Promise<void> =>
  new Promise((resolve, reject) => {
    match.ended = [...match.ended, (error) => (error === undefined ? resolve() : reject(error))]
  })

/** Tells all who wait that the match has ended completely, or that this can no longer be found out. */
function tellEnded(match: HostedMatch, error?: Error): void {
  const { ended } = match
  match.ended = NOBODY
  for (const tell of ended) tell(error)
}

export function rejectAll(matches: Iterable<HostedMatch>): void {
  for (const match of matches) {
    const message = `the matchmaker was closed before the end of match ${match.id} was confirmed`
    tellEnded(match, new MatchmakerClosed(message))
  }
}

/** The matches and servers that have ended lately: a command about one finds nothing left to do, and is no mistake. */
export type EndedMatches = ReturnType<typeof createEndedMatches>

/** Matches remembered (our choice). */
const REMEMBERED = 10_000

export function createEndedMatches() {
  const ended = new LRUCache<string, true>(growingTo(REMEMBERED))
  return { add: (id: string) => void ended.set(id, true), has: (id: string) => ended.has(id) }
}

/** The servers that exist or may exist, found by id, handle or credential, and the matches on them. */
export type Fleet = ReturnType<typeof createFleet>

interface FleetOptions {
  /** Receives what is removed. */
  readonly ended?: Pick<EndedMatches, 'add'> | undefined
  /** Called when the phase of a server, or of a match on it, or the players of that have changed. */
  readonly changed?: ((server: Server) => void) | undefined
  /** Called when a server is removed. */
  readonly gone?: ((server: Server) => void) | undefined
}

export function createFleet({ ended = createEndedMatches(), changed = () => {}, gone = () => {} }: FleetOptions = {}) {
  const servers = new Map<string, Server>()
  const matches = new Map<string, HostedMatch>()
  /** By handle and source: each source has its own handles. */
  const requested = new Map<string, Server>()
  const nameIn = (source: string | undefined, handle: string) => (source === undefined ? handle : `${source} ${handle}`)
  /** The number of servers of each source that exist or may exist. Those that have enrolled cost nothing. */
  const ofSource = new Map<string | undefined, number>()
  const countOf = (source: string | undefined) => ofSource.get(source) ?? 0
  let costly = 0
  const count = (server: Server, sign: 1 | -1) => {
    if (isEnrolled(server)) return
    ofSource.set(server.source, countOf(server.source) + sign)
    costly += sign
  }
  /** Of most servers the create waits for its turn: they are in none of these sets. */
  const starting = new Set<Server>()
  /** Those that run, or are being stopped. */
  const served = new Set<Server>()
  let servedCostly = 0
  /** Matches whose players were sent to their server, or are to be once that is stored. */
  const playing = new Set<HostedMatch>()
  /** The remembered players. */
  const players = new Map<string, HostedMatch>()

  const remember = (match: HostedMatch) => {
    const known = new Set(match.order?.tickets.flatMap((ticket) => ticket.players.map(({ id }) => id)))
    for (const id of match.playerIds) if (!known.has(id)) players.set(id, match)
  }
  const forgetPlayers = (match: HostedMatch) => {
    if (players.size === 0) return
    for (const id of match.playerIds) if (players.get(id) === match) players.delete(id)
  }
  const release = (server: Server) => {
    if (server.requestId !== undefined) requested.delete(nameIn(server.source, server.requestId))
    server.requestId = undefined
  }
  const tellChanged = ({ server }: HostedMatch) => {
    if (server !== undefined) changed(server)
  }
  const removeMatch = (match: HostedMatch) => {
    forgetPlayers(match)
    if (matches.get(match.id) === match) matches.delete(match.id)
    playing.delete(match)
    ended.add(match.id)
    tellEnded(match)
  }

  return {
    /** Adds a server, and the match for which alone it is. */
    add: (server: Server) => {
      servers.set(server.id, server)
      if (server.bornFor !== undefined) matches.set(server.bornFor.id, server.bornFor)
      count(server, 1)
    },
    addMatch: (match: HostedMatch) => void matches.set(match.id, match),
    /** Notes a change of phase, so that servers that do not run are counted. */
    enter: (server: Server, phase: ServerPhase) => {
      server.phase = phase
      if (servers.get(server.id) !== server) return
      if (phase === 'starting' || phase === 'warming' || phase === 'retrying') starting.add(server)
      else starting.delete(server)
      if ((phase === 'running' || phase === 'stopping') && !served.has(server)) {
        served.add(server)
        if (!isEnrolled(server)) servedCostly += 1
      }
      changed(server)
    },
    /** Notes that the players of a match may be sent to its server, or are. */
    enterMatch: (match: HostedMatch, phase: 'warming' | 'running') => {
      match.phase = phase
      if (matches.get(match.id) !== match) return
      playing.add(match)
      tellChanged(match)
    },
    /** Notes the id under which the deployment of a server exists. */
    identify: (server: Server, requestId: string) => {
      server.requestId = requestId
      requested.set(nameIn(server.source, requestId), server)
    },
    /** Notes that the deployment of a server is gone. */
    release,
    /** Remembers the players of a match of an earlier process who have no known tickets. */
    rememberPlayers: remember,
    /** Replaces the players of a match. */
    setPlayers: (match: HostedMatch, playerIds: readonly string[]) => {
      const isRemembered = match.playerIds.some((id) => players.get(id) === match)
      forgetPlayers(match)
      match.playerIds = playerIds
      if (isRemembered) remember(match)
      tellChanged(match)
    },
    /** The match of an earlier process in which the player plays, as far as its players are remembered. */
    playedBy: (playerId: string): HostedMatch | undefined => {
      if (players.size === 0) return undefined
      const match = players.get(playerId)
      // The match is over for its players once its server is being stopped.
      return match?.unwanted === undefined ? match : undefined
    },
    removeMatch,
    /** Removes a server, and the match for which alone it was. */
    remove: (server: Server) => {
      const isKnown = servers.delete(server.id)
      ended.add(server.id)
      starting.delete(server)
      if (served.delete(server) && !isEnrolled(server)) servedCostly -= 1
      if (isKnown) count(server, -1)
      const name = nameIn(server.source, server.requestId ?? '')
      if (requested.get(name) === server) requested.delete(name)
      gone(server)
      if (server.bornFor !== undefined) removeMatch(server.bornFor)
    },
    /** @param serverId that of a match finds the server that is for it alone */
    find: (serverId: string): Server | undefined => servers.get(serverId),
    match: (matchId: string): HostedMatch | undefined => matches.get(matchId),
    /** @param source its name; undefined: the deployment service */
    byRequest: (requestId: string, source?: string): Server | undefined => requested.get(nameIn(source, requestId)),
    /** By the ids that the server may have at its source: see `ServerOrder`. */
    byServerIds: (ids: readonly string[]): Server | undefined => {
      for (const id of ids) {
        const tag = tagOfCredential(id)
        for (const serverId of matchIdsOf(tag)) {
          const server = servers.get(serverId)
          if (server?.tag === tag) return server
        }
      }
      return undefined
    },
    all: (): MapIterator<Server> => servers.values(),
    matches: (): MapIterator<HostedMatch> => matches.values(),
    /** The servers that exist and do not run yet; also one that is stopped before another attempt. */
    starting: (): SetIterator<Server> => starting.values(),
    /** The servers that run, or are being stopped. */
    served: (): SetIterator<Server> => served.values(),
    /** The matches whose players were sent to their server, or are to be once that is stored. */
    playing: (): SetIterator<HostedMatch> => playing.values(),
    /** Number of servers that exist or may exist, without those that have enrolled. */
    count: () => costly,
    /** Number of servers of a source that exist or may exist. */
    countOf,
    /** Number of servers that do not run yet, whether or not they exist, and are not being stopped. */
    startingCount: () => costly - servedCostly,
  }
}

/**
 * Creates the function that replaces the players of a match, after some joined or left: `gone` are those who have
 * played and leave. A later process knows it too.
 */
export const createSetPlayers =
  (fleet: Pick<Fleet, 'setPlayers'>, writer: Pick<ServerLogWriter, 'note'>, clock: Pick<Clock, 'now'>) =>
  (match: HostedMatch, playerIds: readonly string[], gone: readonly string[] = []): void => {
    match.left = leftAfter(match.left, { playerIds, gone, at: dateOf(clock) })
    fleet.setPlayers(match, playerIds)
    void writer.note(playersEntry(match))
  }
