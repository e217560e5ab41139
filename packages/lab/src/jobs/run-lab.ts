import { InvalidInput } from '@muster/core'
import { describeQueue } from '@muster/matchmaker'
import { describePool } from '@muster/matchmaker/internal'
import { type LabResult, RESULT_FORMAT } from '../figures/index.js'
import { createRatingBook } from '../ratings/rating-book.js'
import { defineLabQueues } from '../run/index.js'
import { type JobsOptions, type LabJob, queuesOf, runJobs, type ThreadOptions } from './run-jobs.js'

/** Queues that run together, and their pools. */
interface LabVariant extends Pick<LabJob, 'queues' | 'pools'> {
  readonly name: string
}

/**
 * Variants of queues. Each variant runs several times with the same crowd: first with the crowd's own seed, then with
 * the next seeds.
 */
export interface LabRun extends Pick<LabJob, 'crowd' | 'tickMs' | 'startMs' | 'ratings' | 'figures'> {
  /** The name of the crowd in results, e.g. that of its file. */
  readonly crowdName: string
  /**
   * At least one variant, with unique names. The others are compared with the first. `custom` rules are not allowed.
   */
  readonly variants: readonly LabVariant[]
  /**
   * Number of runs of each variant. Each run has another seed: first the crowd's own, then the next ones. At least two
   * are needed to distinguish a difference from chance. Default 5.
   */
  readonly seeds?: number | undefined
  /** True: also computes the best possible matches, which takes a second or two for each run. Default true. */
  readonly possible?: boolean | undefined
}

export interface LabRunOptions extends ThreadOptions, Pick<JobsOptions, 'progressed' | 'signal'> {
  /** Called after each run of a variant with a seed. */
  readonly ran?: ((variant: string, seed: number) => void) | undefined
}

/**
 * Default number of seeds of a comparison (our choice): enough to distinguish a difference from chance, and few enough
 * for a short run.
 */
const SEEDS = 5

/**
 * Runs variants of queues over a crowd, in threads.
 * @throws {InvalidInput} or {InvalidQueue} before anything has run; {ThreadFailed}
 */
export async function runLab(run: LabRun, { ran, ...options }: LabRunOptions = {}): Promise<LabResult> {
  const { crowd, crowdName, variants, tickMs, startMs, ratings, figures, possible = true } = run
  const seeds = seedsOf(run)
  assertUniqueNames(variants.map(({ name }) => name))
  // The book is created only to reject a crowd whose players have no true skill, before anything runs.
  if (ratings !== undefined) createRatingBook(crowd, ratings)
  const jobs = seeds.flatMap((seed) =>
    variants.map(({ name, queues, pools }) => {
      const job: LabJob = { crowd, seed, queues, pools, tickMs, startMs, ratings, figures, possible }
      return { name, job }
    }),
  )
  const results = await runJobs(
    jobs.map(({ job }) => job),
    { ...options, done: (index) => ran?.(jobs[index]?.name ?? '', jobs[index]?.job.seed ?? 0) },
  )
  const { startsAt, durationMs } = crowd.header
  return {
    format: RESULT_FORMAT,
    crowd: {
      name: crowdName,
      players: crowd.parties.reduce((sum, { players }) => sum + players.length, 0),
      parties: crowd.parties.length,
      startsAt,
      durationMs,
    },
    seeds,
    variants: variants.map((variant, index) => ({
      name: variant.name,
      queues: queuesOf(variant).map((queue) => ({ name: queue.name, sentences: describeQueue(queue).sentences })),
      pools: defineLabQueues(variant.queues, variant.pools).pools.map((pool) => {
        return { name: pool.name, sentences: describePool(pool) }
      }),
      runs: results.filter((_, at) => at % variants.length === index),
    })),
  }
}

/**
 * Returns the crowd's own seed and the next ones. For recorded traffic the first seed is 0, which leaves it unchanged.
 */
function seedsOf({ crowd, seeds: count = SEEDS }: LabRun): number[] {
  if (!Number.isSafeInteger(count) || count < 1) {
    throw new InvalidInput(`seeds: must be a whole number from 1, got ${count}`, { field: 'seeds' })
  }
  const first = crowd.header.made?.seed ?? 0
  return Array.from({ length: count }, (_, index) => (first + index) % 2 ** 32)
}

function assertUniqueNames(names: readonly string[]): void {
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (names.length > 0 && twice === undefined) return
  const wrong = twice === undefined ? 'must not be empty' : `two variants have the name ${JSON.stringify(twice)}`
  throw new InvalidInput(`variants: ${wrong}`, { field: 'variants' })
}
