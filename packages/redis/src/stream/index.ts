/** A stream of events in Redis, and the tail that processes read of it. */
export { followStream, type StreamFollower } from './follow-stream.js'
export { BEGIN, type Entries, MOST_ENTRIES, StreamTail } from './stream-tail.js'
