import { networkOf } from '@muster/servers'
import type { CheckedTicket } from './checked-ticket.js'
import type { Place } from './locating.js'
import { NOWHERE, type QueueRuntime, type TicketRecord } from './records.js'

/** What differs between a new ticket and one that waited elsewhere before. */
export interface RecordOptions {
  readonly id: string
  readonly runtimes: readonly QueueRuntime[]
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly attempts: number
  /** Undefined: unknown, or still `locating`. */
  readonly place: Place
  readonly locating: boolean
}

/** Makes the record of a ticket that searches and is in no pool yet. */
export const newRecord = (
  { players, priority, queues, privateSeat }: CheckedTicket,
  { id, runtimes, createdAt, attempts, place, locating }: RecordOptions,
): TicketRecord => ({
  id,
  players,
  priority,
  createdAt,
  place,
  network: networkOf(players),
  locating,
  queues: queues.length === 1 ? (runtimes[0]?.alone.queues ?? queues) : queues,
  privateSeat,
  runtimes,
  slot: NOWHERE,
  moreSlots: undefined,
  waits: undefined,
  status: 'SEARCHING',
  version: 1,
  waitingFor: privateSeat !== undefined ? 'servers' : locating ? 'location' : 'players',
  attempts,
  restsUntil: 0,
  seat: undefined,
  assignedAt: undefined,
  cancelledAt: undefined,
  endedAt: undefined,
  cancelReason: undefined,
  matchEnd: undefined,
  seenAt: undefined,
  dueAt: 0,
  heapIndex: -1,
})
