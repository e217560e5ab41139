import type { Clock } from '@muster/core/clock'
import { createYielder, oneAtATime, type Yielder } from '@muster/core/internal'
import { type Allocator, type ResultOutbox, WRITTEN } from '@muster/hosting/internal'
import type { Events } from '../events.js'
import type { Cooldowns, QueueRuntime, TicketStore } from '../tickets/index.js'
import type { Backfills } from './backfills.js'
import type { BeginPrivate } from './match-commands.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import type { Group, Rounds } from './rounds.js'

/*
 * A tick, every `tickMs`, and in queues of mode 'arrival' for the tickets that have just come:
 *
 *   admit ────▶ group ────▶ claim ────▶ allocate
 *     │           │           │            └ writes each match's intent to the store; its create waits in line.
 *     │           │           │              Then pools order what they lack
 *     │           │           └ takes the tickets that still wait into a new match, or into a running one
 *     │           └ runs the kernel of each queue, in steps between which the event loop runs
 *     └ does what is due: removes what has ended, expires, counts acceptances, repeats stops, reconciles orphans
 */

interface TickOptions {
  readonly runtimes: () => Iterable<QueueRuntime>
  readonly tickets: TicketStore
  readonly backfills: Backfills
  readonly cooldowns: Pick<Cooldowns, 'advance'>
  readonly rounds: Rounds
  readonly beginPrivate: BeginPrivate
  readonly lifecycle: MatchLifecycle
  readonly allocator: Allocator
  readonly results: Pick<ResultOutbox, 'advance'> | undefined
  readonly events: Events
  readonly clock: Clock
  readonly stopwatch: () => number
  /** No more matches should be made. */
  readonly isClosed: () => boolean
}

/** What became of groups. */
interface Claimed {
  /** Number of matches that have begun. */
  readonly begun: number
  /** Each resolves when the intent of its match is in the store. Those that are there already have none. */
  readonly writing: readonly Promise<void>[]
  /** Groups without a server, at the server limit. */
  readonly short: readonly Group[]
}

/** The event loop runs between grouping and claiming, so groups are checked again before they are claimed. */
export function createTick(options: TickOptions) {
  const { runtimes, tickets, backfills, cooldowns, rounds, beginPrivate, lifecycle, allocator, results } = options
  const { events, clock, stopwatch, isClosed } = options

  const admit = (now: number) => {
    tickets.removeEnded(now)
    backfills.removeEnded(now)
    tickets.advance(now)
    cooldowns.advance(now)
    lifecycle.advance(now)
    allocator.advance(now)
    results?.advance(now)
  }

  const claim = async (groups: readonly Group[], mayDeploy: boolean, yielder: Yielder): Promise<Claimed> => {
    let begun = 0
    const writing: Promise<void>[] = []
    const short: Group[] = []
    const now = clock.now()
    let room = createRoom(mayDeploy ? lifecycle : undefined, clock.now())
    for (const group of room.isShort(groups) ? mostUrgentFirst(groups) : groups) {
      if (yielder.isDue()) {
        await yielder.yieldNow()
        room = createRoom(mayDeploy ? lifecycle : undefined, clock.now())
      }
      if (isClosed()) break
      if (group.runtime.isPaused) {
        // Since the group was found.
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

  /** One at a time: two rounds at once would find the same matches. */
  const inTurn = oneAtATime()

  return {
    /** The matchmaker's main path: admit → group → claim → allocate. */
    all: async () => {
      const startedAt = stopwatch()
      const recovered = await allocator.recovery.recover()
      const afterAdmission = createYielder(stopwatch)
      admit(clock.now())
      if (afterAdmission.isDue()) await afterAdmission.yieldNow()
      const begun = await inTurn(async () => {
        const yielder = createYielder(stopwatch)
        const now = clock.now()
        const given = recovered && !isClosed() ? beginPrivate(now) : []
        const groups = await rounds.next({
          now,
          yielder,
          room: (pool) => (recovered ? lifecycle.room(now, pool) : 0),
        })
        const claimed = await claim(groups, recovered, yielder)
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
      // Last, so that the servers that matches have taken are replaced at once.
      if (recovered && !isClosed()) allocator.pools.advance(clock.now())
    },

    /** The same for tickets that came into one queue. */
    arrived: async (runtime: QueueRuntime) => {
      if (!(await allocator.recovery.recover())) return
      const yielder = createYielder(stopwatch)
      const now = clock.now()
      const groups = rounds.ofArrived(runtime, { now, yielder, room: (pool) => lifecycle.room(now, pool) })
      await Promise.all((await claim(groups, true, yielder)).writing)
    },
  }
}

/** The most important, then those who wait longest, get the next server, whatever their queue. */
function mostUrgentFirst(groups: readonly Group[]): readonly Group[] {
  const urgencies = groups.map((group) => {
    const priority = group.records.reduce((most, record) => Math.max(most, record.priority), -Infinity)
    return { group, priority, oldest: group.records[0]?.createdAt ?? 0 }
  })
  urgencies.sort((one, other) => other.priority - one.priority || one.oldest - other.oldest)
  return urgencies.map(({ group }) => group)
}

/**
 * How many matches may begin: by new servers of the deployment service, and in a queue with a pool also by its warm
 * ones, which are used first. A pool of another source may have fewer than the service would give it.
 */
function createRoom(lifecycle: Pick<MatchLifecycle, 'room'> | undefined, now: number) {
  const all = lifecycle?.room(now) ?? 0
  let cold = all
  /** What a pool has beyond the room for new servers, or below 0 what it lacks; where that has no bound, all of it. */
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
    /** Whether there is room for some of the groups, and not for all. */
    isShort: (groups: readonly Group[]) => {
      const pools = new Set(groups.map(({ runtime }) => runtime.queue.pool))
      const room = Math.max(0, cold) + [...pools].reduce((sum, pool) => sum + warmIn(pool), 0)
      return room > 0 && room < groups.length
    },
  }
}
