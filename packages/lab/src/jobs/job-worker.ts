import { parentPort } from 'node:worker_threads'
import type { Queue } from '@muster/matchmaker'
import { boundOf } from '../bound/bound-of.js'
import { crowdFor, type Crowd } from '../crowd/index.js'
import { figuresOf, type Possible } from '../figures/index.js'
import { createRatingBook } from '../ratings/rating-book.js'
import { type RunOutcome, runCrowd } from '../run/index.js'
import type { JobMessage, JobOrder, JobResult, SentJob } from './run-jobs.js'

/** What was possible in a queue: within its rules, and whatever its rules. */
function possibleIn(crowd: Crowd, outcome: RunOutcome, queue: Queue): Possible[] {
  const bound = boundOf(crowd, outcome, queue)
  if (bound === undefined) return []
  const { kind, cost, withinRules, anyRules, units } = bound
  const limits = units.map(({ rule, limit, unit }) => `${rule} by ${limit}${unit === '' ? '' : ` ${unit}`}`)
  const what = `cost of a player (${limits.join(' + ')})`
  const common = { queue: queue.name, unit: '', reached: cost, kind }
  return [
    { ...common, what: `${what}, within the rules`, possible: withinRules },
    { ...common, what: `${what}, if no rule limited it`, possible: anyRules },
  ]
}

/** Carries out a job. @param crowd the job's, made by its seed. */
export async function runJob(
  crowd: Crowd,
  { seed, queues, tickMs, startMs, ratings, figures, possible }: SentJob,
  progressed: (share: number) => void,
): Promise<JobResult> {
  const book = ratings && createRatingBook(crowd, { ...ratings, seed })
  const outcome = await runCrowd(crowd, queues, { seed, tickMs, startMs, ratings: book, progressed })
  return {
    figures: figuresOf(crowd, outcome, { ...figures, queues }),
    ...(book !== undefined && { ratings: book.figures() }),
    ...(possible === true && { possible: queues.flatMap((queue) => possibleIn(crowd, outcome, queue)) }),
  }
}

// The program of a thread: carries out one job after the other.

const tell = (message: JobMessage) => parentPort?.postMessage(message, [])
/** The crowds that were sent, by their numbers. */
const sources = new Map<number, Crowd>()
/** The last one that was made: the next job is likely to want the same. */
let made: { readonly source: number; readonly seed: number; readonly crowd: Crowd } | undefined

parentPort?.on('message', async ({ job, crowd: sent, forget }: JobOrder) => {
  try {
    if (forget === true) sources.clear()
    if (sent !== undefined) sources.set(job.crowd, sent)
    if (made?.source !== job.crowd || made.seed !== job.seed) {
      made = undefined
      const crowd = crowdFor(sources.get(job.crowd) as Crowd, job.seed)
      made = { source: job.crowd, seed: job.seed, crowd }
    }
    tell({ result: await runJob(made.crowd, job, (share) => tell({ share })) })
  } catch (error) {
    tell({ error })
  }
})
