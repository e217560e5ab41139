import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { InvalidInput } from '@muster/core'
import type { PoolDefinition, Queue, QueueDefinition } from '@muster/matchmaker'
import type { Crowd } from '../crowd/index.js'
import type { Figures, FiguresOptions, Possible } from '../figures/index.js'
import type { RatingFigures, RatingOptions } from '../ratings/rating-book.js'
import { defineLabQueues } from '../run/index.js'

/** A run of queues over a crowd, and the results that are wanted. */
export interface LabJob {
  /** The crowd. A synthetic crowd is generated again with `seed`, any other one is resampled. */
  readonly crowd: Crowd
  /** Seed of the crowd, of ids, and of ratings: a whole number from 0. */
  readonly seed: number
  /** The queues. `custom` rules are not allowed, because functions cannot be sent to a thread. */
  readonly queues: readonly QueueDefinition[]
  /** The pools that the queues name: see `runCrowd`. */
  readonly pools?: readonly PoolDefinition[] | undefined
  /** Milliseconds of a tick: see `runCrowd`. */
  readonly tickMs?: number | undefined
  /** Milliseconds until a server has started: see `runCrowd`. */
  readonly startMs?: number | undefined
  /** Options of ratings that follow from the matches. They use the job's seed. Default: no ratings. */
  readonly ratings?: Omit<RatingOptions, 'seed'> | undefined
  readonly figures?: Omit<FiguresOptions, 'queues'> | undefined
  /** True: also computes the best possible matches, which takes a second or two. Default false. */
  readonly possible?: boolean | undefined
}

/** The result of a job. */
export interface JobResult {
  readonly figures: Figures
  /** Figures about ratings. Undefined if the job had no ratings. */
  readonly ratings?: RatingFigures | undefined
  /** The best possible costs of the queues that have such costs. Undefined if not requested. */
  readonly possible?: readonly Possible[] | undefined
}

/** A job as sent to a thread, with validated queues. */
export interface SentJob extends LabJob {
  readonly queues: readonly Queue[]
}

/**
 * Validates the queues of a job or a variant, and returns them.
 * @throws {InvalidQueue}; {InvalidInput} for a rule that is code, or for a pool
 */
export function queuesOf({ queues, pools }: Pick<LabJob, 'queues' | 'pools'>): readonly Queue[] {
  return defineLabQueues(queues, pools).queues.map((queue) => {
    const code = queue.rules.find(({ kind }) => kind === 'custom')
    if (code === undefined) return queue
    const message = `queue ${JSON.stringify(queue.name)}: a custom rule is code, which cannot be sent to a thread`
    throw new InvalidInput(`${message}. Run it with runCrowd.`, { field: 'rules' })
  })
}

export type JobMessage =
  /** Done share of the job, from 0 to 1. */
  | { readonly share: number; readonly result?: undefined; readonly error?: undefined }
  | { readonly result: JobResult; readonly share?: undefined; readonly error?: undefined }
  | { readonly error: unknown; readonly share?: undefined; readonly result?: undefined }

/** Thrown if a thread ended early: it crashed, or ran out of memory. */
export class ThreadFailed extends Error {
  override readonly name = 'ThreadFailed'
}

/**
 * The script of the threads. If this file runs from its source, the threads use the built script, because threads of
 * Node.js 20 cannot read TypeScript.
 */
const PROGRAM = import.meta.url.endsWith('.ts')
  ? new URL('../../dist/jobs/job-worker.js', import.meta.url)
  : new URL('./job-worker.js', import.meta.url)

/**
 * Megabytes of the heap for new objects. Tickets live long. With more memory, fewer of them are copied before they end.
 */
const YOUNG_MB = 96

/** Starts a thread that runs one job at a time. */
function startThread(heapMb: number, program = PROGRAM) {
  // No options of the program, such as preloaded modules, apply in the thread.
  const resourceLimits = { maxOldGenerationSizeMb: heapMb, maxYoungGenerationSizeMb: YOUNG_MB }
  const worker = new Worker(program, { execArgv: [], resourceLimits })
  let notify: (message: JobMessage) => void = () => {}
  worker.on('message', (message: JobMessage) => notify(message))
  worker.on('error', (error: NodeJS.ErrnoException) => {
    const isFull = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    const why = isFull ? `the job needs more than ${heapMb} MB of memory: make the crowd smaller` : error.message
    notify({ error: new ThreadFailed(why, { cause: error }) })
  })
  worker.on('exit', (code) =>
    notify({ error: new ThreadFailed(`the thread of the job ended early, with code ${code}`) }),
  )

  return {
    /** Runs a job. @param progressed called with the done share of the job, from 0 to 1. */
    run: (job: SentJob, progressed: (share: number) => void) =>
      new Promise<JobResult>((resolve, reject) => {
        notify = ({ share, result, error }) => {
          if (share !== undefined) return progressed(share)
          notify = () => {}
          if (result === undefined) reject(error as Error)
          else resolve(result)
        }
        worker.postMessage(job, [])
      }),
    end: () => worker.terminate(),
  }
}

