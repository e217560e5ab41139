import type { Clock, Random } from '@muster/core/clock'
import { createAdopting, type Inherited } from './adopt-servers.js'
import {
  type AllocatorListener,
  createAllocations,
  type EndedMatches,
  rejectAll,
  whenEnded,
} from './allocations.js'
import { createDeploymentCreation, type DeploymentCreation } from './create-deployment.js'
import { createServerSecrets } from './match-environment.js'
import { createListening, networkProber, type Prober } from './port-probe.js'
import {
  type Allocation,
  type DeploymentService,
  type FoundBy,
  type LocationService,
  newAllocation,
  type Order,
  type StopReason,
} from './records/index.js'
import { createEndTimes } from './server-deadlines.js'
import { createServerLifecycle, type ServerLifecycle } from './server-lifecycle.js'
import { createGovernor, type Held as GovernorHeld, type SpendBound } from './server-limits.js'
import { createRecovery, createServerLogWriter, type Recovery, type ServerLog } from './store/index.js'
import { createWatcher } from './watching/index.js'
import { createWebhookReceiver, isSecretOf } from './webhooks.js'

/** Why nothing may be created now: see `Governor`; or `store`, which cannot be read or written. */
export type Held = GovernorHeld | 'store'

/** Deploys a server for each match, and keeps track of it until the service has confirmed its end. */
export interface Allocator {
  /** Takes over what the store says may still exist. Nothing may be allocated before. */
  readonly recovery: Pick<Recovery, 'recover' | 'attempt' | 'ready' | 'isDone' | 'isFailing'>
  /** Number of matches that may be allocated now. */
  room(now: number): number
  /** Begins an allocation. Resolves once the store holds the intent. Reports the outcome to the listener. */
  allocate(match: FoundBy, order: Order): Promise<void>
  /** Stops the server of a match that is no longer wanted; the caller handles its tickets. */
  drop(allocation: Allocation, reason: StopReason): void
  find(matchId: string): Allocation | undefined
  matches(): Iterable<Allocation>
  /** Deployments that exist or may exist. */
  count(): number
  /**
   * The match of an earlier process in which the player plays; undefined if there is none, or if its tickets were
   * inherited.
   */
  playedBy(playerId: string): Pick<Allocation, 'matchId' | 'queue' | 'assignment'> | undefined
  /** Replaces the players of a match, after some joined or left. */
  setPlayers(allocation: Allocation, playerIds: readonly string[]): void
  /** Notes that a deployment may have changed; its status is then read. */
  hint(requestId: string): void
  /** Answers the service's webhooks about deployments. Never rejects. */
  webhook(request: Request): Promise<Response>
  /** Notes that the server of a match is ready for players. Returns false for an unknown match or a wrong secret. */
  serverReady(matchId: string, secret: string): boolean
  /**
   * Notes that a player comes: if the match expects the player, its `joinBy` is met. Returns false for an unknown match
   * or a wrong secret.
   */
  playerCame(matchId: string, secret: string, playerId: string): boolean
  /** Whether any server has the secret; called before the match is known. */
  isServerSecret(secret: string): boolean
  /** Whether the server of this match has the secret. */
  isSecretOf(matchId: string, secret: string): boolean
  /** Does the work that is due: reads statuses, stops, finds lost deployments, checks time limits. */
  advance(now: number): void
  /**
   * Resolves when the store has all that was decided about the match so far; undefined if it has already. Rejects if
   * that cannot be written now.
   */
  recorded(matchId: string): Promise<void> | undefined
  /** Resolves when the server of the match is gone. @throws {MatchmakerClosed} */
  whenEnded(allocation: Allocation): Promise<void>
  /** From now on, a deployment that several searches did not find counts as absent. */
  giveUpSooner(): void
  readonly creates: Pick<DeploymentCreation, 'sendNoMore' | 'inFlight'>
  /** Waits for the store, and rejects callers that wait for a match to end. */
  close(): Promise<void>
  /** Ends all that is under way, without a request or an entry, and rejects callers that wait for a match to end. */
  abandon(): void
  /** Number of stops that are not confirmed. */
  stopsPending(): number
  /** Why `room` last returned 0; undefined if there was room. */
  held(): Held | undefined
  /** Epoch milliseconds until which nothing is created, because the service refuses creates. */
  pausedUntil(): number
}

