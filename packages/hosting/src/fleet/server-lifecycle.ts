import type { Clock } from '@muster/core/clock'
import type { AllocatorListener, Fleet, MatchHosting } from './fleet.js'
import { Unavailable } from '../errors.js'
import type { ServerLogWriter } from '../store/index.js'
import type { Listening } from './port-probe.js'
import {
  type Assignment,
  isEnrolled,
  overEntries,
  type Placement,
  placementOf,
  type ReturnReason,
  type Server,
  type ServerFailure,
  type ServerPhase,
} from '../records/index.js'
import { ServerGone } from '../game-servers/index.js'
import { createTimeouts } from './server-deadlines.js'
import type { ServerChange, ServerHint, Sources } from '../sources/index.js'

/*
 * The phases of a server (`ServerPhase`):
 *
 *   creating ── answered ──▶ starting ── READY ──▶ warming ── listens ──▶ running
 *    │  │  ▲                 ▲
 *    │  │  └─ another place ─┼─ retrying: no capacity; what was created in spite of it is stopped first
 *    │  │                    │     ▲
 *    │  └─ no capacity ──────┼─────┘
 *    └─ answer lost ──▶ finding ── found by its tag
 *                            └── not found ──▶ gone
 *
 *   starting, warming, running ── failed, too slow, or not wanted any more ──▶ stopping ── confirmed ──▶ gone
 */

/** The life of a server after its create was sent: until it runs, ends, or another attempt begins. */
export type ServerLifecycle = ReturnType<typeof createServerLifecycle>

/** Why there are no logs of a server that an earlier process has ordered. */
const LOGS_UNREAD = 'its logs were not read, as an earlier process ordered it and this one does not know its secrets'

interface ServerLifecycleOptions {
  readonly sources: Pick<Sources, 'of'>
  readonly clock: Pick<Clock, 'now'>
  readonly fleet: Fleet
  readonly writer: ServerLogWriter
  /** See `ServerLog`. */
  readonly resumes: boolean
  readonly listening: Pick<Listening, 'begin' | 'forget'>
  readonly matches: MatchHosting
  /** The token of the server with this credential, which no log may show. */
  readonly tokenOf: (credential: string) => string
  /** Nothing is left of a server. Called before its record ends. */
  readonly ended: (server: Server) => void
  /** The deployment of its last attempt is gone: another attempt may begin. */
  readonly again: (server: Server) => void
  readonly on: AllocatorListener
}

