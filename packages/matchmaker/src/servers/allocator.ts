import type { Clock, Random } from '@muster/core/clock'
import type { StopReason } from './records/reasons.js'
import { rejectAll, whenEnded } from './end-listeners.js'
import { createEndTimes } from './end-times.js'
import { createListening } from './probe/listening.js'
import { networkProber, type Prober } from './probe/prober.js'
import { createWatcher } from './watching/watcher.js'
import { createWebhookReceiver, isSecret } from './webhook.js'
import { createCreating, type Creating } from './creating.js'
import type { DeploymentService, LocationService } from './records/deployment-service.js'
import { createGovernor, type Held as GovernorHeld, type SpendBound } from './governor.js'
import type { Journal, OpenIntent } from './journal/journal.js'
import { createServerLifecycle, type ServerLifecycle } from './server-lifecycle.js'
import { createServerSecrets } from './server-secrets.js'
import type { AllocatorListener } from './listener.js'
import type { Allocation, Order } from './records/allocation.js'
import { newAllocation, type FoundBy } from './records/match-allocation.js'
import { createAllocations } from './allocations.js'
import { createAdopting } from './adopting.js'
import { createNotes } from './journal/notes.js'
import { createRecovery } from './journal/recovery.js'

/** Why nothing may be created now: see `Governor`; or `journal`, which cannot be opened or written to. */
export type Held = GovernorHeld | 'journal'

/** Deploys a server for each match, and keeps track of it until the service has confirmed its end. */
export interface Allocator {
  /**
   * Takes over, once, what the journal says may still exist. Returns false, and nothing may be allocated, while it is
   * unreadable.
   */
  recover(): Promise<boolean>
  /** Whether `recover` has succeeded. */
  isRecovered(): boolean
  /** Number of matches that may be allocated now. */
  room(now: number): number
  /** Begins an allocation. Resolves when the intent is in the journal; the listener is told the outcome. */
  allocate(match: FoundBy, order: Order): Promise<void>
  /** Stops the server of a match that is no longer wanted; the caller handles its tickets. */
  drop(allocation: Allocation, reason: StopReason): void
  find(matchId: string): Allocation | undefined
  matches(): Iterable<Allocation>
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
  /** Whether any server has the secret; asked before the match is known. */
  isServerSecret(secret: string): boolean
  /** Does the work that is due: reads statuses, stops, finds lost deployments, checks time limits. */
  advance(now: number): void
  /** Resolves when the server of the match is gone. @throws {MatchmakerClosed} */
  whenEnded(allocation: Allocation): Promise<void>
  /** From now on, a deployment that several searches did not find counts as absent. */
  giveUpSooner(): void
  readonly creates: Pick<Creating, 'sendNoMore' | 'inFlight'>
  /** Waits for the journal, and rejects callers that wait for a match to end. */
  close(): Promise<void>
  /** Ends all that is under way, without a request or an entry, and rejects callers that wait for a match to end. */
  abandon(): void
  /** Number of stops that are not confirmed. */
  stopsPending(): number
  /** Why there was no room when it was last asked; undefined if there was. */
  held(): Held | undefined
  /** Epoch milliseconds until which nothing is created, because the service refuses creates. */
  pausedUntil(): number
}

export interface AllocatorOptions {
  readonly service: DeploymentService
  /** Tells where there is capacity. Without it, a match that found no capacity is not tried elsewhere. */
  readonly locations?: LocationService | undefined
  readonly journal: Journal
  /** What `resumes` of the journal is, if it does not say. Default false. */
  readonly resumes?: boolean | undefined
  readonly clock: Clock
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
  readonly reapAfterMs: number
  /** Public URL of `webhook`; undefined for no webhooks. */
  readonly webhookUrl?: string | undefined
  /** Default: over the network. */
  readonly prober?: Prober | undefined
  /** The matches of which this process has inherited the tickets. Default: none. */
  readonly inherited?: Inherited | undefined
  readonly on: AllocatorListener
}

