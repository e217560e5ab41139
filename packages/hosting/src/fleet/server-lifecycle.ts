import type { AllocatorContext } from './allocator-context.js'
import type { HostedMatches } from './hosted-matches.js'
import { Unavailable } from '../errors.js'
import type { ListenCheck } from './port-probe.js'
import {
  type Assignment,
  isEnrolled,
  matchEndEntries,
  type Placement,
  placementOf,
  type ReturnReason,
  type Server,
  type ServerFailure,
} from '../records/index.js'
import { ServerGone } from '../game-servers/index.js'
import { ENDS_GAP_MS, STORE_PATIENCE_MS } from './server-deadlines.js'
import { phaseAfterRestart, type StoredProgress, workOf } from './server-state.js'
import type { ServerChange, ServerHint, OpenedSource } from '../sources/index.js'

/** Why there are no logs of a server that an earlier process has ordered. */
const LOGS_UNREAD = 'its logs were not read, as an earlier process ordered it and this one does not know its secrets'

/** Milliseconds for which tickets wait for the stop of a deployment without capacity. Then they search again. */
const RETRY_PATIENCE_MS = 10_000

interface ServerLifecycleOptions extends AllocatorContext {
  readonly listening: Pick<ListenCheck, 'begin' | 'forget'>
  readonly matches: Pick<HostedMatches, 'serverListens' | 'serverUp' | 'serverEnding' | 'serverEnded'>
  /** Called when nothing is left of a server, before its record ends. */
  readonly ended: (server: Server) => void
  /** Sends the create of a server whose intent is stored. */
  readonly create: (server: Server) => void
  /** Called when the deployment of the server's last attempt is gone. Another attempt may begin. */
  readonly again: (server: Server) => void
}

/**
 * The life of a server after its create was sent: until it runs, ends, or another attempt begins. `stepServer` decides
 * its phase, and `workOf` what is done.
 */
export class ServerLifecycle {
  readonly #options: ServerLifecycleOptions
  readonly #fleet: ServerLifecycleOptions['fleet']
  readonly #writer: ServerLifecycleOptions['writer']
  readonly #on: ServerLifecycleOptions['on']
  #nextEndsAt = 0

  constructor(options: ServerLifecycleOptions) {
    this.#options = options
    this.#fleet = options.fleet
    this.#writer = options.writer
    this.#on = options.on
  }

  /** Removes the server's matches. Only the first call has an effect. @param detail the source's failure message */
  fail(server: Server, reason: ReturnReason, counts: boolean | readonly string[], detail?: string): void {
    const { requestId, stopReason } = server
    if (stopReason !== undefined) return
    if (requestId !== undefined && isFailure(reason)) this.#on.faulty(server, requestId, reason, detail)
    server.stopReason = reason
    this.#options.matches.serverEnded(server, reason, counts)
  }

  /** Removes the matches of a server and stops it, unless the end of the matches has done that. */
  failAndStop(server: Server, reason: ReturnReason, counts: boolean, detail?: string): void {
    this.fail(server, reason, counts, detail)
    this.#stopOnce(server)
  }

