/** A budget that several matchmakers share. It answers at once, from the share that this matchmaker holds. */
export interface SpendBudget {
  /**
   * Returns how many further servers this matchmaker may have. @param count number of servers that exist or may exist
   */
  servers(count: number): number
  /** Returns how many creates this matchmaker may plan now. */
  creates(): number
  /** Records that a create is planned. The budget counts it as sent. */
  planned(): void
}

/** Limits of what this matchmaker may spend. */
export interface SpendBound {
  /** Maximum number of servers that exist or may exist. */
  readonly maxServers: number
  /** Maximum number of servers that do not run yet. */
  readonly maxStarting: number
  /** Maximum number of creates sent within any minute. */
  readonly maxCreatesPerMinute: number
  /** A budget shared with other matchmakers. Default: none. */
  readonly budget?: SpendBudget | undefined
}

/** Name of the limit that allows no server now. */
export type Bound = keyof SpendBound

/** Computes how many servers the spending limits allow now, at all sources together. */
export type SpendingLimiter = ReturnType<typeof createSpendingLimiter>

const MINUTE_MS = 60_000

export function createSpendingLimiter({ maxServers, maxStarting, maxCreatesPerMinute, budget }: SpendBound) {
  let blockedBy: Bound | undefined
  const counts = maxCreatesPerMinute < Infinity
  /** Epoch milliseconds of the creates sent within the last minute. Empty without `maxCreatesPerMinute`. */
  let recent: number[] = []
  /** Creates that are planned and not sent yet. They count as if they were sent now. */
  const planned = new Set<object>()

  const creatable = (now: number): number => {
    if (!counts) return Infinity
    recent = recent.filter((at) => at > now - MINUTE_MS)
    return maxCreatesPerMinute - recent.length - planned.size
  }

  return {
    /**
     * Returns how many servers may be created now.
     * @param count number of servers that exist or may exist
     * @param startingCount number of those that do not run yet
     */
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
    /** True if one more create may be planned now. */
    mayCreate: (now: number) => creatable(now) > 0 && (budget === undefined || budget.creates() > 0),
    /** Records that the create of this server is planned. */
    planned: (match: object) => {
      if (counts) planned.add(match)
      budget?.planned()
    },
    /** Records that the create of this server was sent. */
    sent: (match: object, now: number) => {
      planned.delete(match)
      if (counts) recent.push(now)
    },
    /** Records that the create of this server was not sent. Has no effect on a create that was sent. */
    abandoned: (match: object) => void planned.delete(match),
    /** Returns the limit by which `room` has last allowed no server. Undefined if it has allowed one. */
    blockedBy: (): Bound | undefined => blockedBy,
  }
}
