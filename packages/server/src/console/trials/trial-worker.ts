/** A trial in a thread of its own, so that matching is not held up. */
import { parentPort, workerData } from 'node:worker_threads'
import { runTrial, type TrialJob } from './run-trial.js'
import type { TrialMessage } from './trials.js'

const tell = (message: TrialMessage) => parentPort?.postMessage(message, [])

try {
  const result = await runTrial(workerData as TrialJob, (progress) => tell({ progress }))
  tell({ result })
} catch (error) {
  tell({ error: error instanceof Error ? error.message : String(error) })
}
