import { createEventsWithProblems, createTicker, type ListenerProblem } from '@muster/core/internal'
import {
  type Matchmaker,
  MatchmakerClosed,
  type MatchmakerEvents,
  type MatchmakerOptions,
  type QueueDefinition,
  type Survey,
  type SurveyOptions,
  type Ticket,
} from '@muster/matchmaker'
import { configure, createTicketChecker, definePools, defineQueues, type Leader } from '@muster/matchmaker/internal'
import { createElection, type Lease } from './election.js'
import { IDENTITY_KEY } from './notes.js'
import { ClockDiffers, LeaseLost, RecordsVanished } from './partition-errors.js'
import { createFollower, type FollowerService } from './follower/follower.js'
import {
  fingerprintOf,
  inForceText,
  type PartitionOptions,
  type PartitionParts,
  type QueuesInForce,
  readInForce,
} from './partition-options.js'
import { createReplica, createStandby, createSync, type Standby, leadEpoch } from './leader/index.js'
import { createStoreClock } from './store-clock.js'
import type { Changes } from './store/index.js'

/** What a process reports of its partition. */
export interface PartitionEvents {
  /** This process matches from now on, `takeoverMs` milliseconds after it won the lease. */
  leading: (event: { readonly takeoverMs: number; readonly tickets: number }) => void
  /** This process leads no longer. */
  following: () => void
  /**
   * This process has taken a ticket. Of all events of a ticket, only this one is emitted in the process that its client
   * called.
   */
  ticketCreated: (event: { readonly ticket: Ticket }) => void
  /** The leader matches by other queues than this process has: see `queuesInForce`. */
  queuesDiffer: (event: { readonly inForce: QueuesInForce; readonly fingerprint: string }) => void
  /** Something went wrong that is tried again, or a listener failed. */
  problem: (problem: PartitionProblem) => void
}

export type PartitionProblem = ListenerProblem | { readonly during: 'partition'; readonly error: unknown }

/**
 * A process of a partition. It takes tickets like a matchmaker, as a service that answers by promises. One process, the
 * leader, holds the lease and makes matches; the others are followers.
 */
export interface Partition extends FollowerService {
  /**
   * Begins to follow the partition, and to lead it if no other process does. Before, and after `close`, no call is
   * answered.
   */
  start(): void
  /** Whether this process leads now, and has taken over the matches of the previous leader. */
  leads(): boolean
  /** Milliseconds by which the clock of Redis is ahead of this process', as measured last. */
  clockOffsetMs(): number
  /** How often this process saw the records vanish from Redis; see `RecordsVanished`. */
  timesVanished(): number
  /** See `Matchmaker`. Undefined unless this process leads: others do not have the tickets. */
  survey(options?: SurveyOptions): Survey | undefined
  /** The queues by which the leader matches; undefined before there was one. */
  queuesInForce(): Promise<QueuesInForce | undefined>
  /**
   * Replaces the queues of this process, and the pools if they are given. If it leads, they are in force at once;
   * otherwise from when it leads.
   * @throws {InvalidQueue}; {InvalidInput} for a pool; and nothing changes
   */
  reconfigure(queues: readonly QueueDefinition[], given?: Parameters<Matchmaker['reconfigure']>[1]): void
  /** Subscribes a listener to what this process does; returns a function that ends the subscription. */
  on<Name extends keyof PartitionEvents>(name: Name, listener: PartitionEvents[Name]): () => void
  /** Subscribes a listener to the events of the matchmaker, while this process leads. */
  onMatching<Name extends keyof MatchmakerEvents>(
    name: Name,
    listener: (event: MatchmakerEvents[Name]) => void,
  ): () => void
  /**
   * Leaves the partition: writes pending decisions and releases the lease, so that another process leads at once.
   * Tickets, matches and servers do not change.
   */
  close(): Promise<void>
}

/** Milliseconds that a match of these queues and pools can last at most. */
const longestMatchMs = (given: Pick<MatchmakerOptions, 'queues' | 'pools'>): number =>
  Math.max(...defineQueues(given.queues, definePools(given.pools ?? [])).map(({ deploy }) => deploy.maxDurationMs))

const RETRY_MS = 200
/** Milliseconds between two reads of the queues in force: less than any queue's `presence.withinMs` may be. */
const COMPARE_MS = 5000

/**
 * A process of a partition over any store.
 * @throws {InvalidInput} naming the option and the value; {InvalidQueue}
 */
