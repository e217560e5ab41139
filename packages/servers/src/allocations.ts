import { type Clock, dateOf } from '@muster/core/clock'
import { growingTo } from '@muster/core/internal'
import { LRUCache } from 'lru-cache'
import { MatchmakerClosed } from './errors.js'
import type { GameServerListener, ServerListener } from './game-servers/index.js'
import type { ServerLogWriter } from './store/index.js'
import {
  type Allocation,
  type AllocationPhase,
  isEnrolled,
  isHosted,
  NOBODY,
  type Activity,
  type Assignment,
  type ReturnReason,
  type ServerFailure,
  type StopReason,
  leftAfter,
  matchIdsOf,
  tagOfCredential,
  playersEntry,
} from './records/index.js'

/** Called with the outcomes of allocations. */
export interface AllocatorListener {
  created(allocation: Allocation, requestId: string): void
  /** These players are the first to use a server of a pool that was not created for them. */
  used(playerIds: readonly string[]): void
  /** The server became READY at most `unseenMs` ago; whether it listens is checked next. */
  up(allocation: Allocation, requestId: string, unseenMs: number): void
  /** The server listens: players may connect. */
  ready(allocation: Allocation, requestId: string, assignment: Assignment): void
  /** Its tickets go back to the queue. @param counts whether that is a failed attempt, of all tickets or of these */
  failed(allocation: Allocation, reason: ReturnReason, counts: boolean | readonly string[]): void
  /** The server failed. The next call says what happens to its match. @param detail text of the deployment service. */
  faulty(allocation: Allocation, requestId: string, reason: ServerFailure, detail: string | undefined): void
  /** What the container of a server that failed wrote at its end, without secrets and addresses. */
  logs(allocation: Allocation, requestId: string, reason: ServerFailure, text: string): void
  /** The deployment is stopped or gone; or that of the server of a pool on which the match was played. */
  stopped(allocation: Allocation, requestId: string, reason: StopReason): void
  /** A deployment with the tag of this matchmaker that belonged to no match was stopped. */
  reaped(requestId: string): void
  problem(during: Activity, error: unknown, allocation?: Allocation, requestId?: string): void
  /** Knows who plays a match, and hears what its server says of it. */
  readonly games: Pick<GameServerListener, 'rosterOf' | 'left' | 'over' | 'seatsWanted'> & {
    /** A match whose players were sent to its server ends, before that is written; also one that is over by `over`. */
    ended(match: Allocation, reason: StopReason): void
  }
  /** Hears of game servers. */
  readonly servers: ServerListener
}

/** Matches on servers of pools, as the lives of servers touch them. */
export interface MatchHosting {
  /** The match needs its server no more: the server stays. */
  release(match: Allocation): void
  /** The server of a pool runs: where players connect is known. */
  serverUp(server: Allocation): void
  /**
   * The server of a pool fails, is stopped or gone, and its matches with it.
   * @param counts see `AllocatorListener.failed`. Default: no.
   */
  serverEnded(server: Allocation, reason: ReturnReason | StopReason, counts?: boolean | readonly string[]): void
}

/** Resolves when the server of the match is gone. @throws {MatchmakerClosed} */
export const whenEnded = (allocation: Allocation): Promise<void> =>
  new Promise((resolve, reject) => {
    allocation.ended = [...allocation.ended, (error) => (error === undefined ? resolve() : reject(error))]
  })

/** Tells all who wait that the server is gone, or that this can no longer be found out. */
export function tellEnded(allocation: Allocation, error?: Error): void {
  const { ended } = allocation
  allocation.ended = NOBODY
  for (const tell of ended) tell(error)
}

export function rejectAll(allocations: Iterable<Allocation>): void {
  for (const allocation of allocations) {
    const message = `the matchmaker was closed before the end of match ${allocation.matchId} was confirmed`
    tellEnded(allocation, new MatchmakerClosed(message))
  }
}

/** The matches that have ended lately: a command about one of them finds nothing left to do, and is no mistake. */
export type EndedMatches = ReturnType<typeof createEndedMatches>

/** Matches remembered (our choice). */
const REMEMBERED = 10_000

export function createEndedMatches() {
  const ended = new LRUCache<string, true>(growingTo(REMEMBERED))
  return { add: (matchId: string) => void ended.set(matchId, true), has: (matchId: string) => ended.has(matchId) }
}

/** The matches whose deployment exists or may exist, found by match, deployment or tag. */
export type Allocations = ReturnType<typeof createAllocations>

interface AllocationsOptions {
  /** Receives the matches that are removed. */
  readonly ended?: Pick<EndedMatches, 'add'> | undefined
  /** Called when the phase or the players of a match have changed, and when it is removed. */
  readonly changed?: ((allocation: Allocation) => void) | undefined
}

