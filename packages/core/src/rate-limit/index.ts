/** The service's rate limits: token buckets, learned limits, and the queues that wait for them. */
export type { BoundChange } from './count-bound.js'
export { createRateSearch, createRefusals, type RateSearch, type Refusals } from './learned-limit.js'
export type { Limiter } from './limiter-types.js'
export { Scheduler, type SchedulerOptions, type SchedulerState, type CallSlot } from './scheduler.js'
export { createBucket, createTokens } from './token-bucket.js'
