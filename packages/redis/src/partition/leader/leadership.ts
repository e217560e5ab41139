import type { Clock, Random } from '@muster/core/clock'
import type { MatchmakerOptions, Survey, SurveyOptions } from '@muster/matchmaker'
import type { Leader } from '@muster/matchmaker/internal'
import type { Lease } from '../lease.js'
import type { OwnQueues } from '../own-queues.js'
import type { PartitionIdentity } from '../partition-identity.js'
import type { Changes, PartitionStore } from '../store/index.js'
import { leadEpoch } from './lead-epoch.js'
import { Replica } from './replica.js'
import { createStandby, createSync, type Standby } from './standby.js'

interface LeadershipOptions {
  readonly store: PartitionStore
  /** Options of this process, except its queues and pools, which are in `queues`. */
  readonly matchmaker: MatchmakerOptions & { readonly name: string }
  readonly queues: OwnQueues
  readonly identity: PartitionIdentity
  /** Random name of this process. */
  readonly owner: string
  readonly newId: () => string
  readonly isDurable: boolean
  /** True if this process keeps all tickets loaded while another process leads. */
  readonly keepsStandby: boolean
  readonly orphanGraceMs: number
  readonly endedTicketTtlMs: number
  readonly clock: Clock
  readonly random: Random
  /** Aborted when this process leaves the partition. */
  readonly ending: AbortSignal
  readonly leading: (event: { readonly takeoverMs: number; readonly tickets: number }) => void
  readonly following: () => void
  readonly problem: (error: unknown) => void
}

type Subscribe = (leader: Leader) => () => void

/** The leading part of a process. Between two lease epochs it maintains a standby. */
export class Leadership {
  readonly #options: LeadershipOptions
  readonly #sync: ReturnType<typeof createSync>
  #standby: Standby | undefined
  /** Number of losses of records before the standby was created. */
  #builtAfter = 0
  #leader: Leader | undefined
  /** True once this process has taken over the matches of the previous leader. */
  #isLeading = false
  /**
   * Subscriptions to the matchmaker that exists while this process leads or follows, and the functions that end them.
   */
  readonly #subscriptions = new Map<Subscribe, (() => void) | undefined>()

  constructor(options: LeadershipOptions) {
    const { store, owner, newId, clock, problem } = options
    this.#options = options
    this.#sync = createSync({ store, follower: owner, newId, clock, problem })
  }

  /** True if this process leads now, and has taken over the matches of the previous leader. */
  isLeading(): boolean {
    return this.#isLeading
  }
  survey(wanted: SurveyOptions | undefined): Survey | undefined {
    return this.#leader?.survey(wanted)
  }

  /** Subscribes to the matchmaker, now and whenever this process leads. Returns a function that unsubscribes. */
  subscribe(subscribe: Subscribe): () => void {
    this.#subscriptions.set(subscribe, this.#leader && subscribe(this.#leader))
    return () => {
      this.#subscriptions.get(subscribe)?.()
      this.#subscriptions.delete(subscribe)
    }
  }

  /** Passes on the changed queues of this process, to its standby or leader. */
  reconfigure(...given: Parameters<Leader['reconfigure']>): void {
    this.#standby?.missed()
    if (this.#leader === undefined) return
    this.#leader.reconfigure(...given)
    this.#options.queues.say().catch(this.#options.problem)
  }

  /** Receives the changes that this process has read as a follower. */
  receive(changes: Changes): void {
    if (changes.gap) this.#standby?.missed()
    this.#standby?.receive(changes.tickets)
    this.#sync.receive(changes)
    this.#keepReady()
  }

  /** Leads for one lease epoch. */
  async lead(lease: Lease): Promise<void> {
    const { store, matchmaker, queues, identity, isDurable, endedTicketTtlMs, clock, random, problem } = this.#options
    const wonAt = clock.now()
    await identity.compare().catch(problem)
    // The standby was built from records that were lost.
    if (identity.timesVanished() > this.#builtAfter) this.#standby?.missed()
    const ready = this.#standby?.isBroken() === false ? this.#standby : undefined
    if (ready === undefined) this.#standby?.close()
    const mine = ready ?? this.#newStandby()
    this.#standby = mine
    const { replica } = mine
    const { leader } = replica
    try {
      // No other leader can write any more, so what is read from now on is complete without waiting for a mark in the
      // stream.
      if (ready !== undefined) await this.#sync.reached(lease)
      const cursor = await mine.end()
      // From here on, changed queues go to this leader itself.
      this.#standby = undefined
      this.#leader = leader
      for (const subscribe of this.#subscriptions.keys()) this.#subscriptions.set(subscribe, subscribe(leader))
      await queues.lead(lease)
      await leadEpoch({
        name: matchmaker.name,
        store,
        lease,
        replica,
        cursor,
        clock,
        random,
        isDurable,
        endedTicketTtlMs,
        leading: () => {
          this.#isLeading = true
          this.#options.leading({ takeoverMs: clock.now() - wonAt, tickets: leader.longestWaiting(0).total })
        },
        problem,
      })
    } finally {
      if (this.#standby === mine) this.#standby = undefined
      mine.close()
      if (this.#leader === leader) this.#follow()
      this.#keepReady()
    }
  }

  close(): void {
    this.#standby?.close()
  }

  #follow(): void {
    this.#leader = undefined
    this.#options.queues.follow()
    for (const subscribe of this.#subscriptions.keys()) this.#subscriptions.set(subscribe, undefined)
    if (this.#isLeading) this.#options.following()
    this.#isLeading = false
  }

  /** Maintains an up-to-date standby, unless this process leads. */
  #keepReady(): void {
    if (this.#leader !== undefined || this.#options.ending.aborted) return
    if (this.#standby?.isBroken() === true) {
      this.#standby.close()
      this.#standby = undefined
    }
    if (this.#options.keepsStandby) this.#standby ??= this.#newStandby()
  }

  #newStandby(): Standby {
    const { store, matchmaker, queues, identity, newId, orphanGraceMs, clock, problem } = this.#options
    this.#builtAfter = identity.timesVanished()
    const replica = new Replica({
      store,
      matchmaker: { ...matchmaker, ...queues.own(), clock, orphanGraceMs: identity.graceMs(orphanGraceMs) },
      sparesUnknownServers: () => identity.sparesUnknownServers(),
      newSecret: () => newId() + newId(),
      isVoid: (found) => identity.isVoid(found),
      identified: (found) => identity.learn(found),
      problem,
    })
    return createStandby({ store, replica, clock, problem })
  }
}
