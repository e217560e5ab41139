/**
 * What `@muster/matchmaker/replay` offers to the rule lab: lines of recordings, the check of tickets, where a party is,
 * and a service in memory.
 */
export { networkOf } from '@muster/servers'
export { readTicketInput } from '../tickets/ticket-input.js'
export { readLine, type RecordedLine, type RecordedPlayer, type RecordedTicket } from './lines.js'
export { createPlayerRecorder, playerOf } from './recorded-player.js'
export { createStubService } from './stub-service.js'