export interface AllocatorOptions {
  readonly service: DeploymentService
  /** Tells where there is capacity. Without it, a match that found no capacity is not tried elsewhere. */
  readonly locations?: LocationService | undefined
  readonly serverLog: ServerLog
  /** What `resumes` of the store is, if it does not say. Default false. */
  readonly resumes?: boolean | undefined
  readonly clock: Clock
  /** Milliseconds, to divide long work into slices. */
  readonly stopwatch: () => number
  readonly random: Random
  /** Tag of all deployments of this matchmaker. */
  readonly ownTag: string
  readonly bound: SpendBound
  /** Creates whose answer is awaited at once; the others wait in a queue. */
  readonly maxCreatesInFlight: number
  /** Status reads per second at most. */
  readonly readsPerSecond: number
  /** Milliseconds for which the service's list may not show a new deployment. */
  readonly listLagMs: number
  /** Milliseconds after which a deployment with our tag and without a match is stopped; Infinity for never. */
  readonly orphanGraceMs: number
  /** Public URL of `webhook`; undefined for no webhooks. */
  readonly webhookUrl?: string | undefined
  /** Public URL of the ticket API, without a slash at its end; undefined if servers do not receive it. */
  readonly apiUrl?: string | undefined
  /** Default: over the network. */
  readonly prober?: Prober | undefined
  /** The matches of which this process has inherited the tickets. Default: none. */
  readonly inherited?: Inherited | undefined
  /** Receives the matches that have ended completely. */
  readonly ended?: EndedMatches | undefined
  readonly on: AllocatorListener
}

const nothing = () => undefined
const NONE_INHERITED: Inherited = { expect: nothing, assignmentOf: nothing, orderOf: nothing, done: nothing }

