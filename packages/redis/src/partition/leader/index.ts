/** The leader of a partition: replays the log, holds the lease, and commits. */
export { Leadership } from './leadership.js'
