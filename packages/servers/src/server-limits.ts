import { Forbidden, RouteMissing, Unauthorized } from '@muster/core'
import type { Random } from '@muster/core/clock'
import { backoffMs } from '@muster/core/internal'

/**
 * Bounds how many tasks are under way at once; the others wait in the order in which they came.
 * @param take runs a task; never rejects.
 */
export function createConcurrencyLimit<Item>(most: number, take: (item: Item) => Promise<void>) {
  const waiting = new Set<Item>()
  let underWay = 0
  let isStopped = false

  const begin = () => {
    if (isStopped || underWay >= most) return
    for (const item of waiting) {
      waiting.delete(item)
      underWay += 1
      void take(item).finally(over)
      if (underWay >= most) return
    }
  }
  const over = () => {
    underWay -= 1
    begin()
  }

  return {
    /** Adds a task. It starts soon, or once others have ended: never within the caller's turn of the event loop. */
    add: (item: Item) => {
      waiting.add(item)
      queueMicrotask(begin)
    },
    /** Removes a waiting task. Returns false if it does not wait. */
    remove: (item: Item) => waiting.delete(item),
    /** Starts no more tasks. */
    stop: () => {
      isStopped = true
    },
    /** Number of tasks that have not ended. */
    underWay: () => underWay,
    /** Number of tasks that wait for their turn. */
    waiting: () => waiting.size,
  }
}

/** What several matchmakers may spend together. It answers at once, by the part that this one holds already. */
export interface SpendBudget {
  /** How many more deployments this matchmaker may have. @param count those that exist or may exist. */
  servers(count: number): number
  /** How many creates it may plan. */
  creates(): number
  /** Notes that a create is planned; it counts as sent. */
  planned(): void
}

/** Bounds of what may be spent. */
export interface SpendBound {
  /** Deployments that exist or may exist, at most. */
  readonly maxServers: number
  /** Deployments to which no players were sent yet, at most. */
  readonly maxStarting: number
  /** Creates sent within any minute, at most. */
  readonly maxCreatesPerMinute: number
  /** What it shares with others. */
  readonly budget?: SpendBudget | undefined
}

/**
 * Why nothing may be created now: one of the bounds; `paused`, because the service took nothing; or `unstoppable`,
 * because it is not known whether a server could be stopped again.
 */
export type Held = keyof SpendBound | 'paused' | 'unstoppable'

/**
 * Says how many deployments may be created now: the bounds, and a pause while the service takes none. In a pause, one
 * create at a time finds out whether it is over; with the first answer, everything may be sent again.
 *
 * Until the service has answered a read, and while it refuses a stop, one deployment may exist and no second: a wrong
 * address can serve creates alone, and each server would then run until its time limit.
 */
export type Governor = ReturnType<typeof createGovernor>

/** One or two failures may be bad luck, and the others should not wait for it. */
const FAILURES_BEFORE_PAUSE = 3
/** Between two probes: the first answer after an outage is at most this late; an hour of it costs 1,500 creates. */
const PROBE_GAP = { baseMs: 500, capMs: 3000, jitter: 0.5 }
const MINUTE_MS = 60_000
/** Failures of a stop that the next one will have too, until somebody changes the address, the token or the account. */
const stopRefusals = [RouteMissing, Unauthorized, Forbidden]

export function createGovernor(bound: SpendBound, random: Random) {
  const { maxServers, maxStarting, maxCreatesPerMinute, budget } = bound
  /** Since the last answer, as far as they are counted. */
  let failures = 0
  /** Since the pause began. */
  let probes = 0
  let probeAt = 0
  let answeredAt = -Infinity
  let held: Held | undefined
  const counts = maxCreatesPerMinute < Infinity
  /** When the creates of the last minute were sent, if they are counted. */
  let recent: number[] = []
  /** Whether the service has answered a list, a status or a stop, since a route was missing. */
  let canRead = false
  /** Deployments whose stop is refused: as long as there is one, another server might run for good as well. */
  const unstoppable = new Set<string>()
  /** Those that were not sent yet. They count, because nobody knows when their turn comes. */
  const planned = new Set<object>()

  const creatable = (now: number): number => {
    if (!counts) return Infinity
    recent = recent.filter((at) => at > now - MINUTE_MS)
    return maxCreatesPerMinute - recent.length - planned.size
  }

  const isPaused = () => failures >= FAILURES_BEFORE_PAUSE
  const pausedRoom = (now: number) => {
    if (!isPaused()) return Infinity
    return now < probeAt ? 0 : 1
  }
  /** One server may exist that cannot be stopped, and never two. */
  const stoppableRoom = (count: number) => (canRead && unstoppable.size === 0 ? Infinity : 1 - count)
  const putOff = (now: number) => {
    probes += 1
    probeAt = now + backoffMs(probes, random(), PROBE_GAP)
  }

  return {
    /** @param count all whose deployment may exist. @param startingCount those of them without players yet. */
    room: ({ count, startingCount }: { readonly count: number; readonly startingCount: number }, now: number) => {
      const rooms: readonly (readonly [Held, number])[] = [
        ['unstoppable', stoppableRoom(count)],
        ['paused', pausedRoom(now)],
        ['maxServers', maxServers - count],
        ['maxStarting', maxStarting - startingCount],
        ['maxCreatesPerMinute', creatable(now)],
        ['budget', budget === undefined ? Infinity : Math.min(budget.servers(count), budget.creates())],
      ]
      held = rooms.find(([, room]) => room <= 0)?.[0]
      return Math.max(0, Math.min(...rooms.map(([, room]) => room)))
    },
    /** Whether one more create may be sent within this minute, beside those that are planned. */
    mayCreate: (now: number) => creatable(now) > 0 && (budget === undefined || budget.creates() > 0),
    /** Notes that the create of this match will be sent when its turn comes. */
    planned: (match: object, now: number) => {
      if (counts) planned.add(match)
      budget?.planned()
      // It is the probe. If it gets no answer at all, the next one does not wait for it.
      if (isPaused()) putOff(now)
    },
    /** Notes that the create was sent. */
    sent: (match: object, now: number) => {
      planned.delete(match)
      if (counts) recent.push(now)
    },
    /** Notes that the create will never be sent. A create that was sent stays counted. */
    forgone: (match: object) => void planned.delete(match),
    /** Notes that the service answered a create, even with a refusal. */
    answered: (now: number) => {
      failures = 0
      probes = 0
      probeAt = 0
      answeredAt = now
    },
    /** Notes that a create failed through no fault of its match. @param sentAt epoch milliseconds. */
    failed: (sentAt: number, now: number) => {
      // What was sent before the last answer, and fails after it, tells of an outage that is over.
      if (isPaused() || sentAt <= answeredAt) return
      failures += 1
      if (isPaused()) putOff(now)
    },
    /** Notes that the service answered a list or a status: what it has created can be found again. */
    read: () => {
      canRead = true
    },
    /** Notes that a list or a status failed. */
    unread: (error: unknown) => {
      if (error instanceof RouteMissing) canRead = false
    },
    /** Notes that the stop of a deployment was confirmed. */
    stopped: (requestId: string) => void unstoppable.delete(requestId),
    /** Notes that the stop of a deployment failed. */
    unstopped: (requestId: string, error: unknown) => {
      if (stopRefusals.some((kind) => error instanceof kind)) unstoppable.add(requestId)
    },
    /** Why `room` last returned 0; undefined if there was room. */
    held: (): Held | undefined => held,
    /** Epoch milliseconds at which one create finds out whether the pause is over; in the past, or 0, without one. */
    pausedUntil: () => probeAt,
  }
}
