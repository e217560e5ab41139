/** Waiting for the service's rate limits: token buckets, learned limits, and the queues before them. */
export type { BoundChange } from './count-bound.js'
export { createRateSearch, createRefusals, type RateSearch, type Refusals } from './learned-limit.js'
export type { Limiter } from './limiter.js'
export { createScheduler, type Scheduler, type SchedulerOptions, type SchedulerState, type Slot } from './scheduler.js'
export { createBucket, createTokens } from './token-bucket.js'
