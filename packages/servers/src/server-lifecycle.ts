import type { Clock } from '@muster/core/clock'
import { type Allocations, type AllocatorListener, type MatchHosting, tellEnded } from './allocations.js'
import { Unavailable } from './errors.js'
import type { ServerLogWriter } from './store/index.js'
import type { Listening } from './port-probe.js'
import {
  type Allocation,
  credentialOf,
  type AllocationPhase,
  isEnrolled,
  isHosted,
  type Placement,
  placementOf,
  type Assignment,
  type ReturnReason,
  type ServerFailure,
} from './records/index.js'
import { ServerGone } from './game-servers/index.js'
import { createTimeouts } from './server-deadlines.js'
import type { ServerChange, ServerHint, Sources } from './sources/index.js'

/*
 * The phases of an allocation (`AllocationPhase`):
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

/** The life of an allocation after its create was sent: until its server runs, ends, or another attempt begins. */
export type ServerLifecycle = ReturnType<typeof createServerLifecycle>

/** Why there are no logs of a server that an earlier process has ordered. */
const LOGS_UNREAD = 'its logs were not read, as an earlier process ordered it and this one does not know its secrets'

interface ServerLifecycleOptions {
  readonly sources: Pick<Sources, 'of'>
  readonly clock: Pick<Clock, 'now'>
  readonly allocations: Allocations
  readonly writer: ServerLogWriter
  /** See `ServerLog`. */
  readonly resumes: boolean
  readonly listening: Pick<Listening, 'begin' | 'forget'>
  readonly hosted: MatchHosting
  /** The token of the server with this credential, which no log may show. */
  readonly tokenOf: (credential: string) => string
  /** Nothing is left of a server of a pool. Called before its record ends. */
  readonly ended: (server: Allocation) => void
  /** The deployment of its last attempt is gone: another attempt may begin. */
  readonly again: (allocation: Allocation) => void
  readonly on: AllocatorListener
}

