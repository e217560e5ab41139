// pure: how long permits and tokens of a shared limit hold; written requests that may not be counted yet
/**
 * Where all processes keep the tokens of one limit: as many as the limit allows, each of them free or out until a time
 * of the store's clock. Times are passed as durations, because no two clocks agree.
 */
export interface TokenStore {
  /**
   * Takes a token, or one that is about to come back. It is out for `holdMs` from then on, unless more is said of it.
   * @param id names the token from now on; never used before.
   */
  take(id: string): Promise<Taken>
  /** The service has counted the requests by now: their tokens come back in a window. */
  counted(ids: readonly string[]): Promise<void>
  /** The requests may not be counted yet: their tokens stay out for `holdMs` from now at least. */
  keep(ids: readonly string[]): Promise<void>
  /** The requests are counted within `settleMs`: their tokens come back a window after that. */
  settle(ids: readonly string[]): Promise<void>
  /** The request is never written. @param dueMs milliseconds until its permit would have been good. */
  unused(id: string, dueMs: number): Promise<void>
  /** The service answered 429: nobody takes a token for `pauseMs`, and the rate is lowered temporarily. */
  refused(pauseMs: number): Promise<void>
  /** Something may have been sent that the store does not know of: every token is out for `coldMs`. */
  reset(): Promise<void>
}

export interface Taken {
  /** Whether a token was taken. */
  readonly granted: boolean
  /** Milliseconds until the permit is good; until it makes sense to ask again, if no token was taken. */
  readonly waitMs: number
  /** Tokens that are free now. */
  readonly free: number
  /** Requests that may start in a window now; temporarily below the limit after a 429. */
  readonly rate: number
}

/** Milliseconds of one limit. The same in all processes, for each counts on the others keeping to them. Our choice. */
export interface LimitTimes {
  /** The limit's own. */
  readonly windowMs: number
  /** From the moment a permit is good until its request must be written. */
  readonly permitMs: number
  /** From a request's writing until the service has counted it at the latest, if its process cannot tell any more. */
  readonly settleMs: number
  /** How far ahead a token that is still out is promised to somebody. */
  readonly aheadMs: number
  /** A token comes back that long after its permit was good, if nobody says anything about it. */
  readonly holdMs: number
  /** No token is out after that time, whatever was given before. */
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
export interface Written {
  readonly id: string
  readonly writtenAt: number
  /** Its token is out until then at least. */
  keptUntil: number
}

const LONGEST_GAP = 4
/** Milliseconds before a token could be promised to somebody else at which it is kept for longer. */
const MARGIN_MS = 750

/**
 * Says whose tokens must be kept out for longer. A request counts at its answer, as nothing else proves it. One that
 * ended without an answer may lie in a buffer until the network or the service continues: that is over when a request
 * written later is answered. Until then tokens come back one at a time, after a window, two, then every four, and the
 * requests that use them find out (`Unanswered` in core's scheduler is the same for one process).
 */
export function createUnproven({ windowMs, settleMs, aheadMs }: LimitTimes) {
  const open = new Set<Written>()
  /** Those without an answer, by their ends. */
  let lost: { readonly request: Written; readonly endedAt: number }[] = []
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
    /** Number of requests. */
    size: () => open.size + lost.length,
    written: (request: Written) => void open.add(request),
    /** The request was answered. Returns the ids without an answer that the service has, or never will have. */
    answered: (request: Written): readonly string[] => {
      open.delete(request)
      gap = 1
      if (lost.length === 0) return []
      const proven = lost.filter(({ endedAt }) => endedAt <= request.writtenAt)
      lost = lost.filter(({ endedAt }) => endedAt > request.writtenAt)
      return proven.map(({ request: { id } }) => id)
    },
    /** The request ended without an answer. */
    lost: (request: Written, now: number) => {
      if (open.delete(request)) lost.push({ request, endedAt: now })
    },
    /** The requests whose tokens could soon be promised to others. */
    due: (now: number): readonly Written[] => {
      letProbesGo(now)
      return [...open, ...lost.map(({ request }) => request)].filter(
        ({ keptUntil }) => keptUntil < now + aheadMs + MARGIN_MS,
      )
    },
  }
}
