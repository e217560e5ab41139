import type { Clock } from '@muster/core/clock'
import { createYielder, type Yielder } from '@muster/core/internal'
import { type Allocator, WRITTEN } from '@muster/servers/internal'
import type { Events } from '../events.js'
import type { Cooldowns, QueueRuntime, TicketStore } from '../tickets/index.js'
import type { Backfills } from './backfills.js'
import type { BeginPrivate } from './create-match.js'
import type { MatchLifecycle } from './match-lifecycle.js'
import type { Group, Rounds } from './rounds.js'

/*
 * A tick, every `tickMs`, and in queues of mode 'arrival' for the tickets that have just come:
 *
 *   admit ────▶ group ────▶ claim ────▶ allocate
 *     │           │           │            └ writes each match's intent to the store; its create waits in line
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
  readonly events: Events
  readonly clock: Clock
  readonly stopwatch: () => number
  /** No more matches should be made. */
  readonly isClosed: () => boolean
}

interface Tick {
  /** The matchmaker's main path: admit → group → claim → allocate. */
  all(): Promise<void>
  /** The same for tickets that came into one queue. */
  arrived(runtime: QueueRuntime): Promise<void>
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
export function createTick(options: TickOptions): Tick {
  const { runtimes, tickets, backfills, cooldowns, rounds, beginPrivate, lifecycle, allocator } = options
  const { events, clock, stopwatch, isClosed } = options

  const admit = (now: number) => {
    tickets.removeEnded(now)
    backfills.removeEnded(now)
    tickets.advance(now)
    cooldowns.advance(now)
    lifecycle.advance(now)
    allocator.advance(now)
  }

  const claim = async (groups: readonly Group[], mayDeploy: boolean, yielder: Yielder): Promise<Claimed> => {
    let begun = 0
    const writing: Promise<void>[] = []
    const short: Group[] = []
    const now = clock.now()
    const roomNow = () => (mayDeploy ? lifecycle.room(clock.now()) : 0)
    let room = roomNow()
    for (const group of room >= groups.length || room <= 0 ? groups : mostUrgentFirst(groups)) {
      if (yielder.isDue()) {
        await yielder.yieldNow()
        room = roomNow()
      }
      if (isClosed()) break
      if (group.runtime.isPaused) {
        // Since the group was found.
        tickets.release(group.records, now)
        continue
      }
      const beginning = group.backfill === undefined && room > 0 ? lifecycle.begin(group, now) : undefined
      if (beginning !== undefined) {
        begun += 1
        if (beginning !== WRITTEN) writing.push(beginning)
        room -= 1
      } else if (group.backfill !== undefined) {
        lifecycle.join(group, now)
      } else if (room <= 0) {
        short.push(group)
      }
      tickets.release(group.records, now)
    }
    return { begun, writing, short }
  }

  /** One at a time: two rounds at once would find the same matches. */
  let last: Promise<unknown> = Promise.resolve()
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }

  return {
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
        const groups = await rounds.next({ now, yielder, room: recovered ? lifecycle.room(now) : 0 })
        const claimed = await claim(groups, recovered, yielder)
        const shortIn = new Set(claimed.short.map(({ runtime }) => runtime))
        for (const runtime of runtimes()) runtime.waits.setShort(shortIn.has(runtime), now)
        await tickets.shortOfServers(
          claimed.short.flatMap(({ records }) => records),
          yielder,
        )
        return { matches: given.length + claimed.begun, writing: [...given, ...claimed.writing] }
      })
      events.emit('tickCompleted', { durationMs: stopwatch() - startedAt, matches: begun.matches })
      await Promise.all(begun.writing)
    },

    arrived: async (runtime) => {
      if (!(await allocator.recovery.recover())) return
      const yielder = createYielder(stopwatch)
      const now = clock.now()
      const groups = rounds.ofArrived(runtime, { now, yielder, room: lifecycle.room(now) })
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
