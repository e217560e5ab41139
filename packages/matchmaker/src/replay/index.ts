/**
 * What `@muster/matchmaker/replay` offers to the rule lab: lines of recordings, the check of tickets, where a party is,
 * and a service in memory.
 */
export { networkOf } from '@muster/servers'
export { readTicketInput } from '../tickets/ticket-input.js'
export {
  createPlayerRecorder,
  playerOf,
  readLine,
  type RecordedLine,
  type RecordedPlayer,
  type RecordedTicket,
} from './recording-lines.js'
export { createStubService } from './stub-service.js'
