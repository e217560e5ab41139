/** Logs and metrics of the server. */
export { createLog, type Log } from './log.js'
export { createProblemLog, failureText, logEvents, type ProblemLog } from './problem-log.js'
