import type { Clock } from '@muster/core/clock'
import { createTicker, createYielder, oneAtATime, type Ticker, type Yielder } from '@muster/core/internal'
import { type Allocator, type ResultOutbox, WRITTEN } from '@muster/hosting/internal'
import type { Events } from '../events.js'
import type { Cooldowns, QueueRuntime, TicketStore } from '../tickets/index.js'
import type { Backfills } from './backfills.js'
import type { BeginPrivate } from './match-commands.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import type { GroupedTickets, Rounds } from './rounds.js'

interface TicksOptions {
  readonly runtimes: () => Iterable<QueueRuntime>
  readonly tickets: TicketStore
  readonly backfills: Backfills
  readonly cooldowns: Pick<Cooldowns, 'advance'>
  readonly rounds: Rounds
  readonly beginPrivate: BeginPrivate
  readonly lifecycle: MatchLifecycle
  readonly allocator: Allocator
  readonly results: Pick<ResultOutbox, 'advance' | 'load'> | undefined
  readonly events: Events
  readonly clock: Clock
  readonly stopwatch: () => number
  readonly tickMs: number
  /** Called with the error of a tick that nobody awaits. */
  readonly failed: (error: unknown) => void
  /** True if no more matches should be made. */
  readonly isClosed: () => boolean
}

/** The outcome of claiming groups, i.e. of moving their tickets into matches. */
interface Claimed {
  /** Number of matches that have begun. */
  readonly begun: number
  /**
   * Promises that resolve once the store has recorded that the matches need servers. A match that is already recorded
   * has none.
   */
  readonly writing: readonly Promise<void>[]
  /** Groups that get no server because of the server limit. */
  readonly short: readonly GroupedTickets[]
}

/*
 * A tick runs every `tickMs`. In queues of mode 'arrival', another one runs for tickets that were just created:
 *
 * admit ────▶ group ────▶ claim ────▶ allocate
 *     │           │           │            └ writes each match's intent to the store; its create waits in line.
 *     │           │           │              Then pools order what they lack
 *     │           │           └ takes the tickets that still wait into a new match, or into a running one
 *     │           └ runs the kernel of each queue, in steps between which the event loop runs
 *     └ does what is due: removes what has ended, expires, counts acceptances, repeats stops, reconciles orphans
 */

/** Milliseconds by which a periodic tick must be late to count as a pause of this process (our choice). */
const PAUSE_MS = 1000
/** Number of stored results that are loaded at once (our choice), in about 1 ms. */
const LOADED_AT_ONCE = 100

/** Runs ticks one after another: periodically between `start` and `stop`, and when `tick` is called. */
export class Ticks {
  readonly #options: TicksOptions
  /** Runs one tick at a time, because two concurrent rounds would find the same matches. */
  readonly #inTurn = oneAtATime()
  /** The running ticker; undefined while ticks do not run periodically. */
  #ticker: Ticker | undefined
  /** The end of the last tick in epoch milliseconds; undefined before the first tick after `start`. */
  #endedAt: number | undefined

  constructor(options: TicksOptions) {
    this.#options = options
  }