export interface ThreadOptions {
  /** Number of threads, which is the number of concurrent jobs. Default: one less than processors, at least 1. */
  readonly threads?: number | undefined
  /** Maximum megabytes of heap of each thread. Default 2048 (our choice): enough for a crowd of half a million. */
  readonly heapMb?: number | undefined
  /** URL of another script for the threads, for tests. */
  readonly program?: URL | undefined
}

export interface JobsOptions {
  /** Called regularly with the done share of all jobs, from 0 to 1. */
  readonly progressed?: ((share: number) => void) | undefined
  /** Called with the index of each completed job. */
  readonly done?: ((index: number) => void) | undefined
  /** Aborting this signal ends the threads, and the jobs reject with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
}

/** Threads that run jobs until they are closed. */
export interface LabThreads {
  /**
   * Runs jobs. The results are in the order of the jobs, and equal for any number of threads. If a job fails or the
   * signal is aborted, all threads end. The next call starts new threads.
   * @throws {InvalidInput} or {InvalidQueue} naming the fault of a job, before any job starts; {ThreadFailed}
   */
  run(jobs: readonly LabJob[], options?: JobsOptions): Promise<readonly JobResult[]>
  /** Ends all threads. */
  close(): Promise<void>
}

/** Runs jobs in separate threads. @throws like `LabThreads.run` */
export async function runJobs(
  jobs: readonly LabJob[],
  { threads, heapMb, program, ...options }: ThreadOptions & JobsOptions = {},
): Promise<readonly JobResult[]> {
  const pool = createLabThreads({ threads, heapMb, program })
  try {
    return await pool.run(jobs, options)
  } finally {
    await pool.close()
  }
}

/** Creates threads that run jobs. @throws {InvalidInput} naming the option. */
export function createLabThreads({ threads, heapMb = 2048, program }: ThreadOptions = {}): LabThreads {
  const most = threads ?? Math.max(1, availableParallelism() - 1)
  if (!Number.isSafeInteger(most) || most < 1) {
    throw new InvalidInput(`option threads: must be a whole number from 1, got ${most}`, { field: 'threads' })
  }
  let pool: ReturnType<typeof startThread>[] = []
  const endAll = async () => {
    const all = pool
    pool = []
    await Promise.all(all.map((thread) => thread.end()))
  }

  const carryOut = async (
    jobs: readonly SentJob[],
    { progressed, done }: JobsOptions,
  ): Promise<readonly JobResult[]> => {
    const results: JobResult[] = []
    const shares = jobs.map(() => 0)
    let next = 0
    const goOn = async (thread: ReturnType<typeof startThread>): Promise<void> => {
      for (let index = next++; index < jobs.length; index = next++) {
        const tell = (share: number) => {
          shares[index] = share
          progressed?.(shares.reduce((sum, one) => sum + one, 0) / jobs.length)
        }
        try {
          results[index] = await thread.run(jobs[index] as SentJob, tell)
        } catch (error) {
          if (!(error instanceof ThreadFailed)) throw error
          throw new ThreadFailed(`job ${index + 1} of ${jobs.length}: ${error.message}`, { cause: error })
        }
        tell(1)
        done?.(index)
      }
    }
    while (pool.length < Math.min(most, jobs.length)) pool.push(startThread(heapMb, program))
    await Promise.all(pool.map(goOn))
    return results
  }

  return {
    run: async (jobs, options = {}) => {
      const { signal } = options
      signal?.throwIfAborted()
      const sent = jobs.map((job) => ({ ...job, queues: queuesOf(job), crowd: sourceOf(job) }))
      // Ending a thread makes its job reject.
      const abort = () => void endAll()
      signal?.addEventListener('abort', abort, { once: true })
      try {
        return await carryOut(sent, options)
      } catch (error) {
        await endAll()
        signal?.throwIfAborted()
        throw error
      } finally {
        signal?.removeEventListener('abort', abort)
      }
    },
    close: endAll,
  }
}

/**
 * Returns the crowd to send to a thread. Parties of a synthetic crowd are omitted if it is generated again with another
 * seed.
 */
function sourceOf({ crowd, seed }: LabJob): Crowd {
  const { made } = crowd.header
  return made === undefined || made.seed === seed ? crowd : { ...crowd, parties: [] }
}
