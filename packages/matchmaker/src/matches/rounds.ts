import {
  type BackfillRecord,
  type QueueRuntime,
  type TicketRecord,
  isIn,
  slotIn,
  type TicketStore,
} from '../tickets/index.js'
import type { Yielder } from '@muster/core/internal'
import { type Grouped, levelAt, type Matches, type Round, type RoundOptions, type Slot, STEP } from '@muster/kernel'
import type { Queue } from '../queues/index.js'

/** Tickets that were grouped into a match. */
export interface GroupedTickets {
  readonly runtime: QueueRuntime
  /** The grouped tickets, the oldest first. */
  readonly records: readonly TicketRecord[]
  /** Index of the team of each record. */
  readonly teams: readonly number[]
  /** The backfill that the tickets join, and its version when they were grouped; undefined for a new match. */
  readonly backfill: { readonly record: BackfillRecord; readonly version: number } | undefined
  /** The queue of a private match; see `privateQueue`. Default: the runtime's. */
  readonly queue?: Queue | undefined
  /**
   * The wait, in milliseconds, at which the relaxation step of the youngest ticket begins: limits are then as relaxed
   * as this match needs. In a queue with `targetWaitMs`: the wait at which a ticket without a head start reaches the
   * strictest step of any of the tickets.
   */
  readonly expansionMs: number
}

/** The bounds of a round, which is one pass of matching over the waiting tickets of all queues. */
export interface RoundTerms {
  /** Epoch milliseconds. */
  readonly now: number
  readonly yielder: Yielder
  /** Returns how many more matches may begin in a queue with this pool, or without a pool. */
  readonly room: (pool: string | undefined) => number
}

/** Groups the tickets of all queues in steps. Neither the event loop nor a tick has to wait for the whole round. */
export interface Rounds {
  /**
   * Continues the round or begins the next one. Resolves with the groups found so far when the round ends or there are
   * enough groups.
   */
  next(terms: RoundTerms): Promise<GroupedTickets[]>
  /**
   * Finds groups for the tickets that have entered a queue since its last round. All waiting tickets may be in these
   * groups.
   */
  ofArrived(runtime: QueueRuntime, terms: RoundTerms): GroupedTickets[]
}

export interface RoundsOptions {
  readonly runtimes: () => Iterable<QueueRuntime>
  readonly tickets: Pick<TicketStore, 'reserve' | 'release'>
  /** The search budget: milliseconds for a round of the kernel; Infinity for no bound. */
  readonly budgetMs: number
}

/**
 * Number of tickets searched in one step: small, because the event loop waits until the step's groups are collected.
 */
const WORK = STEP / 40
/**
 * Number of additional groups to find if servers are short. Some groups may be cancelled meanwhile. The players of the
 * others learn that they wait for servers.
 */
const SPARE = 50

