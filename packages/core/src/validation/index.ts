/**
 * What `@muster/core/validation` offers: the one way in which values from outside are checked and what is wrong with
 * them is said.
 */
export { jsonFault, type JsonFault } from './json-fault.js'
export { didYouMean, nearestName } from './nearest-name.js'
export { mayHoldSecret } from './shown.js'
export { validate, type Fault, type Validated } from './validate.js'
