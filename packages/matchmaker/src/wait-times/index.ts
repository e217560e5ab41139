/** Waiting times of tickets by region: estimates, and the target wait that moves limits. */
export { createQueueWaits, type Curves, curvesFrom, type LearnedCurves, type QueueWaits } from './queue-waits.js'
export { type Kind, regionIn } from './regions.js'
export type { TargetWaitState } from './target-wait.js'
export type { WaitCell } from './wait-cell.js'
export { type MatchRateCurve, estimateOf, type WaitEstimate } from './wait-estimate.js'
