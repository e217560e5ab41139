/** Runs a trial in its own thread, so that it does not block matching. */
import { parentPort, workerData } from 'node:worker_threads'
import { messageOf } from '@muster/core/internal'
import { runTrial, type TrialJob } from './run-trial.js'
import type { TrialMessage } from './trials.js'

const tell = (message: TrialMessage) => parentPort?.postMessage(message, [])

try {
  const result = await runTrial(workerData as TrialJob, (progress) => tell({ progress }))
  tell({ result })
} catch (error) {
  tell({ error: messageOf(error) })
}
