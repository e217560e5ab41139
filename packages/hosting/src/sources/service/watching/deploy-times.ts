// pure: the time until deployments become READY, learned from earlier ones

/** Learned start times by kind of deployment. Each application version is a kind. */
export type DeployTimes = ReturnType<typeof createDeployTimes>

/** Classes of the histogram. Each is `STEP` times as long as the previous one. The last one has all longer times. */
const SHORTEST_MS = 100
const STEP = 1.1
const CLASSES = 100
/** Weights are halved whenever twice this number of times was added, so that a changed version is learned soon. */
const ENOUGH = 400
/**
 * The assumption about an unknown kind (our choice): half of the deployments are READY after 6 s, nine of ten between 2
 * s and 20 s. The assumption has the weight of `weight` recorded times.
 */
const BELIEF = { medianMs: 6000, spread: 0.7, weight: 4 }
/**
 * Mean number of milliseconds until READY for a deployment that has taken longer than nearly all others. It may become
 * READY any time.
 */
const STRAGGLER_MS = 30_000
/** Maximum number of remembered kinds. */
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
    /** Records that a deployment of this kind became READY after `ms` milliseconds. */
    took: (kind: string, ms: number) => learnedOf(kind).add(ms),
    /**
     * Returns the probability, 0 to 1, that a deployment that was not READY at one age is READY at a later one.
     * @param seenMs milliseconds from the create to when it was last seen not READY.
     * @param ageMs milliseconds from the create to now; not less than `seenMs`.
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
  /** Cumulative weights: of each class and all classes before it. */
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
    /** Returns the fraction of deployments that were READY by this age. */
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

/** Returns the approximate fraction of a log-normal distribution that falls into a class. */
function believed(index: number): number {
  const deviation = (index + 0.5 - classOf(BELIEF.medianMs)) * (Math.log(STEP) / BELIEF.spread)
  return (Math.exp(-(deviation ** 2) / 2) / Math.sqrt(2 * Math.PI)) * (Math.log(STEP) / BELIEF.spread)
}
