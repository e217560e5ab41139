/** Exports for tests of this repository's other packages only. They may change without notice. */
export { readJoinToken } from './join-token.js'
