/** Trials of changed rules on recorded tickets. */
export { createRecording } from './recording.js'
export { createTrials, type Trials, trialThreads } from './trials.js'
