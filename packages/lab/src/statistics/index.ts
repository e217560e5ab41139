/** Spreads of samples and intervals of paired differences. */
export { type Interval, meanAndDeviation, meanOf, pairedIntervals } from './paired.js'
export { firstIndex, groupBy, normal, rankCorrelation, rounded, type Spread, spreadOf } from './spread.js'
