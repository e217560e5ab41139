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

/** The bound because of which nothing may be created now. */
export type Bound = keyof SpendBound

/** Says how many servers may be created now by the bounds of what may be spent, wherever they come from. */
export type Governor = ReturnType<typeof createGovernor>

const MINUTE_MS = 60_000

export function createGovernor({ maxServers, maxStarting, maxCreatesPerMinute, budget }: SpendBound) {
  let held: Bound | undefined
  const counts = maxCreatesPerMinute < Infinity
  /** When the creates of the last minute were sent, if they are counted. */
  let recent: number[] = []
  /** Those that were not sent yet. They count, because nobody knows when their turn comes. */
  const planned = new Set<object>()

  const creatable = (now: number): number => {
    if (!counts) return Infinity
    recent = recent.filter((at) => at > now - MINUTE_MS)
    return maxCreatesPerMinute - recent.length - planned.size
  }

  return {
    /** @param count all that exist or may exist. @param startingCount those of them without players yet. */
    room: ({ count, startingCount }: { readonly count: number; readonly startingCount: number }, now: number) => {
      const rooms: readonly (readonly [Bound, number])[] = [
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
    planned: (match: object) => {
      if (counts) planned.add(match)
      budget?.planned()
    },
    /** Notes that the create was sent. */
    sent: (match: object, now: number) => {
      planned.delete(match)
      if (counts) recent.push(now)
    },
    /** Notes that the create will never be sent. A create that was sent stays counted. */
    forgone: (match: object) => void planned.delete(match),
    /** The bound because of which `room` last returned 0; undefined if there was room. */
    held: (): Bound | undefined => held,
  }
}
