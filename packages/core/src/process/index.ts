/** What `@muster/core/process` offers to programs: when to end. */
export { parentsNow, toldToEnd } from './told-to-end.js'
