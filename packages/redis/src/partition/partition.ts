import { createEventsWithProblems, createTicker, type ListenerProblem } from '@muster/core/internal'
import {
  type Matchmaker,
  MatchmakerClosed,
  type MatchmakerEvents,
  type QueueDefinition,
  type Survey,
  type SurveyOptions,
  type Ticket,
} from '@muster/matchmaker'
import { configure, createTicketChecker } from '@muster/matchmaker/internal'
import { createElection, type Lease } from './lease.js'
import { ClockDiffers } from './partition-errors.js'
import { createFollower, type FollowerService } from './follower/follower.js'
import { OwnQueues } from './own-queues.js'
import { PartitionIdentity } from './partition-identity.js'
import type { PartitionOptions, PartitionParts, QueuesInForce } from './partition-options.js'
import { Leadership } from './leader/index.js'
import { createStoreClock } from './store-clock.js'
import { RETRY_MS } from '../connection/index.js'

/** Events of a process of a partition. */
export interface PartitionEvents {
  /** This process matches from now on, `takeoverMs` milliseconds after it won the lease. */
  leading: (event: { readonly takeoverMs: number; readonly tickets: number }) => void
  /** This process does not lead any more. */
  following: () => void
  /**
   * This process has created a ticket. Of all events of a ticket, only this one is emitted in the process that its
   * client called.
   */
  ticketCreated: (event: { readonly ticket: Ticket }) => void
  /** The leader's queues differ from this process's: see `queuesInForce`. */
  queuesDiffer: (event: { readonly inForce: QueuesInForce; readonly fingerprint: string }) => void
  /** A problem that is retried, or a listener that failed. */
  problem: (problem: PartitionProblem) => void
}

export type PartitionProblem = ListenerProblem | { readonly during: 'partition'; readonly error: unknown }

/**
 * A process of a partition. It accepts tickets like a matchmaker, through methods that return promises. One process,
 * the leader, holds the lease and makes matches; the others are followers.
 */
export interface Partition extends FollowerService {
  /**
   * Starts to follow the partition, and to lead it if no other process does. Calls fail before `start`, and after
   * `close`.
   */
  start(): void
  /** True if this process leads now, and has taken over the matches of the previous leader. */
  leads(): boolean
  /** Returns the milliseconds by which the clock of Redis is ahead of this process's clock, as last measured. */
  clockOffsetMs(): number
  /** Returns the number of times that this process noticed the loss of the records in Redis; see `RecordsVanished`. */
  timesVanished(): number
  /** See `Matchmaker.survey`. Undefined unless this process leads, because others may not have the tickets. */
  survey(options?: SurveyOptions): Survey | undefined
  /** Returns the queues with which the leader matches; undefined before the first leader. */
  queuesInForce(): Promise<QueuesInForce | undefined>
  /**
   * Replaces the queues of this process, and the pools if they are given. They are in force while this process leads.
   * @throws {InvalidQueue}; {InvalidInput} for a pool. Nothing changes then.
   */
  reconfigure(queues: readonly QueueDefinition[], given?: Parameters<Matchmaker['reconfigure']>[1]): void
  /** Subscribes a listener to events of this process. Returns a function that unsubscribes it. */
  on<Name extends keyof PartitionEvents>(name: Name, listener: PartitionEvents[Name]): () => void
  /** Subscribes a listener to the events of the matchmaker, while this process leads. */
  onMatching<Name extends keyof MatchmakerEvents>(
    name: Name,
    listener: (event: MatchmakerEvents[Name]) => void,
  ): () => void
  /**
   * Leaves the partition: writes pending decisions and releases the lease, so that another process leads immediately.
   * Tickets, matches and servers do not change.
   */
  close(): Promise<void>
}

/** Milliseconds between two reads of the current queues: less than the minimum of `presence.withinMs`. */
const COMPARE_MS = 5000
/** Milliseconds after the start at which abandoned partitions are looked for. Their processes may restart meanwhile. */
const ABANDONED_AFTER_MS = 30_000

/**
 * Creates a process of a partition over any store.
 * @throws {InvalidInput} naming the option and the value; {InvalidQueue}
 */
