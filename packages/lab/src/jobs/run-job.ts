import type { Crowd } from '../crowd/crowd.js'
import { figuresOf } from '../figures/figures-of.js'
import { createRatingBook } from '../ratings/rating-book.js'
import { possibleIn } from './possible.js'
import { runCrowd } from '../run/run-crowd.js'
import type { JobResult, SentJob } from './job.js'

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
