/** What `@muster/kernel` offers: the waiting tickets of one queue as rows of numbers, and the matches made of them. */
export { levelAt } from './level-at.js'
export type {
  Checks,
  Entry,
  Grouped,
  Matches,
  MatchLevels,
  Model,
  Need,
  Opening,
  Pool,
  Radius,
  Round,
  RoundOptions,
  Slot,
  Span,
  TeamShape,
} from './model.js'
export { createPool, STEP } from './pool.js'
