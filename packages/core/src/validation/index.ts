/** Validates values from outside and describes their faults. */
export { jsonFault, jsonIn } from './read.js'
export { type Fault, validate } from './validate.js'
