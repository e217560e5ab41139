import { deepFreeze } from '@muster/core/internal'
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

/** Why the logs of a server from before a restart are missing. */
const LOGS_UNREAD =
  'its logs were not read: an earlier process requested it, and this process does not know the secrets to hide'

/**
 * Milliseconds for which tickets wait until a deployment without capacity is stopped. Then they return to the queue.
 */
const RETRY_PATIENCE_MS = 10_000
/** Milliseconds after a pause of this process within which no time limit of a starting server ends (our choice). */
const AFTER_PAUSE_MS = 5000

interface ServerLifecycleOptions extends AllocatorContext {
  readonly listening: Pick<ListenCheck, 'begin' | 'forget'>
  readonly matches: Pick<HostedMatches, 'serverListens' | 'serverUp' | 'serverEnding' | 'serverEnded'>
  /** Called when a server no longer exists, before its record is removed from the store. */
  readonly ended: (server: Server) => void
  readonly create: (server: Server) => void
  /** Called when the deployment of an attempt without capacity is gone, so that the next attempt can begin. */
  readonly again: (server: Server) => void
}

/**
 * Follows a server from the answer to its create until it ends. `stepServer` decides its phase, and `workOf` the work.
 */
export class ServerLifecycle {
  readonly #options: ServerLifecycleOptions
  readonly #fleet: ServerLifecycleOptions['fleet']
  readonly #writer: ServerLifecycleOptions['writer']
  readonly #on: ServerLifecycleOptions['on']
  #nextEndsAt = 0
  #checksFrom = 0

  constructor(options: ServerLifecycleOptions) {
    this.#options = options
    this.#fleet = options.fleet
    this.#writer = options.writer
    this.#on = options.on
  }

  /** Ends the matches of a server. A repeated call has no effect. @param detail the error message of the source */
  fail(server: Server, reason: ReturnReason, counts: boolean | readonly string[], detail?: string): void {
    const { requestId, stopReason } = server
    if (stopReason !== undefined) return
    if (requestId !== undefined && isFailure(reason)) this.#on.faulty(server, requestId, reason, detail)
    server.stopReason = reason
    this.#options.matches.serverEnded(server, reason, counts)
  }

  /** Ends the matches of a server and stops the server. */
  failAndStop(server: Server, reason: ReturnReason, counts: boolean, detail?: string): void {
    this.fail(server, reason, counts, detail)
    this.#stopOnce(server)
  }

  /**
   * Called when the server listens. Players are sent only once the store has recorded that, because otherwise the
   * server could look like an orphan after a crash. `advance` limits the wait.
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
      if (this.#fleet.step(server, 'recorded')) this.#options.matches.serverUp(server)
    }
    if (noted === undefined) runs()
    else void noted.then(runs)
  }

  /** Called when a server no longer exists. Removes the server and ends its matches. */
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

  /** Called when the id of the server's deployment is known: its create was answered, or it was found. */
  exists(server: Server, requestId: string): void {
    this.#noteCreated(server, requestId)
    this.#fleet.step(server, 'created')
    this.#work(server)
    this.#tellCreated(server, requestId)
  }

  /** Called when the response to the create was lost, so that the server must be looked for. */
  lose(server: Server): void {
    this.#fleet.step(server, 'lost')
    this.#work(server)
  }

  /**
   * Continues with a stored server after a restart.
   * @param lostAt epoch milliseconds at which the response to the create was lost. Undefined if it was not noticed
   */
  resume(server: Server, { lostAt, ...stored }: StoredProgress & { readonly lostAt?: number | undefined }): void {
    if (stored.requestId !== undefined) this.#know(server, stored.requestId)
    this.#fleet.enter(server, phaseAfterRestart(stored))
    this.#work(server, lostAt)
  }

  /** Stops a server, and ends its matches at once. */
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

