// pure: durations of permits and tokens of a shared limit; requests that the service has possibly not counted yet
/**
 * The shared store of the tokens of one limit, as many as the limit allows. Each is free, or used until a time of the
 * store's clock. Times are passed as durations, because no two clocks agree.
 */
export interface TokenStore {
  /**
   * Takes a free token. If none is free, reserves the used token that becomes free first, for its next use. The token
   * is used for `holdMs`, unless a report changes that.
   * @param id names the token; never used before.
   */
  take(id: string): Promise<TokenGrant>
  /** Reports that the service has counted the requests: their tokens become free after a window. */
  counted(ids: readonly string[]): Promise<void>
  /** Reports that the requests are possibly not counted yet: their tokens stay used for at least `holdMs` from now. */
  keep(ids: readonly string[]): Promise<void>
  /** Reports that the requests are counted within `settleMs`: their tokens become free a window after that. */
  settle(ids: readonly string[]): Promise<void>
  /** Reports that the request is never written. @param dueMs milliseconds until its permit would have become valid. */
  unused(id: string, dueMs: number): Promise<void>
  /** Reports a 429: no process takes a token for `pauseMs`, and the rate is lowered temporarily. */
  refused(pauseMs: number): Promise<void>
  /** Reports that requests unknown to the store may have been sent: every token is used for `coldMs`. */
  reset(): Promise<void>
}

export interface TokenGrant {
  /** True if a token was taken. */
  readonly granted: boolean
  /** Milliseconds until the permit is valid; or until the next query makes sense, if no token was taken. */
  readonly waitMs: number
  /** Number of free tokens. */
  readonly free: number
  /** Number of requests that may start in a window; temporarily below the limit after a 429. */
  readonly rate: number
}

/**
 * Durations of one limit in milliseconds (our choice). They are the same in all processes, because each relies on the
 * others.
 */
export interface LimitTimes {
  /** The window of the limit, in milliseconds. */
  readonly windowMs: number
  /** Time from when a permit becomes valid until its request must be written. */
  readonly permitMs: number
  /** Maximum time from writing a request until the service has counted it, if its process can no longer report. */
  readonly settleMs: number
  /** A process can reserve a used token at most this long before the token becomes free. */
  readonly aheadMs: number
  /** Time from when a permit becomes valid until its token is free again without any report. */
  readonly holdMs: number
  /** Time after which no token is used any more, regardless of earlier grants. */
  readonly coldMs: number
}

const PERMIT_MS = 1000
const SETTLE_MS = 500
const AHEAD_MS = 1000

export function limitTimes(windowMs: number): LimitTimes {
  const holdMs = PERMIT_MS + SETTLE_MS + windowMs
  const aheadMs = Math.min(AHEAD_MS, windowMs)
  return { windowMs, permitMs: PERMIT_MS, settleMs: SETTLE_MS, aheadMs, holdMs, coldMs: aheadMs + holdMs }
}

/** A request that was written. */
export interface WrittenRequest {
  readonly id: string
  readonly writtenAt: number
  /** Earliest time at which the request's token may be free again. */
  keptUntil: number
}

const LONGEST_GAP = 4
/** A token's time is extended this many milliseconds before other processes could reserve the token. */
const MARGIN_MS = 750

/**
 * Finds the requests whose tokens must be kept used for longer. Only the response to a request proves that it was
 * counted. A request without a response may wait in a buffer until the network or the service continues. A response to
 * a later request proves that they have continued. Until then, one token at a time becomes free: the first after one
 * window, the second after two more, the others after four each. The requests that use them show whether the service
 * responds again. `createUnanswered` in core does the same for one process.
 */
export function createUnansweredRequests({ windowMs, settleMs, aheadMs }: LimitTimes) {
  const open = new Set<WrittenRequest>()
  /** Requests without a response, in the order in which they ended. */
  let lost: { readonly request: WrittenRequest; readonly endedAt: number }[] = []
  let lastProbe = Number.NEGATIVE_INFINITY
  let gap = 1

  const letProbesGo = (now: number) => {
    for (let first = lost[0]; first !== undefined; first = lost[0]) {
      if (now < Math.max(first.endedAt + settleMs + windowMs, lastProbe + gap * windowMs)) return
      lost.shift()
      lastProbe = now
      gap = Math.min(LONGEST_GAP, gap * 2)
    }
  }

  return {
    /** Returns the number of requests that the service has possibly not counted yet. */
    size: () => open.size + lost.length,
    written: (request: WrittenRequest) => void open.add(request),
    /** Records a response. Returns the ids of lost requests that the service has counted by now, or never will. */
    answered: (request: WrittenRequest): readonly string[] => {
      open.delete(request)
      gap = 1
      if (lost.length === 0) return []
      const proven = lost.filter(({ endedAt }) => endedAt <= request.writtenAt)
      lost = lost.filter(({ endedAt }) => endedAt > request.writtenAt)
      return proven.map(({ request: { id } }) => id)
    },
    /** Records that the request ended without a response. */
    lost: (request: WrittenRequest, now: number) => {
      if (open.delete(request)) lost.push({ request, endedAt: now })
    },
    /**
     * Returns the requests whose tokens other processes could soon reserve, although the requests may not be counted.
     */
    due: (now: number): readonly WrittenRequest[] => {
      letProbesGo(now)
      return [...open, ...lost.map(({ request }) => request)].filter(
        ({ keptUntil }) => keptUntil < now + aheadMs + MARGIN_MS,
      )
    },
  }
}
