/** Compares two results: differences of measures, with their intervals. */
export { compare, type Comparison, valuesOf } from './compare.js'
export { type Difference, groupsOf, SLICE_MEASURES, slicesOf, type Verdict } from './difference.js'
export { interval, type Measure, MEASURES, quantity, signed, type Unit } from './measures.js'