export function createAllocator(options: AllocatorOptions): Allocator {
  const { service, locations, serverLog, clock, random, ownTag, bound, listLagMs, orphanGraceMs, on } = options
  const { stopwatch, inherited = NONE_INHERITED, ended } = options
  const resumes = serverLog.resumes ?? options.resumes ?? false
  const allocations = createAllocations(ended)
  const governor = createGovernor(bound, random)
  const secrets = createServerSecrets(random)
  const writer = createServerLogWriter(serverLog, clock, (error, matchId) =>
    on.problem('store', error, allocations.find(matchId)),
  )

  const watcher = createWatcher({
    service,
    tag: ownTag,
    clock,
    listLagMs,
    readsPerSecond: options.readsPerSecond,
    pushed: options.webhookUrl !== undefined,
    report: (change) => lifecycle.statusChanged(change),
    stranger: (entry) => lifecycle.listed(entry),
    swept: (begunAt) => lifecycle.swept(begunAt),
    problem: (during, error, requestId) => {
      on.problem(during, error, requestId === undefined ? undefined : allocations.byRequest(requestId), requestId)
    },
  })
  const listening = createListening({
    prober: options.prober ?? networkProber,
    clock,
    listened: (allocation, listens) => lifecycle.listened(allocation, listens),
    problem: (error, allocation) => on.problem('probe', error, allocation, allocation.requestId),
  })
  const lifecycle: ServerLifecycle = createServerLifecycle({
    service,
    allocations,
    writer,
    resumes,
    watcher,
    listening,
    clock,
    random,
    ownTag,
    listLagMs,
    orphanGraceMs,
    again: (allocation) => void creating.retry(allocation),
    on,
  })
  const endTimes = createEndTimes({
    service,
    allocations,
    clock,
    problem: (error, allocation) => on.problem('status', error, allocation, allocation.requestId),
  })
  const webhooks = createWebhookReceiver({
    clock,
    baseUrl: options.webhookUrl,
    find: allocations.find,
    hinted: lifecycle.hinted,
  })
  const creating = createDeploymentCreation({
    service,
    locations,
    writer,
    resumes,
    governor,
    allocations,
    lifecycle,
    clock,
    random,
    secrets,
    maxCreatesInFlight: options.maxCreatesInFlight,
    ownTag,
    webhookUrlOf: webhooks.urlOf,
    apiUrl: options.apiUrl,
    on,
  })

  const recovery = createRecovery({
    serverLog,
    clock,
    stopwatch,
    adopt: createAdopting({
      allocations,
      governor,
      creating,
      lifecycle,
      watcher,
      endTimes,
      secrets,
      clock,
      inherited,
      on,
    }),
    expect: inherited.expect,
    adopted: inherited.done,
    problem: (error) => on.problem('store', error),
  })
  const count = () => allocations.count() + lifecycle.strays()
  const isBroken = () => writer.isBehind() || recovery.isFailing()

  const endAll = () => {
    recovery.close()
    watcher.close()
    lifecycle.close()
    listening.close()
    rejectAll(allocations.all())
  }

  return {
    recovery,

    // A server that the store cannot record would be lost after a crash, so none is created.
    room: (now) => {
      if (isBroken()) return 0
      // Strays cost as much as servers of matches, so they count.
      return governor.room({ count: count(), startingCount: allocations.startingCount() }, now)
    },

    allocate: (match, order) => creating.begin(newAllocation(match, order)),

    drop: (allocation, reason) => {
      const { phase, requestId } = allocation
      allocation.unwanted ??= reason
      if (phase === 'stopping') return
      if (requestId !== undefined && phase !== 'retrying') lifecycle.stop(allocation, requestId)
      else if (!creating.forget(allocation)) lifecycle.drop(allocation)
    },

    find: (matchId) => allocations.find(matchId),
    matches: () => allocations.all(),
    count,
    playedBy: allocations.playedBy,
    setPlayers: (allocation, playerIds) => {
      allocations.setPlayers(allocation, playerIds)
      writer.note({ kind: 'players', matchId: allocation.matchId, playerIds })
    },

    hint: (requestId) => watcher.hint(requestId),
    // Before, every webhook would be one of an unknown match.
    webhook: async (request) =>
      recovery.isDone()
        ? webhooks.receive(request)
        : new Response(null, { status: 503, headers: { 'retry-after': '1' } }),
    isServerSecret: secrets.isOne,
    isSecretOf: (matchId, secret) => isSecretOf(allocations.find(matchId), secret),
    serverReady: (matchId, secret) => {
      const allocation = allocations.find(matchId)
      if (allocation === undefined || !isSecretOf(allocation, secret)) return false
      listening.registered(allocation)
      // It runs, so it is READY by now.
      lifecycle.hinted(allocation, undefined)
      return true
    },
    playerCame: (matchId, secret, playerId) => {
      const allocation = allocations.find(matchId)
      if (allocation === undefined || !isSecretOf(allocation, secret)) return false
      if (allocation.playerIds.includes(playerId)) allocation.joinBy = Infinity
      return true
    },

    advance: (now) => {
      // Before the store is read, every deployment would look like a stray.
      if (recovery.isDone()) watcher.look(now)
      writer.advance(now)
      endTimes.advance(now)
      lifecycle.advance(now)
      creating.advance(now)
    },

    recorded: (matchId) => writer.written(matchId),
    whenEnded,
    giveUpSooner: () => lifecycle.giveUpSooner(),
    creates: creating,
    close: async () => {
      endAll()
      await writer.close().catch((error: unknown) => on.problem('store', error))
    },
    abandon: endAll,
    stopsPending: lifecycle.stopsPending,
    held: () => (isBroken() ? 'store' : governor.held()),
    pausedUntil: governor.pausedUntil,
  }
}
