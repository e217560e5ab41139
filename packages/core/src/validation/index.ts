/** What `@muster/core/validation` offers: one way to check values from outside and to describe what is wrong. */
export { jsonFault, type JsonFault } from './json-fault.js'
export { didYouMean, nearestName } from './nearest-name.js'
export { notJson, read } from './read.js'
export { mayHoldSecret } from './shown.js'
export { validate, validateAll, type Fault, type Validated, type ValidatedWhole } from './validate.js'
