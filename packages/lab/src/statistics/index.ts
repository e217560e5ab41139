/** Spreads of samples and intervals of paired differences. */
export { type Interval, pairedIntervals } from './paired.js'
export {
  firstIndex,
  meanAndDeviation,
  meanOf,
  normal,
  rankCorrelation,
  rounded,
  type Spread,
  spreadOf,
} from './spread.js'
