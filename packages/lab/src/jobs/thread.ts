import { Worker } from 'node:worker_threads'
import type { JobMessage, JobOrder } from './job-messages.js'
import type { JobResult } from './job.js'

/** A thread that carries out one job at a time. */
export interface JobThread {
  /** @param progressed called with the share of the job. */
  run(order: JobOrder, progressed: (share: number) => void): Promise<JobResult>
  end(): Promise<void>
}

/** A thread ended early: it crashed, or ran out of memory. */
export class ThreadFailed extends Error {
  override readonly name = 'ThreadFailed'
}

/**
 * The program of the threads. Where this file runs from its source, the built program beside it is taken: threads of
 * Node.js 20 read no TypeScript.
 */
const PROGRAM = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/jobs/job-worker.js', import.meta.url)
  : new URL('./job-worker.js', import.meta.url)

/** Tickets live for thousands of others: with more room for new objects, fewer of them are moved before they end. */
const YOUNG_MB = 96

export function startThread(heapMb: number, program = PROGRAM): JobThread {
  // Options of the program itself, such as the modules that it preloads, are not the thread's.
  const resourceLimits = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB }
  const worker = new Worker(program, { execArgv: [], resourceLimits })
  let told: (message: JobMessage) => void = () => {}
  worker.on('message', (message: JobMessage) => told(message))
  worker.on('error', (error: NodeJS.ErrnoException) => {
    const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    const why = isFull ? `it needs more than ${heapMb} MB of memory: make the crowd smaller` : error.message
    told({ error: new ThreadFailed(why, { cause: error }) })
  })
  worker.on('exit', (code) => told({ error: new ThreadFailed(`its thread ended early, with code ${code}`) }))

  return {
    run: (order, progressed) =>
      new Promise((resolve, reject) => {
        told = ({ share, result, error }) => {
          if (share !== undefined) return progressed(share)
          told = () => {}
          if (result === undefined) reject(error as Error)
          else resolve(result)
        }
        worker.postMessage(order, [])
      }),
    end: async () => void (await worker.terminate()),
  }
}
