// pure: whether a service responds slowly, judged by its responses of the last 15 to 30 seconds
const SAMPLES = 16
/** Length of an epoch in milliseconds. A response counts in its own epoch and in the next, so for one to two epochs. */
const EPOCH_MS = 15_000
/**
 * Milliseconds after the first known response from which a service can count as slow. Even a fast service may begin
 * slowly.
 */
const KNOWN_AFTER_MS = 5000
/** A service is slow if at most one in this many responses is quick. */
const QUICK_ONE_IN = 8

function createAnswerTimes() {
  const latest = new Float64Array(SAMPLES)
  let answers = 0
  let firstAt = Number.POSITIVE_INFINITY
  let epochFrom = Number.NEGATIVE_INFINITY
  /** Numbers of all responses, and of the quick ones among them, in the current epoch and in the previous one. */
  let all = 0
  let quick = 0
  let allBefore = 0
  let quickBefore = 0

  const turn = (now: number) => {
    if (now - epochFrom < EPOCH_MS) return
    const next = now - epochFrom < 2 * EPOCH_MS
    allBefore = next ? all : 0
    quickBefore = next ? quick : 0
    all = quick = 0
    epochFrom = now
  }

  return {
    add: (now: number, roundTripMs: number, wasQuick: boolean) => {
      turn(now)
      latest[answers % SAMPLES] = roundTripMs
      answers += 1
      firstAt = Math.min(firstAt, now)
      all += 1
      if (wasQuick) quick += 1
    },
    /** True if responses of at least 5 s are known and hardly any of them was quick. */
    areSlow: (now: number) => {
      turn(now)
      const answered = all + allBefore
      return answered >= SAMPLES && now - firstAt >= KNOWN_AFTER_MS && (quick + quickBefore) * QUICK_ONE_IN <= answered
    },
    /** Returns the median of the latest response times, in milliseconds. */
    usualMs: () => latest.toSorted()[SAMPLES >> 1] as number,
  }
}

/** Why the bound changed. */
export type BoundChange = 'slow answers' | 'quick answers' | 'steady' | 'late event loop' | 'refused'

/** Observes the course of every request. */
export interface RequestObserver {
  /** Returns true if the request may be regarded as counted before its response comes. */
  written(now: number): boolean
  /** Records a response. @param roundTripMs undefined for a request on a new connection: its time is not typical. */
  answered(now: number, roundTripMs: number | undefined): void
  /** Records that a written request ended without a response. */
  lost(): void
}

/**
 * The bound on the time from writing a request until the service counts it. A response always proves that the request
 * was counted. A bound is an assumption, and is useful only if responses are slow. It begins as Infinity: then only
 * responses prove that requests were counted. The bound
 *
 * - is finite only if responses are known to be slow: hardly any response of the last half minute came within the
 *   bound. If responses are quick, a response that is missing after the bound shows that the event loop, the network or
 *   the server is stalled.
 * - begins wide, at 250 ms, and is halved after every 10 s without a late event loop or a 429, until it is `leastMs`.
 * - is Infinity after this process's event loop was late, until responses are known to be slow again. Then it is
 *   wide.
 * - is Infinity for a minute after a 429.
 *
 * The numbers of these rules are our choice.
 */
interface CountBound extends RequestObserver {
  /** Returns the bound in milliseconds; Infinity while only responses prove that requests were counted. */
  at(now: number): number
  /** Records that the event loop was late. A server in the same process may have been late too. */
  late(now: number): void
  /** Records that the service answered 429. */
  refused(now: number): void
  /**
   * Returns the time since which no response came, if that is longer than usual and a response was due. Then the
   * service or the network may be stalled. Otherwise returns undefined.
   */
  silentSince(now: number): number | undefined
}

export const WIDE_MS = 250
const STEADY_MS = 10_000
const REFUSED_MS = 60_000

export function createCountBound(
  leastMs: number,
  changed: (boundMs: number, why: BoundChange) => void = () => {},
): CountBound {
  const wideMs = Math.max(WIDE_MS, leastMs)
  let answers = createAnswerTimes()
  /** Number of requests without a response. `lost`: those that were lost since the last response. */
  let open = 0
  let lost = 0
  /** Epoch milliseconds of the last response, or at which the oldest waiting request was written. */
  let quietSince = Number.NEGATIVE_INFINITY
  let narrowMs = wideMs
  let steadySince: number | undefined
  let onlyAnswersUntil = Number.NEGATIVE_INFINITY
  let reported = Number.POSITIVE_INFINITY

  const at = (now: number) => (now >= onlyAnswersUntil && answers.areSlow(now) ? narrowMs : Number.POSITIVE_INFINITY)

  const report = (bound: number, why: BoundChange) => {
    if (bound === reported) return
    reported = bound
    changed(bound, why)
  }

  const widen = (now: number, why: BoundChange) => {
    narrowMs = wideMs
    steadySince = now
    answers = createAnswerTimes()
    report(at(now), why)
  }

  return {
    at,
    written: (now) => {
      if (open === 0 && lost === 0) quietSince = now
      open += 1
      return at(now) !== Number.POSITIVE_INFINITY
    },
    lost: () => {
      open -= 1
      lost += 1
    },
    answered: (now, roundTripMs) => {
      open -= 1
      lost = 0
      quietSince = now
      if (roundTripMs !== undefined) answers.add(now, roundTripMs, roundTripMs <= narrowMs)
      const bound = at(now)
      report(bound, bound === Number.POSITIVE_INFINITY ? 'quick answers' : 'slow answers')
      steadySince ??= now
      if (narrowMs === leastMs || now - steadySince < STEADY_MS) return
      narrowMs = Math.max(leastMs, narrowMs / 2)
      steadySince = now
      report(at(now), 'steady')
    },
    late: (now) => widen(now, 'late event loop'),
    refused: (now) => {
      onlyAnswersUntil = now + REFUSED_MS
      widen(now, 'refused')
    },
    silentSince: (now) => (open + lost > 0 && now - quietSince > answers.usualMs() + narrowMs ? quietSince : undefined),
  }
}
