// pure: whether a service answers slowly, judged by its answers of the last 15 to 30 seconds

export interface AnswerTimes {
  add(now: number, roundTripMs: number, quick: boolean): void
  /** Whether the answers of at least 5 s are known and hardly any of them was quick. */
  areSlow(now: number): boolean
  /** The median of the latest answer times, in milliseconds. */
  usualMs(): number
}

const SAMPLES = 16
/** Length of an epoch. An answer counts in its own epoch and in the next, so for one to two epochs. */
const EPOCH_MS = 15_000
/** Answers of a shorter time decide nothing: a quick service may begin slowly. */
const KNOWN_AFTER_MS = 5000
/** A service is slow if at most one of this many answers is quick. */
const QUICK_ONE_IN = 8

export function createAnswerTimes(): AnswerTimes {
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
    add: (now, roundTripMs, wasQuick) => {
      turn(now)
      latest[answers % SAMPLES] = roundTripMs
      answers += 1
      firstAt = Math.min(firstAt, now)
      all += 1
      if (wasQuick) quick += 1
    },
    areSlow: (now) => {
      turn(now)
      const answered = all + allBefore
      return answered >= SAMPLES && now - firstAt >= KNOWN_AFTER_MS && (quick + quickBefore) * QUICK_ONE_IN <= answered
    },
    usualMs: () => latest.toSorted()[SAMPLES >> 1] as number,
  }
}
