import { InvalidInput } from '@muster/core'
import { crowdFor, type Crowd } from '../crowd/index.js'
import { createLabThreads, type JobsOptions, type LabJob, type ThreadOptions } from '../jobs/run-jobs.js'
import { measuredRun, type MeasuredRun, qualityOf, type QualityPart } from './quality.js'
import { searchedIn } from './limit-search.js'
import { tuneQueue } from './tune-queue.js'
import type { Tuned, TuneOptions, WantedRun } from './tuning-result.js'

/**
 * Minimum milliseconds of a section of the crowd. In a shorter section, hardly anybody finds a match before its end.
 */
const SHORTEST_MS = 10 * 60_000
/** Maximum number of sections: one for each hour of a day. */
const MOST = 24
/** Minimum number of parties in a shortened crowd. Fewer would show nothing. */
const FEWEST = 200

/**
 * Returns a crowd with a share of the duration and the same arrivals per minute. It consists of sections from the whole
 * crowd, one after another, so that both nights and evenings are represented. A crowd that is too small is returned
 * whole. The result does not state its parameters, because it cannot be generated with another seed.
 */
export function shortCrowd(crowd: Crowd, share: number): Crowd {
  const { durationMs } = crowd.header
  const count = Math.min(MOST, Math.max(1, Math.floor((durationMs * share) / SHORTEST_MS)))
  const every = durationMs / count
  const length = Math.floor(every * share)
  const parties = crowd.parties.flatMap((party) => {
    const stretch = Math.min(count - 1, Math.floor(party.at / every))
    // Each section is taken from the middle of its interval, because the beginning has fewer players if arrivals
    // increase.
    const into = party.at - Math.floor(stretch * every + (every - length) / 2)
    return into >= 0 && into < length ? [{ ...party, at: stretch * length + into }] : []
  })
  const { made: _, ...header } = crowd.header
  if (share >= 1 || parties.length < FEWEST) return { header, parties: crowd.parties }
  return { header: { ...header, durationMs: count * length }, parties }
}

export interface TuneCrowdOptions
  extends Omit<TuneOptions<MeasuredRun>, 'measure'>, ThreadOptions, Pick<JobsOptions, 'signal'> {
  /** The players that the queue is tuned for. */
  readonly crowd: Crowd
  /** The attribute that is used as skill: see `figuresOf`. Default: the first number attribute that a rule compares. */
  readonly skillAttribute?: string | undefined
  /** Milliseconds of a tick: see `runCrowd`. */
  readonly tickMs?: number | undefined
  /** Called regularly with the spent share of the budget, from 0 to 1, and with 1 at the end. */
  readonly progressed?: ((share: number) => void) | undefined
}

/** The result of tuning a queue for a crowd. */
export interface TunedCrowd extends Tuned<MeasuredRun> {
  /** The parts of which the cost of a run is the sum. */
  readonly quality: readonly QualityPart[]
}

/**
 * Tunes one queue for a crowd, with runs of the real matchmaker in threads. The queue runs alone: parties that would
 * wait in several queues wait only in this one.
 * @throws {NotTunable} like `tuneQueue`; {InvalidInput} if nobody in the crowd waits in the queue; {ThreadFailed}
 */
export async function tuneCrowd(options: TuneCrowdOptions): Promise<TunedCrowd> {
  const { crowd, queue, tickMs, budget, progressed, signal } = options
  if (crowd.parties.every(({ queues }) => queues?.includes(queue.name) === false)) {
    const wanted = [...new Set(crowd.parties.flatMap(({ queues = [] }) => queues))].slice(0, 5)
    const others = wanted.map((name) => JSON.stringify(name)).join(', ')
    throw new InvalidInput(`crowd: no party wants queue ${JSON.stringify(queue.name)}; they want ${others}`)
  }
  const searched = searchedIn(queue, { ...options, waitP90Ms: options.promises.waitP90Ms })
  const names = searched.limits.map(({ name }) => name)
  const quality = qualityOf(queue, names, options.skillAttribute)
  const shorten = createShortCrowds(crowd)
  const jobOf = ({ queue: candidate, seed, share }: WantedRun): LabJob => ({
    // A shortened crowd runs with seed 0, which leaves it unchanged, because it was already made for `seed`.
    ...(share === 1 ? { crowd, seed } : { crowd: shorten(seed, share), seed: 0 }),
    queues: [candidate],
    tickMs,
    figures: { skillAttribute: quality.skillAttribute },
  })
  const threads = createLabThreads(options)
  let spent = 0
  const measure = async (runs: readonly WantedRun[]): Promise<readonly MeasuredRun[]> => {
    const cost = runs.reduce((sum, { share }) => sum + share, 0)
    const results = await threads.run(runs.map(jobOf), {
      signal,
      progressed: (share) => progressed?.(Math.min(0.999, (spent + cost * share) / budget)),
    })
    spent += cost
    return results.map(({ figures }, index) => measuredRun(figures, (runs[index] as WantedRun).queue, quality))
  }
  try {
    const tuned = await tuneQueue({ ...options, measure })
    progressed?.(1)
    return { ...tuned, quality: quality.parts }
  } finally {
    await threads.close()
  }
}

/**
 * Returns a function that shortens the crowd of a seed, and caches the result. Generating a whole crowd takes long
 * compared with a run over a part of it.
 */
function createShortCrowds(crowd: Crowd): (seed: number, share: number) => Crowd {
  const made = new Map<string, Crowd>()
  return (seed, share) => {
    const key = `${seed} ${share}`
    const known = made.get(key) ?? shortCrowd(crowdFor(crowd, seed), share)
    made.set(key, known)
    return known
  }
}
