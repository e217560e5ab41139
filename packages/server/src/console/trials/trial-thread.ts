import type { TrialResult } from '@muster/console/wire'
import { Worker } from 'node:worker_threads'
import type { TrialJob } from './run-trial.js'

/** What the thread of a trial tells. */
export type TrialMessage =
  | { readonly progress: number; readonly result?: undefined; readonly error?: undefined }
  | { readonly result: TrialResult; readonly progress?: undefined; readonly error?: undefined }
  | { readonly error: string; readonly progress?: undefined; readonly result?: undefined }

/** Runs a trial until it has told its result or its error. Returns a function that ends it. */
export type StartTrial = (job: TrialJob, tell: (message: TrialMessage) => void) => () => void

/** Megabytes of heap: a recording of 64 MB as objects, twice. */
const HEAP_MB = 1024

/** Starts trials in threads. @param url of `trial-worker.js`. */
export const trialThreads =
  (url = new URL('./trial-worker.js', import.meta.url)): StartTrial =>
  (job, tell) => {
    let isTold = false
    const tellOnce = (message: TrialMessage) => {
      if (isTold) return
      isTold = message.progress === undefined
      tell(message)
    }
    // Options of the program itself, such as the modules that it preloads, are not the thread's.
    const worker = new Worker(url, {
      workerData: job,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: HEAP_MB },
    })
    worker.on('message', tellOnce)
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      tellOnce({ error: isFull ? 'the recording is too large to be replayed' : error.message })
    })
    worker.on('exit', () => tellOnce({ error: 'the replay ended early' }))
    return () => {
      isTold = true
      void worker.terminate()
    }
  }
