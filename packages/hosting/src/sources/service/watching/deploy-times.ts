// pure: the time until deployments become READY, learned from earlier ones

/** The start times of deployments by kind. Each application version is a kind. */
export type DeployTimes = ReturnType<typeof createDeployTimes>

/**
 * Classes of a histogram of start times. Each is `STEP` times as long as the last. The last counts all longer times.
 */
const SHORTEST_MS = 100
const STEP = 1.1
const CLASSES = 100
/** After twice this number of recorded times, all weights are halved, so that changes are learned soon. */
const ENOUGH = 400
/**
 * The assumption for a kind without recorded times (our choice): half of the deployments are READY after 6 s, and nine
 * of ten between 2 s and 20 s. It counts like `weight` recorded times.
 */
const BELIEF = { medianMs: 6000, spread: 0.7, weight: 4 }
/** Mean milliseconds until a deployment becomes READY that has already taken longer than nearly all others. */
const STRAGGLER_MS = 30_000
const MOST_KINDS = 1000

const classOf = (ms: number) => Math.log(Math.max(ms, 1) / SHORTEST_MS) / Math.log(STEP)

export function createDeployTimes() {
  const kinds = new Map<string, LearnedTimes>()
  const learnedOf = (kind: string): LearnedTimes => {
    const known = kinds.get(kind)
    if (known !== undefined) return known
    const [oldest] = kinds.keys()
    if (kinds.size >= MOST_KINDS && oldest !== undefined) kinds.delete(oldest)
    const learned = createLearned()
    kinds.set(kind, learned)
    return learned
  }

  return {
    /** Records the milliseconds that a deployment took until READY. */
    took: (kind: string, ms: number) => learnedOf(kind).add(ms),
    /**
     * Returns the probability that a deployment is READY now, if it was not READY when it was last seen.
     * @param seenMs milliseconds from its create until it was last seen
     * @param ageMs milliseconds from its create until now
     */
    chance: (kind: string, seenMs: number, ageMs: number) => {
      const learned = learnedOf(kind)
      const before = learned.shareBy(seenMs)
      const straggling = 1 - Math.exp(-Math.max(0, ageMs - seenMs) / STRAGGLER_MS)
      if (before >= 0.999) return straggling
      return Math.max((learned.shareBy(ageMs) - before) / (1 - before), before > 0.9 ? straggling : 0)
    },
  }
}

type LearnedTimes = ReturnType<typeof createLearned>

function createLearned() {
  const weights = Float64Array.from({ length: CLASSES }, (_, index) => BELIEF.weight * believed(index))
  /** Cumulative weights: of each class and all shorter ones. */
  const sums = new Float64Array(CLASSES)
  let seen = 0
  let isStale = true

  const sumUp = () => {
    let sum = 0
    for (let index = 0; index < CLASSES; index++) {
      sum += weights[index] as number
      sums[index] = sum
    }
    isStale = false
  }

  return {
    add: (ms: number) => {
      const index = Math.min(CLASSES - 1, Math.max(0, Math.floor(classOf(ms))))
      weights[index] = (weights[index] as number) + 1
      seen += 1
      if (seen >= 2 * ENOUGH) {
        seen /= 2
        for (let each = 0; each < CLASSES; each++) weights[each] = (weights[each] as number) / 2
      }
      isStale = true
    },
    /** Returns the share of deployments that are READY at this age. */
    shareBy: (ms: number) => {
      if (isStale) sumUp()
      const position = classOf(ms)
      if (position <= 0) return 0
      const index = Math.min(CLASSES - 1, Math.floor(position))
      const before = index === 0 ? 0 : (sums[index - 1] as number)
      const within = Math.min(1, position - index) * (weights[index] as number)
      return (before + within) / (sums[CLASSES - 1] as number)
    },
  }
}

/** Returns the approximate share of a log-normal distribution in a class. */
function believed(index: number): number {
  const deviation = (index + 0.5 - classOf(BELIEF.medianMs)) * (Math.log(STEP) / BELIEF.spread)
  return (Math.exp(-(deviation ** 2) / 2) / Math.sqrt(2 * Math.PI)) * (Math.log(STEP) / BELIEF.spread)
}
