/** What `@muster/core/clock` offers: time and randomness as parameters. */
export { systemClock, type Clock } from './clock.js'
export { createManualClock, type ManualClock } from './manual-clock.js'
export { seededRandom, type Random } from './random.js'
