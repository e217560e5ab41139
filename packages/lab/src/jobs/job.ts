import { InvalidInput } from '@muster/core'
import { defineQueue, type Queue, type QueueDefinition } from '@muster/matchmaker'
import type { Crowd } from '../crowd/index.js'
import type { FiguresOptions, Figures, Possible } from '../figures/index.js'
import type { RatingOptions, RatingFigures } from '../ratings/index.js'

/** One run of queues over a crowd, and what is wanted of it. */
export interface LabJob {
  /** The crowd, which is made again by `seed`. Jobs that share a crowd should share the object: it is sent once. */
  readonly crowd: Crowd
  /** Whole number from 0: of the crowd, of ids, and of ratings. */
  readonly seed: number
  /** Without `custom` rules: functions cannot be sent to a thread. */
  readonly queues: readonly QueueDefinition[]
  /** As of `runCrowd`. */
  readonly tickMs?: number | undefined
  /** As of `runCrowd`. */
  readonly startMs?: number | undefined
  /** Ratings that follow from the matches, with the job's seed. Default: none. */
  readonly ratings?: Omit<RatingOptions, 'seed'> | undefined
  readonly figures?: Omit<FiguresOptions, 'queues'> | undefined
  /** Whether to compute what was possible at all, which takes a second or two. Default false. */
  readonly possible?: boolean | undefined
}

/** What a job has found. */
export interface JobResult {
  readonly figures: Figures
  /** If the job had ratings. */
  readonly ratings?: RatingFigures | undefined
  /** For each queue with something to compare, if it was asked for. */
  readonly possible?: readonly Possible[] | undefined
}

/** A job as it is sent to a thread, with its queues checked. */
export interface SentJob extends Omit<LabJob, 'crowd' | 'queues'> {
  /** Number of the crowd within this process. */
  readonly crowd: number
  readonly queues: readonly Queue[]
}

/**
 * The queues of a job or a variant, checked.
 * @throws {InvalidInput} for a rule that is code; {InvalidQueue}
 */
export function queuesOf({ queues }: Pick<LabJob, 'queues'>): readonly Queue[] {
  return queues.map((definition) => {
    const queue = defineQueue(definition)
    const code = queue.rules.find(({ kind }) => kind === 'custom')
    if (code === undefined) return queue
    const message = `queue ${JSON.stringify(queue.name)}: a custom rule is code, which cannot be sent to a thread`
    throw new InvalidInput(`${message}: use runCrowd`, { field: 'rules' })
  })
}

/** A thread carries out one job at a time. */
export interface JobOrder {
  readonly job: SentJob
  /** The job's crowd, if the thread has never been sent it. */
  readonly crowd?: Crowd | undefined
  /** Whether the crowds that it was sent before are not wanted any more. */
  readonly forget?: boolean | undefined
}

export type JobMessage =
  /** Share of the job, from 0 to 1. */
  | { readonly share: number; readonly result?: undefined; readonly error?: undefined }
  | { readonly result: JobResult; readonly share?: undefined; readonly error?: undefined }
  | { readonly error: unknown; readonly share?: undefined; readonly result?: undefined }
