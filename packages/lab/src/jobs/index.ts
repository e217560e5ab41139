/** Runs as jobs, on threads of their own or on this one. */
export type { LabJob } from './job.js'
export { createLabThreads, type JobsOptions, type LabThreads, type ThreadOptions } from './run-jobs.js'