/** Matches of an earlier process of which this one has the tickets. */
export interface Inherited {
  /** What the match asks for; undefined if it cannot go on. Called once for each match in the journal. */
  orderOf(open: OpenIntent): Order | undefined
  /** Called after the last of them. */
  done(): void
}

const NONE_INHERITED: Inherited = { orderOf: () => undefined, done: () => {} }

export function createAllocator(options: AllocatorOptions): Allocator {
  const { service, locations, journal, clock, random, ownTag, bound, listLagMs, reapAfterMs, on } = options
  const { inherited = NONE_INHERITED } = options
  const resumes = journal.resumes ?? options.resumes ?? false
  const allocations = createAllocations()
  const governor = createGovernor(bound, random)
  const secrets = createServerSecrets(random)
  const notes = createNotes(journal, clock, (error, matchId) => on.problem('journal', error, allocations.find(matchId)))

  const watcher = createWatcher({
    service,
    tag: ownTag,
    clock,
    listLagMs,
    readsPerSecond: options.readsPerSecond,
    report: (sighting) => lifecycle.sighted(sighting),
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
    notes,
    resumes,
    watcher,
    listening,
    clock,
    random,
    ownTag,
    listLagMs,
    reapAfterMs,
    again: (allocation) => void creating.again(allocation),
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
  const creating = createCreating({
    service,
    locations,
    notes,
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
    on,
  })

  const recovery = createRecovery({
    journal,
    clock,
    adopt: createAdopting({
      allocations,
      governor,
      creating,
      lifecycle,
      watcher,
      endTimes,
      secrets,
      clock,
      orderOf: inherited.orderOf,
      on,
    }),
    adopted: inherited.done,
    problem: (error) => on.problem('journal', error),
  })
  const isBroken = () => notes.isBehind() || recovery.isFailing()

  const endAll = () => {
    watcher.close()
    lifecycle.close()
    listening.close()
    rejectAll(allocations.all())
  }

  return {
    recover: recovery.recover,
    isRecovered: recovery.isDone,

    // A server that the journal cannot record would be lost after a crash, so none is created.
    room: (now) => {
      if (isBroken()) return 0
      // Strays cost as much as servers of matches, so they count.
      const count = allocations.count() + lifecycle.strays()
      return governor.room({ count, startingCount: allocations.startingCount() }, now)
    },

    allocate: (match, order) => creating.begin(newAllocation(match, order)),

    drop: (allocation, reason) => {
      const { phase, requestId } = allocation
      allocation.unwanted ??= reason
      if (requestId === undefined) creating.forget(allocation)
      else if (phase !== 'stopping' && phase !== 'retrying') lifecycle.stop(allocation, requestId)
    },

    find: (matchId) => allocations.find(matchId),
    matches: () => allocations.all(),
    playedBy: allocations.playedBy,
    setPlayers: (allocation, playerIds) => {
      allocations.setPlayers(allocation, playerIds)
      notes.note({ kind: 'players', matchId: allocation.matchId, playerIds })
    },

    hint: (requestId) => watcher.hint(requestId),
    webhook: (request) => webhooks.receive(request),
    isServerSecret: secrets.isOne,
    serverReady: (matchId, secret) => {
      const allocation = allocations.find(matchId)
      if (allocation === undefined || !isSecret(secret, allocation.order?.secret)) return false
      listening.registered(allocation)
      // It runs, so it is READY by now.
      lifecycle.hinted(allocation, undefined)
      return true
    },

    advance: (now) => {
      // Before the journal is read, every deployment would look like a stray.
      if (recovery.isDone()) watcher.look(now)
      notes.advance(now)
      endTimes.advance(now)
      lifecycle.advance(now)
      creating.advance(now)
    },

    whenEnded,
    giveUpSooner: () => lifecycle.giveUpSooner(),
    creates: creating,
    close: async () => {
      endAll()
      await notes.close().catch((error: unknown) => on.problem('journal', error))
    },
    abandon: endAll,
    stopsPending: lifecycle.stopsPending,
    held: () => (isBroken() ? 'journal' : governor.held()),
    pausedUntil: governor.pausedUntil,
  }
}
