export { createMuster, type Muster, type MusterOptions, type Search } from './muster.js'
export type { Acceptance, Assignment, GroupState, PlayRequest, State, TicketState } from './state.js'
export { MusterError } from './refusal.js'
export type { Beacon, Ping } from './latencies.js'