export function createServerLifecycle(options: ServerLifecycleOptions) {
  const { sources, allocations, writer, resumes, listening, clock, again, hosted, tokenOf, on } = options

  const sourceOf = ({ source }: Allocation) => sources.of(source)

  const fail = (allocation: Allocation, reason: ReturnReason, counts: boolean | readonly string[], detail?: string) => {
    const { requestId } = allocation
    if (allocation.unwanted !== undefined) return
    if (requestId !== undefined && isFailure(reason)) on.faulty(allocation, requestId, reason, detail)
    allocation.unwanted = reason
    if (allocation.pool !== undefined) hosted.serverEnded(allocation, reason, counts)
    on.failed(allocation, reason, counts)
  }

  const crash = (allocation: Allocation, requestId: string, detail: string | undefined) => {
    allocation.unwanted ??= 'crashed'
    const areUnread = allocation.order === undefined && sourceOf(allocation).logs !== undefined
    const parts = areUnread ? [detail?.slice(0, 150), LOGS_UNREAD] : [detail]
    on.faulty(allocation, requestId, 'crashed', parts.filter((part) => part !== undefined).join('; ') || undefined)
  }

  const concludeMatch = (allocation: Allocation) => {
    const { phase, pool, unwanted: reason = 'ended' } = allocation
    if (phase === 'running' && pool === undefined) on.games.ended(allocation, reason)
  }

  const end = (allocation: Allocation) => {
    concludeMatch(allocation)
    if (allocation.pool !== undefined) hosted.serverEnded(allocation, allocation.unwanted ?? 'ended')
    allocations.remove(allocation)
    if (!isHosted(allocation)) sourceOf(allocation).ended(credentialOf(allocation.tag))
    if (allocation.pool !== undefined) options.ended(allocation)
    writer.note({ kind: 'settled', matchId: allocation.matchId })
    tellEnded(allocation)
  }

  /** Reads the logs of a server that failed: its stop takes them away. */
  const logsFirst = (allocation: Allocation, requestId: string): (() => Promise<void>) | undefined => {
    const { unwanted: reason, order } = allocation
    // Without the order it is not known which of its variables are secrets: nothing that the service tells has them.
    const { logs } = sourceOf(allocation)
    if (logs === undefined || order === undefined || reason === undefined || !isServerFailure(reason)) return undefined
    const secrets = [tokenOf(credentialOf(allocation.tag)), ...Object.values(order.deploy.hiddenEnvironment)]
    return async () => {
      const text = await logs(requestId, secrets)
      if (text !== undefined) on.logs(allocation, requestId, reason, text)
    }
  }

  const discard = (allocation: Allocation, requestId: string, confirmed: () => void) => {
    listening.forget(allocation)
    const first = logsFirst(allocation, requestId)
    sourceOf(allocation).stop({ handle: requestId, knownAt: allocation.knownAt, by: allocation, first, confirmed })
  }

  const drop = (allocation: Allocation) => {
    // A restart meanwhile must not take the server for one on which people play, or soon will.
    if (allocation.phase === 'running' || allocation.listensAt < Infinity || resumes)
      writer.note({ kind: 'dropped', matchId: allocation.matchId })
  }

  const stop = (allocation: Allocation, requestId: string) => {
    if (isHosted(allocation)) return hosted.release(allocation)
    if (allocation.pool !== undefined) hosted.serverEnded(allocation, allocation.unwanted ?? 'ended')
    concludeMatch(allocation)
    drop(allocation)
    allocations.enter(allocation, 'stopping')
    discard(allocation, requestId, () => {
      end(allocation)
      on.stopped(allocation, requestId, allocation.unwanted ?? 'ended')
    })
  }

  const stopTwin = (allocation: Allocation, requestId: string) => {
    const twins = (allocation.twins ??= new Set())
    if (twins.has(requestId)) return
    twins.add(requestId)
    sourceOf(allocation).stop({
      handle: requestId,
      knownAt: clock.now(),
      by: twins,
      confirmed: () => on.stopped(allocation, requestId, 'twin'),
    })
  }

  const known = (allocation: Allocation, requestId: string) => {
    allocations.identify(allocation, requestId)
    allocation.knownAt = clock.now()
    allocation.startedAfter = allocation.knownAt
  }

  const noteCreated = (allocation: Allocation, requestId: string) => {
    known(allocation, requestId)
    writer.note({ kind: 'created', matchId: allocation.matchId, requestId })
  }

  const tellCreated = (allocation: Allocation, requestId: string) => {
    on.created(allocation, requestId)
    allocation.charged = true
  }

  const follow = (allocation: Allocation, requestId: string) => {
    if (allocation.unwanted === undefined) {
      allocations.enter(allocation, 'starting')
      sourceOf(allocation).follow(requestId, kindOf(allocation))
    } else {
      stop(allocation, requestId)
    }
  }

  const exists = (allocation: Allocation, requestId: string) => {
    noteCreated(allocation, requestId)
    follow(allocation, requestId)
    tellCreated(allocation, requestId)
  }

  /**
   * Sends players to a server which listens. The store is written first: after a crash, a server that players know of
   * must not be taken for an orphan. While the store cannot be written, players are not notified; `createTimeouts`
   * bounds this time.
   */
  const assign = (allocation: Allocation) => {
    const { matchId, requestId, assignment, order } = allocation
    if (requestId === undefined || assignment === undefined) return
    const now = clock.now()
    allocation.listensAt = now
    if (order?.deploy.maxDurationMs !== undefined && !isEnrolled(allocation)) {
      allocation.lastsMs = now - allocation.startedAfter + order.deploy.maxDurationMs
      allocation.endsAt = now + order.deploy.maxDurationMs
    }
    const lastsMs = Number.isFinite(allocation.lastsMs) ? allocation.lastsMs : undefined
    const noted = writer.note({ kind: 'assigned', matchId, lastsMs, assignment })
    const tell = () => {
      // The match may have been dropped meanwhile, even by the store, which may know that a ticket was cancelled.
      if (allocation.phase !== 'warming') return
      allocations.enter(allocation, 'running')
      // A server of a pool waits for matches, and each of these for its players.
      const joinWithinMs = allocation.pool === undefined ? order?.deploy.joinWithinMs : undefined
      allocation.joinBy = clock.now() + (joinWithinMs ?? Infinity)
      on.ready(allocation, requestId, assignment)
      if (allocation.pool !== undefined) hosted.serverUp(allocation)
    }
    if (noted === undefined) tell()
    else void noted.then(tell)
  }

  const seen = (ids: readonly string[], handle: string, source: string | undefined) => {
    const allocation = allocations.byServerIds(ids)
    if (allocation === undefined || allocation.source !== source) return false
    if (allocation.phase === 'finding') {
      sourceOf(allocation).found(credentialOf(allocation.tag))
      exists(allocation, handle)
    } else if (allocation.requestId !== undefined && allocation.requestId !== handle) {
      stopTwin(allocation, handle)
    }
    return true
  }

  const lost = (id: string) => {
    const allocation = allocations.byServerIds([id])
    return allocation?.phase === 'finding' ? allocation : undefined
  }

  const endOverdue = createTimeouts({ allocations, fail, stop })

  return {
    /** The tickets leave the allocation; called once. @param detail what the service says of the server's failure. */
    fail,
    /** Sends the players of a match to its server, which listens. */
    assign,
    /** Nothing of the allocation is left. */
    end,
    /** The deployment exists, under this id: it was just created or found. */
    exists,
    /** The deployment exists, under this id, and an earlier process wrote so in the store. */
    adopt: (allocation: Allocation, requestId: string) => {
      known(allocation, requestId)
      follow(allocation, requestId)
    },
    /** Stops the deployment of an allocation. A match on a server of a pool only leaves it. */
    stop,
    /** Records that the deployment is not needed any more: no process continues with it. */
    drop,
    /** A server exists that is not followed: see `SourceListener`. */
    seen,
    late: (id: string) => {
      const allocation = lost(id)
      if (allocation !== undefined) fail(allocation, 'lost', false)
    },
    absent: (id: string) => {
      const allocation = lost(id)
      if (allocation !== undefined) end(allocation)
    },
    /**
     * Its deployment may exist, under an id that is not known.
     * @param lostAt epoch milliseconds; undefined: now.
     */
    lose: (allocation: Allocation, lostAt?: number) => {
      allocations.enter(allocation, 'finding')
      // A clock that was set back must not prevent the search.
      sourceOf(allocation).find({
        id: credentialOf(allocation.tag),
        lostAt: Math.min(lostAt ?? Infinity, clock.now()),
        isAwaited: allocation.order !== undefined,
      })
      if (lostAt === undefined) writer.note({ kind: 'lost', matchId: allocation.matchId, at: clock.now() })
    },

    /** The deployment is not needed, and must be gone before another attempt. */
    retry: (allocation: Allocation, requestId: string) => {
      noteCreated(allocation, requestId)
      allocations.enter(allocation, 'retrying')
      discard(allocation, requestId, () => {
        // The match is dropped first, so that it does not count as stopped.
        allocations.release(allocation)
        on.stopped(allocation, requestId, 'no-capacity')
        if (allocation.unwanted === undefined) again(allocation)
        else end(allocation)
      })
      tellCreated(allocation, requestId)
    },

    /** Called with what the source finds out. */
    changed: (change: ServerChange, source: string | undefined) => {
      const { handle: requestId } = change
      const allocation = allocations.byRequest(requestId, source)
      if (allocation === undefined || allocation.phase === 'stopping' || allocation.phase === 'retrying') return
      if (change.kind !== 'ready') {
        const detail = change.kind === 'failed' ? change.detail : undefined
        if (allocation.phase !== 'running') fail(allocation, 'failed', true, detail ?? EARLY)
        else if (change.kind === 'gone') allocation.unwanted ??= 'ended'
        else crash(allocation, requestId, detail)
        // The end of its match may have stopped it already.
        if ((allocation.phase as AllocationPhase) !== 'stopping') stop(allocation, requestId)
      } else if (allocation.phase === 'starting') {
        allocations.enter(allocation, 'warming')
        allocation.assignment = {
          server: credentialOf(allocation.tag),
          ...withPromise(change.assignment, placementOf(allocation)),
        }
        sourceOf(allocation).settle(requestId)
        on.up(allocation, requestId, change.unseenMs)
        // A listener may have dropped the match.
        if ((allocation.phase as AllocationPhase) === 'warming') listening.begin(allocation, change.assignment)
      }
    },

    /** The server listens, so that players may connect; or the probe failed. */
    listened: (allocation: Allocation, listens: boolean) => {
      if (allocation.phase !== 'warming' || allocation.requestId === undefined) return
      if (listens) return assign(allocation)
      fail(allocation, 'not-listening', true)
      stop(allocation, allocation.requestId)
    },

    /** Something may have happened to the server of this match. @param hint what its source says, if anything. */
    hinted: (allocation: Allocation, hint: ServerHint | undefined) => {
      const { phase, requestId } = allocation
      const source = sourceOf(allocation)
      if (phase === 'finding') source.hint({ id: credentialOf(allocation.tag) })
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
    assertFollowed: (allocation: Allocation, deployment: string | undefined) => {
      const { phase, requestId, matchId, tag, unwanted, twins } = allocation
      // At other sources an id is one server: what a deployment is called there says nothing.
      if (deployment === undefined || deployment === requestId || allocation.source !== undefined) return
      const source = sourceOf(allocation)
      if (requestId === undefined) {
        if (phase === 'finding') source.claimed(credentialOf(tag))
        // One that is not wanted ends in any case.
        if (unwanted === undefined) throw new Unavailable('It is not known yet in which deployment this server runs.')
        return
      }
      if (twins?.has(deployment) !== true) source.claimed(credentialOf(tag))
      if (writer.written(matchId) !== undefined)
        throw new Unavailable('The deployment of this server is not stored yet.')
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
const kindOf = ({ order, queue }: Allocation) =>
  order === undefined ? queue : `${order.deploy.application}/${order.deploy.version}`

const isServerFailure = (reason: string): reason is ServerFailure =>
  ['failed', 'too-slow', 'not-listening', 'crashed'].includes(reason)

const isFailure = (reason: ReturnReason): reason is Exclude<ServerFailure, 'crashed'> =>
  reason === 'failed' || reason === 'too-slow' || reason === 'not-listening'

/** What is said of a deployment that ended without an error before it was READY. */
const EARLY = 'the deployment ended before it was READY'
