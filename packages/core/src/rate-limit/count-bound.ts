// pure: whether a service answers slowly, judged by its answers of the last 15 to 30 seconds
const SAMPLES = 16
/** Length of an epoch. An answer counts in its own epoch and in the next, so for one to two epochs. */
const EPOCH_MS = 15_000
/** Answers of a shorter time decide nothing: a quick service may begin slowly. */
const KNOWN_AFTER_MS = 5000
/** A service is slow if at most one of this many answers is quick. */
const QUICK_ONE_IN = 8

function createAnswerTimes() {
  const latest = new Float64Array(SAMPLES)
  let answers = 0
  let firstAt = Number.POSITIVE_INFINITY
  let epochFrom = Number.NEGATIVE_INFINITY
  /** All answers, and the quick ones among them, of the present epoch and of the one before. */
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
    /** Whether the answers of at least 5 s are known and hardly any of them was quick. */
    areSlow: (now: number) => {
      turn(now)
      const answered = all + allBefore
      return answered >= SAMPLES && now - firstAt >= KNOWN_AFTER_MS && (quick + quickBefore) * QUICK_ONE_IN <= answered
    },
    /** The median of the latest answer times, in milliseconds. */
    usualMs: () => latest.toSorted()[SAMPLES >> 1] as number,
  }
}

/** Why the bound changed. */
export type BoundChange = 'slow answers' | 'quick answers' | 'steady' | 'late event loop' | 'refused'

/** Observes the course of every request. */
export interface RequestObserver {
  /** Returns whether the request may be taken as counted before its answer comes. */
  written(now: number): boolean
  /** @param roundTripMs undefined for a request on a new connection: how long that takes tells nothing of others. */
  answered(now: number, roundTripMs: number | undefined): void
  /** A written request ended without an answer. */
  lost(): void
}

/**
 * The bound on the time from a request's writing to its counting. A request's answer always proves that it was counted.
 * A bound is an assumption, and is useful only where answers are slow. So it begins as Infinity (only answers prove a
 * count), and
 *
 * - is finite only where answers are known to be slow: hardly any answer of the last half minute came within the bound.
 * Where answers are quick, one that is missing after the bound shows that the event loop, the network or the server is
 * stalled.
 * - begins wide, at 250 ms, and is halved after every 10 s without a surprise until it is `leastMs`.
 * - is wide again after this process's event loop was late, once answers have again been slow.
 * - is Infinity for a minute after a 429.
 *
 * These numbers are our choice.
 */
interface CountBound extends RequestObserver {
  /** The bound in milliseconds; Infinity while only answers prove a count. */
  at(now: number): number
  /** Notes that the event loop was late, and perhaps a server in this process too. */
  late(now: number): void
  /** Notes that the service answered 429. */
  refused(now: number): void
  /**
   * Since when no answer came, if that is longer than answers usually take and an answer was due: the service or the
   * network may be stalled. Otherwise undefined.
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
  /** Number of requests that wait for an answer, and of those lost since the last answer. */
  let open = 0
  let lost = 0
  /** When the last answer came, or when the oldest waiting request was written. */
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
