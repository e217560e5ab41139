import { InvalidInput } from '@muster/core'
import { describeQueue } from '@muster/matchmaker'
import { describePool } from '@muster/matchmaker/internal'
import { type LabResult, RESULT_FORMAT } from '../figures/index.js'
import { createRatingBook } from '../ratings/rating-book.js'
import { defineLabQueues } from '../run/index.js'
import { type JobsOptions, type LabJob, queuesOf, runJobs, type ThreadOptions } from './run-jobs.js'

/** Queues that run together, and the pools that they name. */
interface LabVariant extends Pick<LabJob, 'queues' | 'pools'> {
  readonly name: string
}

/** Variants of queues, each of which meets the same crowd several times: by its own seed, then by the next ones. */
export interface LabRun extends Pick<LabJob, 'crowd' | 'tickMs' | 'startMs' | 'ratings' | 'figures'> {
  /** What results call the crowd, e.g. the name of its file. */
  readonly crowdName: string
  /** At least one, with different names; the others are compared with the first. Without `custom` rules. */
  readonly variants: readonly LabVariant[]
  /**
   * How often each variant runs, each time with a crowd by another seed: first the crowd's own, then the next
   * seeds. Two or more separate differences from chance. Default 5.
   */
  readonly seeds?: number | undefined
  /** Whether to compute what was possible at all, a second or two for each run. Default true. */
  readonly possible?: boolean | undefined
}

export interface LabRunOptions extends ThreadOptions, Pick<JobsOptions, 'progressed' | 'signal'> {
  /** Called when a variant has run with a seed. */
  readonly ran?: ((variant: string, seed: number) => void) | undefined
}

/** Seeds of one comparison: enough to tell a difference from chance, and few enough to wait for (our choice). */
const SEEDS = 5

/**
 * Runs variants of queues over a crowd, in threads.
 * @throws {InvalidInput} or {InvalidQueue} before anything has run; {ThreadFailed}
 */
export async function runLab(run: LabRun, { ran, ...options }: LabRunOptions = {}): Promise<LabResult> {
  const { crowd, crowdName, variants, tickMs, startMs, ratings, figures, possible = true } = run
  const seeds = seedsOf(run)
  assertUniqueNames(variants.map(({ name }) => name))
  // Refuses a crowd whose matches nobody can win.
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

/** The crowd's own seed and those after it; recorded traffic is itself by seed 0. */
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
  const wrong = twice === undefined ? 'must not be empty' : `there are two of the name ${JSON.stringify(twice)}`
  throw new InvalidInput(`variants: ${wrong}`, { field: 'variants' })
}
