// pure: whether a service answers slowly, by the answers of the last half minute

export interface AnswerTimes {
  add(now: number, roundTripMs: number, quick: boolean): void
  /** Whether enough is known, and hardly any answer was quick. */
  areSlow(now: number): boolean
  /** The median of the latest, in milliseconds. */
  usualMs(): number
}

const SAMPLES = 16
/** An answer counts for one to two of these. */
const EPOCH_MS = 15_000
/** What is known of a shorter time may be the slow beginning of a quick service. */
const KNOWN_AFTER_MS = 5000
/** Slow is who answers no more than one request in so many quickly. */
const QUICK_ONE_IN = 8

export function createAnswerTimes(): AnswerTimes {
  const latest = new Float64Array(SAMPLES)
  let answers = 0
  let firstAt = Number.POSITIVE_INFINITY
  let epochFrom = Number.NEGATIVE_INFINITY
  /** In this epoch and in the one before: answers, and quick ones among them. */
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
