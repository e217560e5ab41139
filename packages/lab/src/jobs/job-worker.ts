import { parentPort } from 'node:worker_threads'
import type { Queue } from '@muster/matchmaker'
import { boundOf } from '../bound/bound-of.js'
import { crowdFor, type Crowd } from '../crowd/index.js'
import { figuresOf, type Possible } from '../figures/index.js'
import { createRatingBook } from '../ratings/rating-book.js'
import { type RunOutcome, runCrowd } from '../run/index.js'
import type { JobMessage, JobResult, SentJob } from './run-jobs.js'

/** Compares a queue's matches with the best possible ones: within the queue's rules, and without them. */
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

/** Runs a job, and returns its result. @param crowd the job's crowd, generated with the job's seed. */
export async function runJob(
  crowd: Crowd,
  { seed, queues, pools, tickMs, startMs, ratings, figures, possible }: SentJob,
  progressed: (share: number) => void,
): Promise<JobResult> {
  const book = ratings && createRatingBook(crowd, { ...ratings, seed })
  const outcome = await runCrowd(crowd, queues, { seed, pools, tickMs, startMs, ratings: book, progressed })
  return {
    figures: figuresOf(crowd, outcome, { ...figures, queues }),
    ...(book !== undefined && { ratings: book.figures() }),
    ...(possible === true && { possible: queues.flatMap((queue) => possibleIn(crowd, outcome, queue)) }),
  }
}

// The script of a thread. It runs one job after another.

const tell = (message: JobMessage) => parentPort?.postMessage(message, [])

parentPort?.on('message', async (job: SentJob) => {
  try {
    tell({ result: await runJob(crowdFor(job.crowd, job.seed), job, (share) => tell({ share })) })
  } catch (error) {
    tell({ error })
  }
})