export function createRounds({ runtimes, tickets, budgetMs }: RoundsOptions): Rounds {
  /** The queue with which the next round begins. */
  let nextRuntime: QueueRuntime | undefined

  /**
   * Continues the round of one queue. If an earlier tick began it, runs another round that sees new tickets too.
   * Resolves with false if it stopped before the end.
   */
  const work = async (
    runtime: QueueRuntime,
    { now, yielder, ...terms }: RoundTerms,
    groups: GroupedTickets[],
  ): Promise<boolean> => {
    const room = terms.room(runtime.queue.pool)
    const servers = Math.max(0, room)
    const before = groups.length
    let isInOrder = runtime.isShort && servers < Infinity
    let isNew = runtime.round === undefined
    runtime.arrivals.clear()
    for (;;) {
      const most = isInOrder ? servers + SPARE : undefined
      // Without a server for every match, fill backfill slots first: players there need no further server.
      const openings = room > 0 && !isInOrder ? runtime.queue.backfill : ('first' as const)
      const round = (runtime.round ??= begin(runtime, now, { openings, most }))
      const isUnfinished = round.step(WORK, yielder.isDue)
      collect(runtime, round.take(), now, groups)
      const own = groups.slice(before)
      const matches = own.filter(({ backfill }) => backfill === undefined).length
      if (!isInOrder && matches > servers) {
        // The round has found the easiest matches, but the servers are for the tickets that have waited longest. Start
        // over in order of waiting time.
        for (const { records } of own) tickets.release(records, now)
        groups.length = before
        runtime.round = undefined
        isInOrder = isNew = true
        continue
      }
      const isEnough = matches >= servers + SPARE
      const isLate = yielder.spentMs() >= budgetMs
      if (!isUnfinished || isEnough) runtime.round = undefined
      if (isEnough) return !isUnfinished
      if (!isUnfinished && (isNew || isLate)) return true
      if (!isUnfinished) {
        isNew = true
        runtime.arrivals.clear()
      }
      if (isLate) {
        round.hurry()
        return false
      }
      if (yielder.isDue()) await yielder.yieldNow()
      // No round may stay unfinished while the queue is paused.
      if (runtime.isPaused) return true
    }
  }

  /** Begins a round. In queues with `targetWaitMs`, limits follow recent waits. */
  const begin = (runtime: QueueRuntime, now: number, options: RoundOptions): Round => {
    const headStarts = runtime.waits.headStarts(now)
    if (headStarts !== undefined) runtime.pool.setHeadStarts(headStarts)
    return runtime.pool.round(now, options)
  }

  /** Collects the groups found so far. They are read immediately, because a slot may soon hold another ticket. */
  const collect = (runtime: QueueRuntime, found: Matches, now: number, groups: GroupedTickets[]) => {
    for (const grouped of found) {
      const group = groupOf(runtime, grouped, now)
      if (group === undefined) continue
      tickets.reserve(group.records, runtime)
      groups.push(group)
    }
  }

  return {
    next: async (terms) => {
      const groups: GroupedTickets[] = []
      const all = [...runtimes()].filter(({ isPaused }) => !isPaused)
      const first = Math.max(0, nextRuntime === undefined ? 0 : all.indexOf(nextRuntime))
      nextRuntime = undefined
      const inOrder = [...all.slice(first), ...all.slice(0, first)]
      for (const [index, runtime] of inOrder.entries()) {
        if (index > 0 && terms.yielder.spentMs() >= budgetMs) nextRuntime = runtime
        // Round-robin: a queue that uses up the tick budget resumes after the other queues.
        else if (!(await work(runtime, terms, groups))) nextRuntime = inOrder[(index + 1) % inOrder.length]
        else continue
        break
      }
      return groups
    },

    ofArrived: (runtime, { now, yielder, room }) => {
      // If a round is running, the ticks continue it. If servers are short, tickets that have waited longer come first.
      if (runtime.round !== undefined || runtime.isPaused || runtime.isShort) return []
      const anchors = Array.from(runtime.arrivals, (record) => slotIn(record, record.runtimes.indexOf(runtime)))
      runtime.arrivals.clear()
      const groups: GroupedTickets[] = []
      const round = runtime.pool.round(now, {
        anchors,
        openings: room(runtime.queue.pool) > 0 ? runtime.queue.backfill : 'first',
      })
      // The next tick continues unfinished work.
      while (round.step(WORK, yielder.isDue) && !yielder.isDue());
      collect(runtime, round.take(), now, groups)
      return groups
    },
  }
}

/** Returns the group as records; undefined if one of its tickets has left in the meantime. */
function groupOf(runtime: QueueRuntime, { slots, teams, opening }: Grouped, now: number): GroupedTickets | undefined {
  const records = new Array<TicketRecord>(slots.length)
  for (let at = 0; at < slots.length; at += 1) {
    const record = runtime.records[slots[at] as Slot]
    // The ticket may have left the queue, or the queue may have been replaced.
    if (record === undefined || !isIn(record, runtime)) return undefined
    records[at] = record
  }
  const backfill = opening === undefined ? undefined : runtime.backfills[opening]
  if (opening !== undefined && backfill === undefined) return undefined
  return {
    runtime,
    records,
    teams,
    backfill: backfill && { record: backfill, version: backfill.version },
    expansionMs: expansionOf(runtime, records, slots, now),
  }
}

function expansionOf(
  { pool, compiled: { model } }: QueueRuntime,
  records: readonly TicketRecord[],
  slots: readonly Slot[],
  now: number,
): number {
  const { levels } = model
  const level =
    model.adaptive === true
      ? Math.min(...slots.map((slot) => pool.levelOf(slot, now)))
      : levelAt(levels, now - (records.at(-1)?.createdAt ?? now))
  return levels[level] ?? 0
}
