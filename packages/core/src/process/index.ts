/** What `@muster/core/process` offers to programs: when to end. */
export { toldToEnd } from './told-to-end.js'
export { parentsNow } from './watch-parents.js'