  /** Records that a server must end, so that a later process does not continue it. */
  drop(server: Server): void {
    // Only these servers could be mistaken for servers with players after a restart.
    if (server.phase === 'running' || server.listensAt < Infinity || this.#writer.resumes)
      this.#writer.note({ kind: 'dropped', serverId: server.id }, ...matchEndEntries(server.guests))
  }

  /** Stops a deployment that was created although its location has no capacity. Then the next attempt begins. */
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

  /**
   * Called when a source finds a server that it does not follow. Returns false if the server belongs to nothing known.
   */
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

  /** Called when a lost server was not found while players wait for it. Its match fails, and the search continues. */
  late(id: string): void {
    const server = this.#lost(id)
    if (server !== undefined) this.fail(server, 'lost', false)
  }

  /** Called when a lost server does not exist. */
  absent(id: string): void {
    const server = this.#lost(id)
    if (server !== undefined) this.end(server)
  }

  /** Called when a source reports a change of a server. */
  changed(change: ServerChange, source: string | undefined): void {
    const { handle: requestId } = change
    const server = this.#fleet.byRequest(requestId, source)
    if (server === undefined || workOf(server) !== 'follow') return
    if (change.kind === 'ready') {
      if (!this.#fleet.step(server, 'ready')) return
      server.assignment = deepFreeze({
        server: server.credential,
        ...withPromise(change.assignment, placementOf(server)),
      })
      this.#sourceOf(server).settle(requestId)
      this.#on.up(server, requestId, change.unseenMs)
      if (workOf(server) === 'follow') this.#options.listening.begin(server, change.assignment)
      return
    }
    const detail = change.kind === 'failed' ? change.detail : undefined
    if (server.phase !== 'running') return this.failAndStop(server, 'failed', true, detail ?? EARLY)
    if (change.kind === 'gone') server.requestStop('ended')
    else this.#crash(server, requestId, detail)
    this.#stopOnce(server)
  }

  /** Called with the result of the check whether a server listens. */
  listened(server: Server, isListening: boolean): void {
    if (server.phase !== 'warming' || server.requestId === undefined) return
    if (isListening) return this.listens(server)
    this.failAndStop(server, 'not-listening', true)
  }

  /** Called when a server's status may have changed. @param hint what the source has reported, if anything */
  hinted(server: Server, hint: ServerHint | undefined): void {
    const { phase, requestId } = server
    const source = this.#sourceOf(server)
    if (phase === 'finding') source.hint({ id: server.credential })
    // A webhook may arrive before the response to the create.
    else if (phase === 'creating' && hint !== undefined) source.hint({ handle: hint.handle })
    // Do not read the status if the only news is READY and that is known already.
    else if (requestId !== undefined && (phase === 'starting' || hint?.isReady !== true))
      source.hint({ handle: requestId })
  }

  /**
   * Checks in which deployment a process with this server's token runs. The process may lie, so its answer decides
   * only whether this process may register. Only the source decides which deployment is followed.
   * @throws {ServerGone} if the process runs in a twin, i.e. another deployment of the same create. {Unavailable}
   * until the server's deployment is known and stored
   */
  assertFollowed(server: Server, deployment: string | undefined): void {
    const { id, phase, requestId, credential, stopReason, twins } = server
    // Only the deployment service can create twins.
    if (deployment === undefined || deployment === requestId || server.source !== undefined) return
    const source = this.#sourceOf(server)
    if (requestId === undefined) {
      if (phase === 'finding') source.claimed(credential)
      // A server that must end is rejected by `GameServers.register` in any case.
      if (stopReason === undefined)
        throw new Unavailable('The deployment of this server is not known yet. Retry in a second.')
      return
    }
    if (twins?.has(deployment) !== true) source.claimed(credential)
    if (this.#writer.written(id) !== undefined)
      throw new Unavailable('The deployment of this server is not stored yet.')
    throw new ServerGone('Another deployment replaced this one. End this process.')
  }

  /**
   * Ends servers whose time limit is over.
   * @param wasPaused true if this process was suspended since the last call
   */
  advance(now: number, wasPaused: boolean): void {
    // After a pause, the status of each server must be read first.
    if (wasPaused) this.#checksFrom = now + AFTER_PAUSE_MS
    if (now >= this.#checksFrom) for (const server of this.#fleet.starting()) this.#endIfLate(server, now)
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

  /** Begins what must be done in the server's phase. */
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
    // If the clock was set back meanwhile, the search must not begin later.
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

  /** Returns a function that reads the logs of a failed server. It runs before the stop, which deletes the logs. */
  #logsFirst(server: Server, requestId: string): (() => Promise<void>) | undefined {
    const { stopReason: reason, order } = server
    // Without the order, the server's secrets are unknown and could not be removed from the logs.
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

/** Returns a key for servers that take about the same time to start. */
const kindOf = ({ order, queue }: Server) =>
  order === undefined ? queue : `${order.deploy.application}/${order.deploy.version}`

const isServerFailure = (reason: string): reason is ServerFailure =>
  ['failed', 'too-slow', 'not-listening', 'crashed'].includes(reason)

const isFailure = (reason: ReturnReason): reason is Exclude<ServerFailure, 'crashed'> =>
  reason === 'failed' || reason === 'too-slow' || reason === 'not-listening'

/** The error message for a deployment that ended without an error before it was READY. */
const EARLY = 'the deployment ended before it was READY'
