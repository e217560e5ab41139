/** What `@muster/core/validation` offers: one way to check values from outside and to describe what is wrong. */
export { jsonFault, type JsonFault, notJson, read } from './read.js'
export { didYouMean, nearestName } from './nearest-name.js'
export { type Fault, mayHoldSecret, validate, validateAll, type Validated, type ValidatedWhole } from './validate.js'