export function createServerLifecycle(options: ServerLifecycleOptions) {
  const { sources, fleet, writer, resumes, listening, clock, again, matches, tokenOf, on } = options

  const sourceOf = ({ source }: Server) => sources.of(source)

  const fail = (server: Server, reason: ReturnReason, counts: boolean | readonly string[], detail?: string) => {
    const { requestId, unwanted } = server
    if (unwanted !== undefined) return
    if (requestId !== undefined && isFailure(reason)) on.faulty(server, requestId, reason, detail)
    server.unwanted = reason
    matches.serverEnded(server, reason, counts)
  }

  const crash = (server: Server, requestId: string, detail: string | undefined) => {
    server.unwant('crashed')
    const areUnread = server.order === undefined && sourceOf(server).logs !== undefined
    const parts = areUnread ? [detail?.slice(0, 150), LOGS_UNREAD] : [detail]
    on.faulty(server, requestId, 'crashed', parts.filter((part) => part !== undefined).join('; ') || undefined)
  }

  /** Nothing is left of it. */
  const end = (server: Server) => {
    const why = server.unwanted ?? 'ended'
    matches.serverEnding(server, why)
    const { bornFor } = server
    matches.serverEnded(server, why)
    fleet.remove(server)
    sourceOf(server).ended(server.credential)
    options.ended(server)
    writer.note({ kind: 'gone', serverId: server.id }, ...overEntries(bornFor === undefined ? [] : [bornFor]))
  }

  /** Reads the logs of a server that failed: its stop takes them away. */
  const logsFirst = (server: Server, requestId: string): (() => Promise<void>) | undefined => {
    const { unwanted: reason, order } = server
    // Without the order it is not known which of its variables are secrets: nothing that the service tells has them.
    const { logs } = sourceOf(server)
    if (logs === undefined || order === undefined || reason === undefined || !isServerFailure(reason)) return undefined
    const secrets = [tokenOf(server.credential), ...Object.values(order.deploy.hiddenEnvironment)]
    return async () => {
      const text = await logs(requestId, secrets)
      if (text !== undefined) on.logs(server, requestId, reason, text)
    }
  }

  const discard = (server: Server, requestId: string, confirmed: () => void) => {
    listening.forget(server)
    const first = logsFirst(server, requestId)
    sourceOf(server).stop({ handle: requestId, knownAt: server.knownAt, by: server, first, confirmed })
  }

  const drop = (server: Server) => {
    // A restart meanwhile must not take it for one on which people play, or soon will.
    if (server.phase === 'running' || server.listensAt < Infinity || resumes)
      writer.note({ kind: 'dropped', serverId: server.id }, ...overEntries(server.guests))
  }

  const stop = (server: Server, requestId: string) => {
    const why = server.unwanted ?? 'ended'
    matches.serverEnding(server, why)
    drop(server)
    fleet.enter(server, 'stopping')
    matches.serverEnded(server, why)
    discard(server, requestId, () => {
      const reason = server.unwanted ?? 'ended'
      end(server)
      on.stopped(server, requestId, reason)
    })
  }

  const stopTwin = (server: Server, requestId: string) => {
    const twins = (server.twins ??= new Set())
    if (twins.has(requestId)) return
    twins.add(requestId)
    sourceOf(server).stop({
      handle: requestId,
      knownAt: clock.now(),
      by: twins,
      confirmed: () => on.stopped(server, requestId, 'twin'),
    })
  }

  const known = (server: Server, requestId: string) => {
    fleet.identify(server, requestId)
    server.knownAt = clock.now()
    server.startedAfter = server.knownAt
  }

  const noteCreated = (server: Server, requestId: string) => {
    known(server, requestId)
    writer.note({ kind: 'created', serverId: server.id, requestId })
  }

  const tellCreated = (server: Server, requestId: string) => {
    on.created(server, requestId)
    server.charged = true
  }

  const follow = (server: Server, requestId: string) => {
    if (server.unwanted === undefined) {
      fleet.enter(server, 'starting')
      sourceOf(server).follow(requestId, kindOf(server))
    } else {
      stop(server, requestId)
    }
  }

  const exists = (server: Server, requestId: string) => {
    noteCreated(server, requestId)
    follow(server, requestId)
    tellCreated(server, requestId)
  }

  /**
   * It listens. The store is written before players are sent there: after a crash, a server that players know of must
   * not be taken for an orphan. While the store cannot be written, players are not told; `createTimeouts` bounds
   * this time.
   */
  const listens = (server: Server) => {
    const { id, requestId, assignment, order, bornFor } = server
    if (requestId === undefined || assignment === undefined) return
    const now = clock.now()
    server.listensAt = now
    if (order?.deploy.maxDurationMs !== undefined && !isEnrolled(server)) {
      server.lastsMs = now - server.startedAfter + order.deploy.maxDurationMs
      server.endsAt = now + order.deploy.maxDurationMs
    }
    const lastsMs = Number.isFinite(server.lastsMs) ? server.lastsMs : undefined
    const playing = bornFor === undefined ? [] : [{ kind: 'playing' as const, matchId: bornFor.id, at: now }]
    const noted = writer.note({ kind: 'up', serverId: id, lastsMs, assignment }, ...playing)
    const runs = () => {
      // It may have been dropped meanwhile, even by the store, which may know that a ticket was cancelled.
      if (server.phase !== 'warming') return
      fleet.enter(server, 'running')
      matches.serverUp(server)
    }
    if (noted === undefined) runs()
    else void noted.then(runs)
  }

  const seen = (ids: readonly string[], handle: string, source: string | undefined) => {
    const server = fleet.byServerIds(ids)
    if (server === undefined || server.source !== source) return false
    if (server.phase === 'finding') {
      sourceOf(server).found(server.credential)
      exists(server, handle)
    } else if (server.requestId !== undefined && server.requestId !== handle) {
      stopTwin(server, handle)
    }
    return true
  }

  const lost = (id: string) => {
    const server = fleet.byServerIds([id])
    return server?.phase === 'finding' ? server : undefined
  }

  const endOverdue = createTimeouts({ fleet, fail, stop })

  return {
    /** Its matches leave it; called once. @param detail what the service says of the server's failure. */
    fail,
    /** It listens: its matches can be played. */
    listens,
    /** Nothing of it is left. */
    end,
    /** The deployment exists, under this id: it was just created or found. */
    exists,
    /** The deployment exists, under this id, and an earlier process wrote so in the store. */
    adopt: (server: Server, requestId: string) => {
      known(server, requestId)
      follow(server, requestId)
    },
    /** Stops the deployment; its matches end at once. */
    stop,
    /** Records that the deployment is not needed any more: no process continues with it. */
    drop,
    /** A server exists that is not followed: see `SourceListener`. */
    seen,
    late: (id: string) => {
      const server = lost(id)
      if (server !== undefined) fail(server, 'lost', false)
    },
    absent: (id: string) => {
      const server = lost(id)
      if (server !== undefined) end(server)
    },
    /**
     * Its deployment may exist, under an id that is not known.
     * @param lostAt epoch milliseconds; undefined: now.
     */
    lose: (server: Server, lostAt?: number) => {
      fleet.enter(server, 'finding')
      // A clock that was set back must not prevent the search.
      sourceOf(server).find({
        id: server.credential,
        lostAt: Math.min(lostAt ?? Infinity, clock.now()),
        isAwaited: server.order !== undefined,
      })
      if (lostAt === undefined) writer.note({ kind: 'lost', serverId: server.id, at: clock.now() })
    },

    /** The deployment is not needed, and must be gone before another attempt. */
    retry: (server: Server, requestId: string) => {
      noteCreated(server, requestId)
      fleet.enter(server, 'retrying')
      discard(server, requestId, () => {
        // The match is dropped first, so that it does not count as stopped.
        fleet.release(server)
        on.stopped(server, requestId, 'no-capacity')
        if (server.unwanted === undefined) again(server)
        else end(server)
      })
      tellCreated(server, requestId)
    },

    /** Called with what the source finds out. */
    changed: (change: ServerChange, source: string | undefined) => {
      const { handle: requestId } = change
      const server = fleet.byRequest(requestId, source)
      if (server === undefined || server.phase === 'stopping' || server.phase === 'retrying') return
      if (change.kind !== 'ready') {
        const detail = change.kind === 'failed' ? change.detail : undefined
        if (server.phase !== 'running') fail(server, 'failed', true, detail ?? EARLY)
        else if (change.kind === 'gone') server.unwant('ended')
        else crash(server, requestId, detail)
        // The end of its match may have stopped it already.
        if ((server.phase as ServerPhase) !== 'stopping') stop(server, requestId)
      } else if (server.phase === 'starting') {
        fleet.enter(server, 'warming')
        server.assignment = {
          server: server.credential,
          ...withPromise(change.assignment, placementOf(server)),
        }
        sourceOf(server).settle(requestId)
        on.up(server, requestId, change.unseenMs)
        // A listener may have dropped the match.
        if ((server.phase as ServerPhase) === 'warming') listening.begin(server, change.assignment)
      }
    },

    /** Whether it listens was found out. */
    listened: (server: Server, isListening: boolean) => {
      if (server.phase !== 'warming' || server.requestId === undefined) return
      if (isListening) return listens(server)
      fail(server, 'not-listening', true)
      stop(server, server.requestId)
    },

    /** Something may have happened to the server of this match. @param hint what its source says, if anything. */
    hinted: (server: Server, hint: ServerHint | undefined) => {
      const { phase, requestId } = server
      const source = sourceOf(server)
      if (phase === 'finding') source.hint({ id: server.credential })
      // The hint may come before the create is answered.
      else if (phase === 'creating' && hint !== undefined) source.hint({ handle: hint.handle })
      // That it is READY is known by then, and to read it again would cost others their time.
      else if (requestId !== undefined && (phase === 'starting' || hint?.isReady !== true))
        source.hint({ handle: requestId })
    },

    /**
     * A process with the token of this server says in which deployment it runs. That is a claim: a hostile process
     * may name any. So it decides only about that process. What is followed and stopped, the source decides,
     * by the id of the server.
     * @throws {ServerGone} for a twin: another deployment of the same create. {Unavailable} until it is known, and
     * stored, which deployment is followed
     */
    assertFollowed: (server: Server, deployment: string | undefined) => {
      const { id, phase, requestId, credential, unwanted, twins } = server
      // At other sources an id is one server: what a deployment is called there says nothing.
      if (deployment === undefined || deployment === requestId || server.source !== undefined) return
      const source = sourceOf(server)
      if (requestId === undefined) {
        if (phase === 'finding') source.claimed(credential)
        // One that is not wanted ends in any case.
        if (unwanted === undefined) throw new Unavailable('It is not known yet in which deployment this server runs.')
        return
      }
      if (twins?.has(deployment) !== true) source.claimed(credential)
      if (writer.written(id) !== undefined) throw new Unavailable('The deployment of this server is not stored yet.')
      throw new ServerGone('Players are sent to another deployment of this server. End this process.')
    },

    /** Ends what exceeds its time. */
    advance: endOverdue,
  }
}

const withPromise = (assignment: Assignment, placement: Placement | undefined): Assignment =>
  placement === undefined
    ? assignment
    : { ...assignment, promised: { beacon: placement.beacon, latencyMs: placement.limitMs } }

/** Key of deployments that take about the same time to start. */
const kindOf = ({ order, queue }: Server) =>
  order === undefined ? queue : `${order.deploy.application}/${order.deploy.version}`

const isServerFailure = (reason: string): reason is ServerFailure =>
  ['failed', 'too-slow', 'not-listening', 'crashed'].includes(reason)

const isFailure = (reason: ReturnReason): reason is Exclude<ServerFailure, 'crashed'> =>
  reason === 'failed' || reason === 'too-slow' || reason === 'not-listening'

/** What is said of a deployment that ended without an error before it was READY. */
const EARLY = 'the deployment ended before it was READY'
