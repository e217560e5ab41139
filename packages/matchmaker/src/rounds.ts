import type { BackfillRecord } from './backfill/record.js'
import type { Grouped } from './kernel/model.js'
import { STEP } from './kernel/pool.js'
import type { Lane } from './tickets/lane.js'
import type { TicketRecord } from './tickets/record.js'
import type { Tickets } from './tickets/tickets.js'

/** Tickets that go together. */
export interface Group {
  readonly lane: Lane
  readonly records: readonly TicketRecord[]
  /** For each of them the index of its team. */
  readonly teams: readonly number[]
  /** The match that they come into, as it was then; undefined for a new one. */
  readonly backfill: { readonly record: BackfillRecord; readonly version: number } | undefined
  /** The highest of theirs. */
  readonly priority: number
  /** Epoch milliseconds since when the oldest of them waits. */
  readonly oldest: number
  /** Milliseconds of waiting at which the limits began that are in force for the youngest of them. */
  readonly expansionMs: number
}

/** Groups the tickets of all queues, in parts: neither the event loop nor a tick has to wait for all of it. */
export interface Rounds {
  /** Goes on with the round, or begins the next. Resolves with what it found until it was over, or the budget spent. */
  next(now: number): Promise<Group[]>
  /** Groups those that came into a queue since the last round, with whoever is there. */
  ofArrived(lane: Lane, now: number): Group[]
}

export interface RoundsOptions {
  readonly lanes: () => Iterable<Lane>
  readonly tickets: Pick<Tickets, 'reserve'>
  /** Milliseconds of work for a round; Infinity for no bound. */
  readonly budgetMs: number
  /** Milliseconds from any moment on: never stands still, unlike a manual clock. */
  readonly stopwatch: () => number
}

/** Milliseconds of work between two turns of the event loop. */
const STRETCH_MS = 10

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

export function createRounds({ lanes, tickets, budgetMs, stopwatch }: RoundsOptions): Rounds {
  /** Where the last round was cut off. */
  let unfinished: Lane | undefined

  /** Works on the round of one queue. False if it was cut off. */
  const work = async (lane: Lane, now: number, watch: Watch, groups: Group[]): Promise<boolean> => {
    lane.arrivals.clear()
    const round = (lane.round ??= lane.pool.round(now, { openings: lane.queue.backfill }))
    while (round.step(STEP)) {
      if (watch.isOver()) {
        collect(lane, round.take(), now, groups)
        return false
      }
      await watch.rest()
    }
    lane.round = undefined
    collect(lane, round.take(), now, groups)
    return true
  }

  const collect = (lane: Lane, found: readonly Grouped[], now: number, groups: Group[]) => {
    for (const grouped of found) {
      const group = groupOf(lane, grouped, now)
      if (group === undefined) continue
      tickets.reserve(group.records, lane)
      groups.push(group)
    }
  }

  return {
    next: async (now) => {
      const watch = createWatch(stopwatch, budgetMs)
      const groups: Group[] = []
      const all = [...lanes()]
      const first = Math.max(0, unfinished === undefined ? 0 : all.indexOf(unfinished))
      unfinished = undefined
      for (const [index, lane] of [...all.slice(first), ...all.slice(0, first)].entries()) {
        if (index > 0 && watch.isOver()) unfinished = lane
        else if (!(await work(lane, now, watch, groups))) unfinished = lane
        if (unfinished !== undefined) break
      }
      return groups
    },

    ofArrived: (lane, now) => {
      // A tick is at it, or the next one will be.
      if (lane.round !== undefined) return []
      const watch = createWatch(stopwatch, STRETCH_MS)
      const anchors = Array.from(lane.arrivals, (record) => record.slots[record.lanes.indexOf(lane)] as number)
      lane.arrivals.clear()
      const groups: Group[] = []
      const round = lane.pool.round(now, { anchors, openings: lane.queue.backfill })
      // What is not done by then is left to the next tick.
      while (round.step(STEP) && !watch.isOver());
      collect(lane, round.take(), now, groups)
      return groups
    },
  }
}

interface Watch {
  isOver(): boolean
  /** Lets others work, if it is time for that. */
  rest(): Promise<void>
}

function createWatch(stopwatch: () => number, budgetMs: number): Watch {
  const startedAt = stopwatch()
  let restedAt = startedAt
  return {
    isOver: () => stopwatch() - startedAt >= budgetMs,
    rest: async () => {
      if (stopwatch() - restedAt < STRETCH_MS) return
      await turn()
      restedAt = stopwatch()
    },
  }
}

/** Undefined if one of them has gone since. */
function groupOf(lane: Lane, { slots, teams, opening }: Grouped, now: number): Group | undefined {
  const records: TicketRecord[] = []
  let oldest = Infinity
  let youngest = -Infinity
  let priority = -Infinity
  for (const slot of slots) {
    const record = lane.records[slot]
    if (record === undefined) return undefined
    records.push(record)
    priority = Math.max(priority, record.priority)
    oldest = Math.min(oldest, record.createdAt)
    youngest = Math.max(youngest, record.createdAt)
  }
  const backfill = opening === undefined ? undefined : lane.backfills[opening]
  if (opening !== undefined && backfill === undefined) return undefined
  const expansionMs = lane.compiled.model.levels.findLast((ms) => ms <= now - youngest) ?? 0
  return { lane, records, teams, backfill: backfill && { record: backfill, version: backfill.version }, priority, oldest, expansionMs }
}