export function createAllocations({ ended = createEndedMatches(), changed = () => {} }: AllocationsOptions = {}) {
  const matches = new Map<string, Allocation>()
  /** By handle and source: each source has its own handles. */
  const requested = new Map<string, Allocation>()
  const nameIn = (source: string | undefined, handle: string) => (source === undefined ? handle : `${source} ${handle}`)
  /** The number of servers of each source that exist or may exist. */
  const ofSource = new Map<string | undefined, number>()
  const countOf = (source: string | undefined) => ofSource.get(source) ?? 0
  /** Of most matches the create waits for its turn: they are in none of these sets. */
  const starting = new Set<Allocation>()
  /** Those that have players, or are being stopped. */
  const served = new Set<Allocation>()
  /** The remembered players. */
  const players = new Map<string, Allocation>()
  const remember = (allocation: Allocation) => {
    const known = new Set(allocation.order?.tickets.flatMap((ticket) => ticket.players.map(({ id }) => id)))
    for (const id of allocation.playerIds) if (!known.has(id)) players.set(id, allocation)
  }
  const forgetPlayers = (allocation: Allocation) => {
    if (players.size === 0) return
    for (const id of allocation.playerIds) if (players.get(id) === allocation) players.delete(id)
  }
  const release = (allocation: Allocation) => {
    if (allocation.requestId !== undefined) requested.delete(nameIn(allocation.source, allocation.requestId))
    allocation.requestId = undefined
  }
  /** What costs nothing: matches on servers of pools, and servers that have enrolled. */
  const free = new Set<Allocation>()
  let servedFree = 0
  const serve = (allocation: Allocation) => {
    if (served.has(allocation)) return
    served.add(allocation)
    if (free.has(allocation)) servedFree += 1
  }
  return {
    add: (allocation: Allocation) => {
      matches.set(allocation.matchId, allocation)
      if (isHosted(allocation) || isEnrolled(allocation)) free.add(allocation)
      else ofSource.set(allocation.source, countOf(allocation.source) + 1)
    },
    /** Notes a change of phase, so that deployments without players are counted. */
    enter: (allocation: Allocation, phase: AllocationPhase) => {
      allocation.phase = phase
      if (matches.get(allocation.matchId) !== allocation) return
      if (phase === 'starting' || phase === 'warming' || phase === 'retrying') starting.add(allocation)
      else starting.delete(allocation)
      if (phase === 'running' || phase === 'stopping') serve(allocation)
      changed(allocation)
    },
    /** Notes the id under which the match's deployment exists. */
    identify: (allocation: Allocation, requestId: string) => {
      allocation.requestId = requestId
      requested.set(nameIn(allocation.source, requestId), allocation)
    },
    /** Notes that the match's deployment is gone. */
    release,
    /** Remembers the players of a match of an earlier process who have no known tickets. */
    rememberPlayers: remember,
    /** Replaces the players of a match. */
    setPlayers: (allocation: Allocation, playerIds: readonly string[]) => {
      const isRemembered = allocation.playerIds.some((id) => players.get(id) === allocation)
      forgetPlayers(allocation)
      allocation.playerIds = playerIds
      if (isRemembered) remember(allocation)
      changed(allocation)
    },
    /** The match of an earlier process in which the player plays, as far as its players are remembered. */
    playedBy: (playerId: string): Allocation | undefined => {
      if (players.size === 0) return undefined
      const allocation = players.get(playerId)
      // The match is over for its players once its server is being stopped.
      return allocation?.unwanted === undefined ? allocation : undefined
    },
    remove: (allocation: Allocation) => {
      forgetPlayers(allocation)
      const isKnown = matches.delete(allocation.matchId)
      ended.add(allocation.matchId)
      starting.delete(allocation)
      if (served.delete(allocation) && free.has(allocation)) servedFree -= 1
      if (!free.delete(allocation) && isKnown) ofSource.set(allocation.source, countOf(allocation.source) - 1)
      const name = nameIn(allocation.source, allocation.requestId ?? '')
      if (requested.get(name) === allocation) requested.delete(name)
      changed(allocation)
    },
    find: (matchId: string): Allocation | undefined => matches.get(matchId),
    /** @param source its name; undefined: the deployment service */
    byRequest: (requestId: string, source?: string): Allocation | undefined => requested.get(nameIn(source, requestId)),
    /** By the ids that its server may have: see `ServerOrder`. */
    byServerIds: (ids: readonly string[]): Allocation | undefined => {
      for (const id of ids) {
        const tag = tagOfCredential(id)
        for (const matchId of matchIdsOf(tag)) {
          const allocation = matches.get(matchId)
          if (allocation?.tag === tag) return allocation
        }
      }
      return undefined
    },
    all: (): IterableIterator<Allocation> => matches.values(),
    /** The matches whose deployment exists, and has no players yet; also one that is stopped before another attempt. */
    starting: (): SetIterator<Allocation> => starting.values(),
    /** The matches whose deployment has players, or is being stopped. */
    served: (): SetIterator<Allocation> => served.values(),
    /** Number of deployments that exist or may exist, without servers that have enrolled. */
    count: () => matches.size - free.size,
    /** Number of servers of a source that exist or may exist. */
    countOf,
    /** Number of matches whose deployment has no players yet, whether or not it exists, and is not being stopped. */
    startingCount: () => matches.size - free.size - (served.size - servedFree),
  }
}

/**
 * Creates the function that replaces the players of a match, after some joined or left: `gone` are those who have
 * played and leave. A later process knows it too.
 */
export const createSetPlayers =
  (allocations: Pick<Allocations, 'setPlayers'>, writer: Pick<ServerLogWriter, 'note'>, clock: Pick<Clock, 'now'>) =>
  (allocation: Allocation, playerIds: readonly string[], gone: readonly string[] = []): void => {
    allocation.left = leftAfter(allocation.left, { playerIds, gone, at: dateOf(clock) })
    allocations.setPlayers(allocation, playerIds)
    void writer.note(playersEntry(allocation))
  }