export function createPartition(options: PartitionOptions, parts: PartitionParts): Partition {
  const { canLead = true, standby = true, leaseMs = 1000, askTimeoutMs = 10_000, ...given } = options
  const { openStore, owner, title = owner, newId, isDurable = false, findAbandoned } = parts
  // Validate the options now instead of when this process becomes the leader.
  const { clock: monotonic, random, endedTicketTtlMs, orphanGraceMs, ...config } = configure(given)
  const { maxMatchesPerPlayer, locate, browser } = config
  const { emit, on } = createEventsWithProblems<PartitionEvents>()
  const ending = new AbortController()
  let isClosed = false
  const problem = (error: unknown) => {
    if (!isClosed) emit('problem', { during: 'partition', error })
  }

  const store = openStore()
  const clockDiffers = (offsetMs: number) => problem(new ClockDiffers(offsetMs))
  const clock = createStoreClock({ store, clock: monotonic, differs: clockDiffers })
  const { name, queues: definitions, pools, serverSecret } = given
  const checker = createTicketChecker({ queues: definitions, pools, maxMatchesPerPlayer, clock, random })
  const queuesDiffer = (event: Parameters<PartitionEvents['queuesDiffer']>[0]) => emit('queuesDiffer', event)
  const queues = new OwnQueues(given, { store, clock, title, differ: queuesDiffer, problem })
  const identity = new PartitionIdentity({ store, clock, name, longestMatchMs: () => queues.longestMatchMs(), problem })
  const leadership = new Leadership({
    store,
    matchmaker: given,
    queues,
    identity,
    owner,
    newId,
    isDurable,
    keepsStandby: canLead && standby,
    orphanGraceMs,
    endedTicketTtlMs,
    clock,
    random,
    ending: ending.signal,
    leading: (event) => emit('leading', event),
    following: () => emit('following'),
    problem,
  })
  const follower = createFollower({
    store,
    checker,
    name: owner,
    clock,
    newId,
    presenceWithinMs: (queue) => {
      const [own, inForce] = [checker.presenceWithinMs(queue), queues.presenceInForce(queue)]
      return own === undefined || inForce === undefined ? (own ?? inForce) : Math.min(own, inForce)
    },
    askTimeoutMs,
    locate,
    browser,
    serverSecret,
    own: queues,
    created: (ticket) => emit('ticketCreated', { ticket }),
    onChanges: (changes) => leadership.receive(changes),
    problem,
  })
  const lead = (lease: Lease) => leadership.lead(lease)
  const election = createElection({ store, owner, clock: monotonic, leaseMs, lead, problem })
  const comparing = createTicker({
    clock,
    everyMs: COMPARE_MS,
    atOnce: true,
    tick: async () => {
      await Promise.all([queues.compare(), identity.compare(), clock.measure()]).catch(problem)
    },
    isNeeded: () => !isClosed,
  })

  let beginning: Promise<void> | undefined
  /** Begins to read and decide once the store's time, to which stored times refer, and the format are known. */
  const begin = async (): Promise<void> => {
    const isKnown = () => Promise.all([clock.measure(), store.getInForce()]).then(() => true)
    const { signal } = ending
    while (!signal.aborted && !(await isKnown().catch(problem))) await clock.sleep(RETRY_MS, signal).catch(() => {})
    if (signal.aborted) return
    follower.start()
    if (canLead) election.start()
    comparing.wake()
    void reportAbandoned().catch(problem)
  }
  const reportAbandoned = async (): Promise<void> => {
    await clock.sleep(ABANDONED_AFTER_MS, ending.signal).catch(() => {})
    if (!ending.signal.aborted) for (const error of (await findAbandoned?.()) ?? []) problem(error)
  }

  return {
    ...follower.service,
    start: () => void (beginning ??= begin()),
    clockOffsetMs: clock.offsetMs,
    timesVanished: () => identity.timesVanished(),
    leads: () => leadership.isLeading(),
    survey: (wanted) => leadership.survey(wanted),
    queuesInForce: () => queues.inForce(),
    reconfigure: (changed, more) => {
      checker.reconfigure(changed, more)
      queues.replace(changed, more?.pools)
      leadership.reconfigure(changed, more)
    },
    on: (event, listener) => on(event, listener as never),
    onMatching: (event, listener) => leadership.subscribe((leader) => leader.on(event, listener as never)),
    close: async () => {
      ending.abort()
      await beginning
      await election.stop()
      isClosed = true
      leadership.close()
      await comparing.stop()
      await follower.close(new MatchmakerClosed('This process has left the partition.'))
      await store.close()
    },
  }
}
