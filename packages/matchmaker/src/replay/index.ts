/** What `@muster/matchmaker/replay` offers to the rule lab: lines of recordings, and a service in memory. */
export { readLine, type RecordedLine, type RecordedPlayer, type RecordedTicket } from './lines.js'
export { createStubService } from './stub-service.js'