  /**
   * Called when the server listens. The store is written before players are sent there, because after a crash a server
   * that players know must not be taken for an orphan. While the store cannot be written, players get no address.
   * `advance` limits this time.
   */
  listens(server: Server): void {
    const { id, requestId, assignment, order } = server
    if (requestId === undefined || assignment === undefined) return
    const now = this.#options.clock.now()
    server.listensAt = now
    if (order?.deploy.maxDurationMs !== undefined && !isEnrolled(server)) {
      server.lastsMs = now - server.startedAfter + order.deploy.maxDurationMs
      server.endsAt = now + order.deploy.maxDurationMs
    }
    const lastsMs = Number.isFinite(server.lastsMs) ? server.lastsMs : undefined
    const playing = this.#options.matches.serverListens(server)
    const noted = this.#writer.note({ kind: 'up', serverId: id, lastsMs, assignment }, ...playing)
    const runs = () => {
      // The server may have been dropped meanwhile, even by the store, which may know that a ticket was cancelled.
      if (this.#fleet.step(server, 'recorded')) this.#options.matches.serverUp(server)
    }
    if (noted === undefined) runs()
    else void noted.then(runs)
  }

  /** Called when nothing of the server is left. */
  end(server: Server): void {
    const { matches, ended } = this.#options
    const why = server.stopReason ?? 'ended'
    matches.serverEnding(server, why)
    matches.serverEnded(server, why)
    this.#fleet.remove(server)
    this.#sourceOf(server).ended(server.credential)
    ended(server)
    this.#writer.note({ kind: 'gone', serverId: server.id }, ...matchEndEntries(server.bound))
  }

  /** Called when the server exists under this id, because it was just created or found. */
  exists(server: Server, requestId: string): void {
    this.#noteCreated(server, requestId)
    this.#fleet.step(server, 'created')
    this.#work(server)
    this.#tellCreated(server, requestId)
  }

  /** Called when the response to the create was lost: the server may exist under an unknown id. */
  lose(server: Server): void {
    this.#fleet.step(server, 'lost')
    this.#work(server)
  }

  /**
   * Continues with a server that an earlier process has recorded.
   * @param lostAt epoch milliseconds since when it is looked for. Undefined: from now on
   */
  resume(server: Server, { lostAt, ...stored }: StoredProgress & { readonly lostAt?: number | undefined }): void {
    if (stored.requestId !== undefined) this.#know(server, stored.requestId)
    this.#fleet.enter(server, phaseAfterRestart(stored))
    this.#work(server, lostAt)
  }

  /** Stops a server. Its matches end at once. */
  stop(server: Server): void {
    const { requestId } = server
    if (requestId === undefined) return
    const why = server.stopReason ?? 'ended'
    this.#options.matches.serverEnding(server, why)
    this.drop(server)
    this.#fleet.step(server, 'unwanted')
    this.#options.matches.serverEnded(server, why)
    this.#discard(server, requestId, () => {
      const reason = server.stopReason ?? 'ended'
      this.end(server)
      this.#on.stopped(server, requestId, reason)
    })
  }

  /** Records that a server is no longer needed, so that no process continues with it. */
  drop(server: Server): void {
    // After a restart, the server must not be taken for one on which people play, or soon will.
    if (server.phase === 'running' || server.listensAt < Infinity || this.#writer.resumes)
      this.#writer.note({ kind: 'dropped', serverId: server.id }, ...matchEndEntries(server.guests))
  }

  /** Stops what a create without capacity left behind. It must be gone before another attempt. */
  retry(server: Server, requestId: string): void {
    this.#noteCreated(server, requestId)
    this.#fleet.step(server, 'no-capacity')
    this.#discard(server, requestId, () => {
      // The deployment is released first, because the server may continue with another deployment.
      this.#fleet.release(server)
      this.#on.stopped(server, requestId, 'no-capacity')
      if (server.stopReason === undefined) this.#options.again(server)
      else this.end(server)
    })
    this.#tellCreated(server, requestId)
  }

  /** Called when a server exists that is not followed, see `SourceListener`. */
  seen(ids: readonly string[], handle: string, source: string | undefined): boolean {
    const server = this.#fleet.byServerIds(ids)
    if (server === undefined || server.source !== source) return false
    if (server.phase === 'finding') {
      this.#sourceOf(server).found(server.credential)
      this.exists(server, handle)
    } else if (server.requestId !== undefined && server.requestId !== handle) {
      this.#stopTwin(server, handle)
    }
    return true
  }

  /** Called when a server was not found within the time for which players wait. The search continues. */
  late(id: string): void {
    const server = this.#lost(id)
    if (server !== undefined) this.fail(server, 'lost', false)
  }

  /** Called when a server that was looked for does not exist. */
  absent(id: string): void {
    const server = this.#lost(id)
    if (server !== undefined) this.end(server)
  }

  /** Called with changes that the source reports. */
  changed(change: ServerChange, source: string | undefined): void {
    const { handle: requestId } = change
    const server = this.#fleet.byRequest(requestId, source)
    if (server === undefined || workOf(server) !== 'follow') return
    if (change.kind === 'ready') {
      if (!this.#fleet.step(server, 'ready')) return
      server.assignment = { server: server.credential, ...withPromise(change.assignment, placementOf(server)) }
      this.#sourceOf(server).settle(requestId)
      this.#on.up(server, requestId, change.unseenMs)
      // A listener may have dropped the match.
      if (workOf(server) === 'follow') this.#options.listening.begin(server, change.assignment)
      return
    }
    const detail = change.kind === 'failed' ? change.detail : undefined
    if (server.phase !== 'running') return this.failAndStop(server, 'failed', true, detail ?? EARLY)
    if (change.kind === 'gone') server.requestStop('ended')
    else this.#crash(server, requestId, detail)
    this.#stopOnce(server)
  }

  /** Called when it is known whether the server listens. */
  listened(server: Server, isListening: boolean): void {
    if (server.phase !== 'warming' || server.requestId === undefined) return
    if (isListening) return this.listens(server)
    this.failAndStop(server, 'not-listening', true)
  }

  /** Something may have happened to the server. @param hint the source's information, if any */
  hinted(server: Server, hint: ServerHint | undefined): void {
    const { phase, requestId } = server
    const source = this.#sourceOf(server)
    if (phase === 'finding') source.hint({ id: server.credential })
    // The hint may come before the response to the create.
    else if (phase === 'creating' && hint !== undefined) source.hint({ handle: hint.handle })
    // After `starting`, the server is known to be READY. Reading its status again would delay others.
    else if (requestId !== undefined && (phase === 'starting' || hint?.isReady !== true))
      source.hint({ handle: requestId })
  }

  /**
   * A process with the token of this server reports in which deployment it runs. That is only a claim: a hostile
   * process may name any deployment. So it decides only about that process. The source decides by the id of the server
   * what is followed and stopped.
   * @throws {ServerGone} for a twin: another deployment of the same create. {Unavailable} until it is known and stored
   *   which deployment is followed
   */
  assertFollowed(server: Server, deployment: string | undefined): void {
    const { id, phase, requestId, credential, stopReason, twins } = server
    // At other sources an id is one server, so the name of a deployment there means nothing.
    if (deployment === undefined || deployment === requestId || server.source !== undefined) return
    const source = this.#sourceOf(server)
    if (requestId === undefined) {
      if (phase === 'finding') source.claimed(credential)
      // An unwanted server ends in any case.
      if (stopReason === undefined)
        throw new Unavailable('The deployment of this server is not known yet. Retry in a second.')
      return
    }
    if (twins?.has(deployment) !== true) source.claimed(credential)
    if (this.#writer.written(id) !== undefined)
      throw new Unavailable('The deployment of this server is not stored yet.')
    throw new ServerGone('Another deployment replaced this one. End this process.')
  }

  /** Ends servers that exceed their time. */
  advance(now: number): void {
    for (const server of this.#fleet.starting()) this.#endIfLate(server, now)
    if (now < this.#nextEndsAt) return
    this.#nextEndsAt = now + ENDS_GAP_MS
    for (const server of this.#fleet.served()) {
      const { phase, requestId, endsAt } = server
      if (phase !== 'running' || requestId === undefined || now < endsAt) continue
      server.requestStop('max-duration')
      this.stop(server)
    }
  }

  #endIfLate(server: Server, now: number): void {
    const { phase, requestId, knownAt, listensAt, order } = server
    if (requestId === undefined || order === undefined) return
    if (phase === 'starting' && now - knownAt >= order.deploy.readyTimeoutMs) this.failAndStop(server, 'too-slow', true)
    else if (phase === 'warming' && now - listensAt >= STORE_PATIENCE_MS) this.failAndStop(server, 'unavailable', false)
    else if (phase === 'retrying' && now - knownAt >= RETRY_PATIENCE_MS) this.fail(server, 'no-capacity', true)
  }

  #sourceOf({ source }: Server): OpenedSource {
    return this.#options.sources.of(source)
  }

  /** Begins the work for a server in its phase. The work is the same at once and after a restart. */
  #work(server: Server, lostAt?: number): void {
    const { requestId } = server
    switch (workOf(server)) {
      case 'create':
        return this.#options.create(server)
      case 'end':
        return this.end(server)
      case 'find':
        return this.#find(server, lostAt)
      case 'follow':
        if (requestId !== undefined) this.#sourceOf(server).follow(requestId, kindOf(server))
        return
      case 'stop':
        return this.stop(server)
    }
  }

  #find(server: Server, lostAt: number | undefined): void {
    const now = this.#options.clock.now()
    // A clock that was set back must not prevent the search.
    this.#sourceOf(server).find({
      id: server.credential,
      lostAt: Math.min(lostAt ?? Infinity, now),
      isAwaited: server.order !== undefined,
    })
    if (lostAt === undefined) this.#writer.note({ kind: 'lost', serverId: server.id, at: now })
  }

  #lost(id: string): Server | undefined {
    const server = this.#fleet.byServerIds([id])
    return server?.phase === 'finding' ? server : undefined
  }

  #know(server: Server, requestId: string): void {
    this.#fleet.identify(server, requestId)
    server.knownAt = this.#options.clock.now()
    server.startedAfter = server.knownAt
  }

  #noteCreated(server: Server, requestId: string): void {
    this.#know(server, requestId)
    this.#writer.note({ kind: 'created', serverId: server.id, requestId })
  }

  #tellCreated(server: Server, requestId: string): void {
    this.#on.created(server, requestId)
    server.charged = true
  }

  /** Stops a server, unless the end of its matches has done that. */
  #stopOnce(server: Server): void {
    if (server.phase !== 'stopping') this.stop(server)
  }

  #crash(server: Server, requestId: string, detail: string | undefined): void {
    server.requestStop('crashed')
    const areUnread = server.order === undefined && this.#sourceOf(server).logs !== undefined
    const parts = areUnread ? [detail?.slice(0, 150), LOGS_UNREAD] : [detail]
    this.#on.faulty(server, requestId, 'crashed', parts.filter((part) => part !== undefined).join('; ') || undefined)
  }

  #discard(server: Server, requestId: string, confirmed: () => void): void {
    this.#options.listening.forget(server)
    const first = this.#logsFirst(server, requestId)
    this.#sourceOf(server).stop({ handle: requestId, knownAt: server.knownAt, by: server, first, confirmed })
  }

  /** Reads the logs of a failed server first, because its stop removes them. */
  #logsFirst(server: Server, requestId: string): (() => Promise<void>) | undefined {
    const { stopReason: reason, order } = server
    // Without the order it is unknown which of the server's variables are secrets, so no output may be shown.
    const { logs } = this.#sourceOf(server)
    if (logs === undefined || order === undefined || reason === undefined || !isServerFailure(reason)) return undefined
    const secrets = [this.#options.keys.tokenOf(server.credential), ...Object.values(order.deploy.hiddenEnvironment)]
    return async () => {
      const text = await logs(requestId, secrets)
      if (text !== undefined) this.#on.logs(server, requestId, reason, text)
    }
  }

  #stopTwin(server: Server, requestId: string): void {
    const twins = (server.twins ??= new Set())
    if (twins.has(requestId)) return
    twins.add(requestId)
    this.#sourceOf(server).stop({
      handle: requestId,
      knownAt: this.#options.clock.now(),
      by: twins,
      confirmed: () => this.#on.stopped(server, requestId, 'twin'),
    })
  }
}

const withPromise = (assignment: Assignment, placement: Placement | undefined): Assignment =>
  placement === undefined
    ? assignment
    : { ...assignment, promised: { beacon: placement.beacon, latencyMs: placement.limitMs } }

/** Returns the key of deployments that take about the same time to start. */
const kindOf = ({ order, queue }: Server) =>
  order === undefined ? queue : `${order.deploy.application}/${order.deploy.version}`

const isServerFailure = (reason: string): reason is ServerFailure =>
  ['failed', 'too-slow', 'not-listening', 'crashed'].includes(reason)

const isFailure = (reason: ReturnReason): reason is Exclude<ServerFailure, 'crashed'> =>
  reason === 'failed' || reason === 'too-slow' || reason === 'not-listening'

/** The message for a deployment that ended without an error before it was READY. */
const EARLY = 'the deployment ended before it was READY'
