import { randomUUID } from 'node:crypto'
import { Worker } from 'node:worker_threads'
import type { Trial, TrialResult } from '@muster/console/internal'
import { scrub } from '@muster/core/internal'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import type { QueueDefinition } from '@muster/matchmaker'
import { hasCode, type QueueCardsSource } from '../queue-cards.js'
import { invalidYaml, readEditedQueue } from '../queue-edits.js'
import { lasted } from '../stories/index.js'
import type { Recorded, Recording } from './recording.js'
import type { TrialJob } from './run-trial.js'

interface TrialsOptions {
  readonly recording: Pick<Recording, 'latest'>
  readonly queues: () => readonly QueueDefinition[]
  readonly cards: QueueCardsSource
  readonly start: StartTrial
  readonly clock: Clock
  readonly startedAt: number
}

/** Tries changed queues on the recording. The number of trials and the time of each are limited. */
export type Trials = ReturnType<typeof createTrials>

interface Running {
  trial: Trial
  readonly end: AbortController
}

const MOST_RUNNING = 2
/** Maximum number of trials in memory, running ones included. */
const MOST_KEPT = 20
const LONGEST_MS = 120_000
const HOUR_MS = 3_600_000
const NO_TICKETS = 'no tickets were recorded here yet'

export function createTrials({ recording, queues, cards, start, clock, startedAt }: TrialsOptions) {
  const known = new Map<string, Running>()

  const find = (id: string): Running => {
    const found = known.get(id)
    if (found === undefined) throw new Problem(404, 'no-such-trial', 'There is no such trial, or it was dropped.')
    return found
  }
  const isRunning = ({ trial }: Running) => trial.state === 'running'

  const tell = (running: Running, { progress, result, error }: TrialMessage) => {
    const { trial } = running
    if (trial.state !== 'running') return
    if (progress !== undefined) running.trial = { ...trial, progress }
    else if (result !== undefined) running.trial = { ...trial, state: 'done', progress: 1, result }
    else running.trial = { ...trial, state: 'failed', error: scrub(error) }
    if (running.trial.state !== 'running') running.end.abort()
  }

  const missing = ({ from, isPart }: Recorded, now: number): string[] => {
    if (now - from >= HOUR_MS && !isPart) return []
    if (!isPart) return [`Tickets are recorded since the program started, ${lasted(now - startedAt)} ago.`]
    return [
      `The recording holds the last ${lasted(now - from)}, because it has room for no more tickets.`,
      'Tickets that already waited when the recording began are not in it.',
    ]
  }

  return {
    /** Starts a trial. Returns the trial, or the response to invalid YAML. @throws {Problem} */
    begin: (queue: string, yaml: string): Trial | Response => {
      const { definition: before } = cards.inForce(queue)
      if (queues().some(hasCode))
        throw new Problem(409, 'fixed-queue', 'A queue has a rule that is code, which a trial cannot run.')
      if ([...known.values()].filter(isRunning).length >= MOST_RUNNING) {
        throw new Problem(429, 'too-many-trials', 'Other trials are running. Retry after 5 s.', { retryAfterMs: 5000 })
      }
      const { definition, faults } = readEditedQueue(yaml, before)
      if (definition === undefined) return invalidYaml(faults)
      // One line means that no ticket is recorded, because the first line describes the recording.
      const recorded = recording.latest()
      if (recorded.lines < 2) throw new Problem(409, 'nothing-recorded', NO_TICKETS)
      const running: Running = {
        trial: { id: randomUUID(), queue, state: 'running', progress: 0, error: null, result: null },
        end: new AbortController(),
      }
      known.set(running.trial.id, running)
      const [oldest] = [...known.values()].filter((one) => !isRunning(one))
      if (known.size > MOST_KEPT && oldest !== undefined) known.delete(oldest.trial.id)
      const now = clock.now()
      const asIs = queues()
      const stop = start(
        {
          pieces: recorded.pieces,
          since: now - HOUR_MS,
          queue,
          asIs,
          changed: asIs.map((one) => (one.name === queue ? definition : one)),
          missing: missing(recorded, now),
        },
        (message) => tell(running, message),
      )
      running.end.signal.addEventListener('abort', stop, { once: true })
      clock.sleep(LONGEST_MS, running.end.signal).then(
        () => tell(running, { error: 'the replay took longer than two minutes: too much was recorded' }),
        () => {}, // The trial has ended.
      )
      return running.trial
    },
    /** Returns a trial by its id. @throws {Problem} 404 for an unknown id */
    get: (id: string): Trial => find(id).trial,
    /** Aborts a trial and removes it. @throws {Problem} 404 for an unknown id */
    cancel: (id: string) => {
      const { end } = find(id)
      known.delete(id)
      end.abort()
    },
    close: () => {
      for (const { end } of known.values()) end.abort()
      known.clear()
    },
  }
}

/** The messages from a trial's thread. */
export type TrialMessage =
  | { readonly progress: number; readonly result?: undefined; readonly error?: undefined }
  | { readonly result: TrialResult; readonly progress?: undefined; readonly error?: undefined }
  | { readonly error: string; readonly progress?: undefined; readonly result?: undefined }

/** Runs a trial until it has reported its result or its error. Returns a function that aborts it. */
type StartTrial = (job: TrialJob, tell: (message: TrialMessage) => void) => () => void

/** Maximum heap size in megabytes: enough for the objects of two recordings of 64 MB. */
const HEAP_MB = 1024

/** Returns the function that runs trials in threads. @param url URL of `trial-worker.js`. */
export const trialThreads =
  (url = new URL('./trial-worker.js', import.meta.url)): StartTrial =>
  (job, tell) => {
    let isTold = false
    const tellOnce = (message: TrialMessage) => {
      if (isTold) return
      isTold = message.progress === undefined
      tell(message)
    }
    // No options of the program, such as preloaded modules, apply in the thread.
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
