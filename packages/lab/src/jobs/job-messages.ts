// pure: what threads are told, and tell
import type { Crowd } from '../crowd/crowd.js'
import type { JobResult, SentJob } from './job.js'

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