export function createPartition(options: PartitionOptions, parts: PartitionParts): Partition {
  const { canLead = true, standby: keepsReady = true, leaseMs = 1000, askTimeoutMs = 10_000, ...given } = options
  const { openStore, owner, title = owner, newId, isDurable = false } = parts
  // Checked now, and not when this process becomes leader.
  const { clock: monotonic, random, endedTicketTtlMs, maxMatchesPerPlayer, locate, ...config } = configure(given)
  const { joinTokens, browser } = config
  const { emitter, emit } = createEventsWithProblems<PartitionEvents>()
  const problem = (error: unknown) => {
    if (!isClosed) emit('problem', { during: 'partition', error })
  }
  let { queues, pools } = given
  let isEnding = false
  let isClosed = false
  let leading: Leader | undefined
  /** Whether it has taken over the matches of the previous leader. */
  let isLeading = false
  /** of the present lease epoch. */
  let token = ''
  /** As the leader configures it, whose queues may be newer than those of this process. */
  let presenceInForce: ReadonlyMap<string, number> = new Map()
  /** Of the queues in force that were reported last. */
  let reported: string | undefined

  const store = openStore()
  const differs = (offsetMs: number) => problem(new ClockDiffers(offsetMs))
  const clock = createStoreClock({ store, clock: monotonic, differs })
  const checker = createTicketChecker({ queues, pools, maxMatchesPerPlayer, clock, random })

  /** Listeners to the matchmaker, whenever there is one here. */
  const subscriptions = new Set<(leader: Leader) => () => void>()
  const ends = new Map<(leader: Leader) => () => void, () => void>()

  /** The name that the partition had when this process last looked; see `IDENTITY_KEY`. */
  let identity: string | undefined
  let timesVanished = 0
  /** Until then, servers without a record are told to go on: players may be on them. */
  let sparedUntil = -Infinity
  /** Finds out whether Redis was emptied under this process. */
  const compareIdentity = async () => {
    const known = identity
    const [found] = await store.readNotes([IDENTITY_KEY])
    // What this process has learned meanwhile is newer than what was read.
    if (identity !== known) return
    if (known !== undefined && found !== known) {
      timesVanished += 1
      sparedUntil = clock.now() + longestMatchMs({ queues, pools })
      identity = undefined
      problem(new RecordsVanished(given.name))
    }
    identity = found ?? identity
  }
  /** Once records have vanished, a server without one may have players on it until the longest match is over. */
  const graceMs = () =>
    timesVanished === 0 ? config.orphanGraceMs : Math.max(config.orphanGraceMs, longestMatchMs({ queues, pools }))

  let standby: Standby | undefined
  const newStandby = (): Standby => {
    const matchmaker: MatchmakerOptions = { ...given, clock, queues, pools, orphanGraceMs: graceMs() }
    return createStandby({
      store,
      replica: createReplica({
        store,
        matchmaker,
        sparesUnknownServers: () => clock.now() < sparedUntil,
        newSecret: () => newId() + newId(),
        identified: (name) => void (identity = name),
        problem,
      }),
      clock,
      problem,
    })
  }
  /** Keeps a standby that is up to date, unless this process leads. */
  const keepReady = () => {
    if (leading !== undefined || isEnding) return
    if (standby?.isBroken() === true) {
      standby.close()
      standby = undefined
    }
    if (canLead && keepsReady) standby ??= newStandby()
  }

  const sync = createSync({ store, follower: owner, newId, clock, problem })
  const heard = (changes: Changes) => {
    if (changes.gap) standby?.missed()
    standby?.heard(changes.tickets)
    sync.heard(changes)
    keepReady()
  }
  const follower = createFollower({
    store,
    checker,
    name: owner,
    clock,
    newId,
    presenceWithinMs: (queue) => {
      const [own, inForce] = [checker.presenceWithinMs(queue), presenceInForce.get(queue)]
      return own === undefined || inForce === undefined ? (own ?? inForce) : Math.min(own, inForce)
    },
    askTimeoutMs,
    locate,
    joinTokens,
    browser,
    serverSecret: given.serverSecret,
    created: (ticket) => emit('ticketCreated', { ticket }),
    heard,
    problem,
  })

  /** Says by which queues this process leads, however often that takes. */
  const sayQueues = async ({ token: own, signal }: Lease): Promise<void> => {
    for (;;) {
      signal.throwIfAborted()
      try {
        await store.setInForce(own, inForceText(queues, title))
        return
      } catch (error) {
        if (error instanceof LeaseLost) throw error
        problem(error)
        await clock.sleep(RETRY_MS, signal)
      }
    }
  }

  const lead = async (lease: Lease): Promise<void> => {
    const wonAt = clock.now()
    const before = timesVanished
    await compareIdentity().catch(problem)
    // What was kept ready is of the records that are gone.
    if (timesVanished > before) standby?.missed()
    const ready = standby?.isBroken() === false ? standby : undefined
    if (ready === undefined) standby?.close()
    const mine = ready ?? newStandby()
    standby = mine
    const { leader } = mine.replica
    try {
      // What is read from now on needs no mark: no other leader can change it.
      if (ready !== undefined) await sync.reached(lease)
      const cursor = await mine.end()
      // From here on, new queues are given to this leader itself.
      standby = undefined
      leading = leader
      token = lease.token
      for (const subscribe of subscriptions) ends.set(subscribe, subscribe(leader))
      await sayQueues(lease)
      await leadEpoch({
        name: given.name,
        store,
        lease,
        replica: mine.replica,
        cursor,
        clock,
        random,
        isDurable,
        endedTicketTtlMs,
        leading: () => {
          isLeading = true
          emit('leading', { takeoverMs: clock.now() - wonAt, tickets: leader.longestWaiting(0).total })
        },
        problem,
      })
    } finally {
      if (standby === mine) standby = undefined
      mine.close()
      if (leading === leader) {
        leading = undefined
        ends.clear()
        if (isLeading) emit('following')
        isLeading = false
      }
      keepReady()
    }
  }
  const election = createElection({ store, owner, clock: monotonic, leaseMs, lead, problem })

  const queuesInForce = async (): Promise<QueuesInForce | undefined> => {
    const found = await store.getInForce()
    return found && readInForce(found.text, found.since)
  }
  const compareQueues = async () => {
    const inForce = await queuesInForce()
    presenceInForce = new Map(Object.entries(inForce?.presence ?? {}))
    const fingerprint = fingerprintOf(queues)
    const differ = inForce !== undefined && inForce.fingerprint !== fingerprint
    // Redis was not reached when they were replaced.
    if (differ && leading !== undefined) return void (await store.setInForce(token, inForceText(queues, title)))
    if (differ && reported !== inForce.fingerprint) emit('queuesDiffer', { inForce, fingerprint })
    reported = differ ? inForce.fingerprint : undefined
  }
  const comparing = createTicker({
    clock,
    everyMs: COMPARE_MS,
    atOnce: true,
    tick: async () => {
      await Promise.all([compareQueues(), compareIdentity(), clock.measure()]).catch(problem)
    },
    isNeeded: () => !isClosed,
  })

  let beginning: Promise<void> | undefined
  const ending = new AbortController()
  /** Nothing is read or decided before the store's time, which what is stored has, and its format are known. */
  const begin = async (): Promise<void> => {
    const isKnown = () => Promise.all([clock.measure(), store.getInForce()]).then(() => true)
    const { signal } = ending
    while (!signal.aborted && !(await isKnown().catch(problem))) await clock.sleep(RETRY_MS, signal).catch(() => {})
    if (signal.aborted) return
    follower.start()
    if (canLead) election.start()
    comparing.wake()
  }

  return {
    ...follower.service,
    start: () => void (beginning ??= begin()),
    clockOffsetMs: clock.offsetMs,
    timesVanished: () => timesVanished,
    leads: () => isLeading,
    survey: (wanted) => leading?.survey(wanted),
    queuesInForce,
    reconfigure: (definitions, changed) => {
      checker.reconfigure(definitions, changed)
      queues = definitions
      pools = changed?.pools ?? pools
      standby?.missed()
      if (leading === undefined) return
      leading.reconfigure(definitions, changed)
      store.setInForce(token, inForceText(definitions, title)).catch(problem)
    },
    on: (name, listener) => {
      emitter.on(name, listener as never)
      return () => void emitter.off(name, listener as never)
    },
    onMatching: (name, listener) => {
      const subscribe = (leader: Leader) => leader.on(name, listener as never)
      subscriptions.add(subscribe)
      if (leading !== undefined) ends.set(subscribe, subscribe(leading))
      return () => {
        subscriptions.delete(subscribe)
        ends.get(subscribe)?.()
        ends.delete(subscribe)
      }
    },
    close: async () => {
      isEnding = true
      ending.abort()
      await beginning
      await election.stop()
      isClosed = true
      standby?.close()
      await comparing.stop()
      await follower.close(new MatchmakerClosed('This process has left the partition.'))
      await store.close()
    },
  }
}
