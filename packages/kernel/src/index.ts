/**
 * The public API of `@muster/kernel`: the waiting tickets of one queue as rows of numbers, and the matches made of
 * them.
 */
export { levelAt } from './data/levels.js'
export type {
  Checks,
  Entry,
  Grouped,
  Matches,
  MatchLevels,
  Model,
  Opening,
  Pool,
  Quota,
  Radius,
  Round,
  RoundOptions,
  Slot,
  Span,
  TeamShape,
} from './data/model.js'
export { createPool, STEP } from './pool.js'
