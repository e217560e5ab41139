/** One way to check values from outside and to describe what is wrong. */
export { jsonFault } from './read.js'
export { type Fault, validate } from './validate.js'
