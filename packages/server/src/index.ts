/** What `@muster/server` offers to programs: the same that the command `muster` does. */
export { version } from './version.js'
