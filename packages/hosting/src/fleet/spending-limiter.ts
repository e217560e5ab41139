/** A budget that several matchmakers share. Replies at once, from the share that this matchmaker already holds. */
export interface SpendBudget {
  /** Returns how many more deployments this matchmaker may have. @param count number that exist or may exist. */
  servers(count: number): number
  /** Returns how many creates this matchmaker may plan. */
  creates(): number
  /** Records that a create is planned. It counts as sent. */
  planned(): void
}

/** Limits of what may be spent. */
export interface SpendBound {
  /** Maximum number of deployments that exist or may exist. */
  readonly maxServers: number
  /** Maximum number of servers that do not run yet, whether their deployments exist or may exist. */
  readonly maxStarting: number
  /** Maximum number of creates sent within any minute. */
  readonly maxCreatesPerMinute: number
  /** The budget shared with others. */
  readonly budget?: SpendBudget | undefined
}

/** The limit that prevents creates now. */
export type Bound = keyof SpendBound

/** Computes how many servers may be created now by the spending limits, regardless of their source. */
export type SpendingLimiter = ReturnType<typeof createSpendingLimiter>

const MINUTE_MS = 60_000

export function createSpendingLimiter({ maxServers, maxStarting, maxCreatesPerMinute, budget }: SpendBound) {
  let blockedBy: Bound | undefined
  const counts = maxCreatesPerMinute < Infinity
  /** When the creates of the last minute were sent, if they are counted. */
  let recent: number[] = []
  /** Creates that were not sent yet. They count, because it is unknown when their turn comes. */
  const planned = new Set<object>()

  const creatable = (now: number): number => {
    if (!counts) return Infinity
    recent = recent.filter((at) => at > now - MINUTE_MS)
    return maxCreatesPerMinute - recent.length - planned.size
  }

  return {
    /** @param count number of servers that exist or may exist. @param startingCount how many of them do not run yet. */
    room: ({ count, startingCount }: { readonly count: number; readonly startingCount: number }, now: number) => {
      const rooms: readonly (readonly [Bound, number])[] = [
        ['maxServers', maxServers - count],
        ['maxStarting', maxStarting - startingCount],
        ['maxCreatesPerMinute', creatable(now)],
        ['budget', budget === undefined ? Infinity : Math.min(budget.servers(count), budget.creates())],
      ]
      blockedBy = rooms.find(([, room]) => room <= 0)?.[0]
      return Math.max(0, Math.min(...rooms.map(([, room]) => room)))
    },
    /** True if one more create may be sent within this minute, in addition to the planned ones. */
    mayCreate: (now: number) => creatable(now) > 0 && (budget === undefined || budget.creates() > 0),
    /** Records that the create of this match will be sent when its turn comes. */
    planned: (match: object) => {
      if (counts) planned.add(match)
      budget?.planned()
    },
    /** Records that the create was sent. */
    sent: (match: object, now: number) => {
      planned.delete(match)
      if (counts) recent.push(now)
    },
    /** Records that the create will never be sent. A create that was sent stays counted. */
    abandoned: (match: object) => void planned.delete(match),
    /** Returns the limit that allowed no server when `room` was last called. Undefined if one was allowed. */
    blockedBy: (): Bound | undefined => blockedBy,
  }
}
