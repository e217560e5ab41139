/** The program of a thread: carries out one job after the other. */
import { parentPort } from 'node:worker_threads'
import type { Crowd } from '../crowd/crowd.js'
import { crowdFor } from '../crowd/crowd-for.js'
import type { JobMessage, JobOrder } from './job-messages.js'
import { runJob } from './run-job.js'

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
