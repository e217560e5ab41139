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
  let epoch = { from: Number.NEGATIVE_INFINITY, all: 0, quick: 0 }
  let before = epoch

  const turn = (now: number) => {
    if (now - epoch.from < EPOCH_MS) return
    before = now - epoch.from < 2 * EPOCH_MS ? epoch : { from: now, all: 0, quick: 0 }
    epoch = { from: now, all: 0, quick: 0 }
  }

  return {
    add: (now, roundTripMs, quick) => {
      turn(now)
      latest[answers % SAMPLES] = roundTripMs
      answers += 1
      firstAt = Math.min(firstAt, now)
      epoch.all += 1
      if (quick) epoch.quick += 1
    },
    areSlow: (now) => {
      turn(now)
      const all = epoch.all + before.all
      const quick = epoch.quick + before.quick
      return all >= SAMPLES && now - firstAt >= KNOWN_AFTER_MS && quick * QUICK_ONE_IN <= all
    },
    usualMs: () => latest.toSorted()[SAMPLES >> 1] as number,
  }
}