  /** Starts to tick periodically. */
  start(): void {
    const { clock, tickMs, failed, isClosed } = this.#options
    if (this.#ticker !== undefined || isClosed()) return
    this.#endedAt = undefined
    this.#ticker = createTicker({
      clock,
      everyMs: tickMs,
      tick: () => this.tick().catch(failed),
      atOnce: true,
      isNeeded: () => true,
    })
    this.#ticker.wake()
  }

  async stop(): Promise<void> {
    const last = this.#ticker
    this.#ticker = undefined
    await last?.stop()
  }

  /** The matchmaker's main path: admit → group → claim → allocate. */
  async tick(): Promise<void> {
    const { runtimes, tickets, rounds, beginPrivate, lifecycle, allocator } = this.#options
    const { events, clock, stopwatch, isClosed } = this.#options
    const startedAt = stopwatch()
    const recovered = await allocator.recovery.recover()
    await this.#loadResults()
    const afterAdmission = createYielder(stopwatch)
    this.#admit(clock.now())
    if (afterAdmission.isDue()) await afterAdmission.yieldNow()
    const begun = await this.#inTurn(async () => {
      const yielder = createYielder(stopwatch)
      const now = clock.now()
      const given = recovered && !isClosed() ? beginPrivate(now) : []
      const groups = await rounds.next({
        now,
        yielder,
        room: (pool) => (recovered ? lifecycle.room(now, pool) : 0),
      })
      const claimed = await this.#claim(groups, recovered, yielder)
      const shortIn = new Set(claimed.short.map(({ runtime }) => runtime))
      for (const runtime of runtimes()) {
        runtime.isShort = shortIn.has(runtime)
        runtime.waits.setShort(runtime.isShort, now)
      }
      await tickets.shortOfServers(
        claimed.short.flatMap(({ records }) => records),
        yielder,
      )
      return { matches: given.length + claimed.begun, writing: [...given, ...claimed.writing] }
    })
    events.emit('tickCompleted', { durationMs: stopwatch() - startedAt, matches: begun.matches })
    await Promise.all(begun.writing)
    // Advance pools last, so that they replace servers that matches have just taken.
    if (recovered && !isClosed()) allocator.pools.advance(clock.now())
    this.#endedAt = clock.now()
  }

  /**
   * Called when tickets have arrived in a queue that makes matches at arrival. Tickets added in one call count as one
   * arrival.
   */
  arrived(runtime: QueueRuntime): void {
    if (this.#ticker !== undefined) queueMicrotask(() => void this.#matchArrived(runtime).catch(this.#options.failed))
  }

  async #matchArrived(runtime: QueueRuntime): Promise<void> {
    const { rounds, lifecycle, allocator, clock, stopwatch } = this.#options
    if (!(await allocator.recovery.recover())) return
    const yielder = createYielder(stopwatch)
    const now = clock.now()
    const groups = rounds.ofArrived(runtime, { now, yielder, room: (pool) => lifecycle.room(now, pool) })
    await Promise.all((await this.#claim(groups, true, yielder)).writing)
  }

  /** Returns the milliseconds for which this process was paused before this tick, e.g. with its machine. */
  #pausedMs(now: number): number {
    if (this.#ticker === undefined || this.#endedAt === undefined) return 0
    const lateMs = now - this.#endedAt - this.#options.tickMs
    return lateMs > PAUSE_MS ? lateMs : 0
  }

  /** Loads the stored results after a start, in slices, because 50,000 of them take half a second. */
  async #loadResults(): Promise<void> {
    const { results, stopwatch } = this.#options
    const yielder = createYielder(stopwatch)
    while (results?.load(LOADED_AT_ONCE) === false) if (yielder.isDue()) await yielder.yieldNow()
  }

  #admit(now: number): void {
    const pausedMs = this.#pausedMs(now)
    const { tickets, backfills, cooldowns, lifecycle, allocator, results } = this.#options
    tickets.removeEnded(now)
    backfills.removeEnded(now)
    tickets.advance(now, pausedMs > 0)
    cooldowns.advance(now)
    lifecycle.advance(now, pausedMs)
    allocator.advance(now)
    results?.advance(now)
  }

  /** Claims groups. They are checked again first, because the event loop runs between grouping and claiming. */
  async #claim(groups: readonly GroupedTickets[], mayDeploy: boolean, yielder: Yielder): Promise<Claimed> {
    const { tickets, lifecycle, clock, isClosed } = this.#options
    let begun = 0
    const writing: Promise<void>[] = []
    const short: GroupedTickets[] = []
    const now = clock.now()
    let room = createRoom(mayDeploy ? lifecycle : undefined, clock.now())
    for (const group of room.isShort(groups) ? mostUrgentFirst(groups) : groups) {
      if (yielder.isDue()) {
        await yielder.yieldNow()
        room = createRoom(mayDeploy ? lifecycle : undefined, clock.now())
      }
      if (isClosed()) break
      if (group.runtime.isPaused) {
        // A ticket has changed since the group was found.
        tickets.release(group.records, now)
        continue
      }
      const { pool } = group.runtime.queue
      const hasRoom = group.backfill === undefined && room.of(pool) > 0
      const beginning = hasRoom ? lifecycle.begin(group, now) : undefined
      if (beginning !== undefined) {
        begun += 1
        if (beginning !== WRITTEN) writing.push(beginning)
        room.take(pool)
      } else if (group.backfill !== undefined) {
        lifecycle.join(group, now)
      } else if (!hasRoom) {
        short.push(group)
      }
      tickets.release(group.records, now)
    }
    return { begun, writing, short }
  }
}

/**
 * Sorts groups so that the next server goes to the highest priority, then to the longest wait, regardless of the queue.
 */
function mostUrgentFirst(groups: readonly GroupedTickets[]): readonly GroupedTickets[] {
  const urgencies = groups.map((group) => {
    const priority = group.records.reduce((most, record) => Math.max(most, record.priority), -Infinity)
    return { group, priority, oldest: group.records[0]?.createdAt ?? 0 }
  })
  urgencies.sort((one, other) => other.priority - one.priority || one.oldest - other.oldest)
  return urgencies.map(({ group }) => group)
}

/**
 * Creates the counter of how many more matches may begin. Each needs a new server of the deployment service. In a queue
 * with a pool, the pool's warm servers count too and are used first. A pool of another source may have fewer servers
 * than the deployment service allows.
 */
function createRoom(lifecycle: Pick<MatchLifecycle, 'room'> | undefined, now: number) {
  const all = lifecycle?.room(now) ?? 0
  let cold = all
  /**
   * For each pool, the number of matches that it can take beyond the new servers that may be created, i.e. its warm
   * servers. The number is negative if the pool may create fewer servers. If new servers are unlimited, it is the
   * number of all matches that the pool can take.
   */
  const own = new Map<string, number>()
  const ownOf = (pool: string): number => {
    const room = lifecycle?.room(now, pool) ?? 0
    const known = own.get(pool) ?? (all < Infinity ? room - all : room)
    own.set(pool, known)
    return known
  }
  const warmIn = (pool: string | undefined) => (pool === undefined ? 0 : Math.max(0, ownOf(pool)))
  const of = (pool: string | undefined) => {
    if (pool === undefined) return Math.max(0, cold)
    return Math.max(0, all < Infinity ? Math.max(0, cold) + ownOf(pool) : ownOf(pool))
  }
  return {
    of,
    take: (pool: string | undefined) => {
      if (pool !== undefined && warmIn(pool) > 0) own.set(pool, ownOf(pool) - 1)
      else cold -= 1
    },
    /** True if there are servers for some of the groups but not for all. */
    isShort: (groups: readonly GroupedTickets[]) => {
      const pools = new Set(groups.map(({ runtime }) => runtime.queue.pool))
      const room = Math.max(0, cold) + [...pools].reduce((sum, pool) => sum + warmIn(pool), 0)
      return room > 0 && room < groups.length
    },
  }
}
