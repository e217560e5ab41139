import type { ManualClock, Random } from '@muster/core/clock'
import type { HostingEntry, ServerLog } from '../store/index.js'
import type { DeploymentService } from '../sources/service/deployment-service.js'
import type { ServerAllocator } from '../sources/server-allocator.js'
import type { Life, Death } from './life.fixture.js'

/** A ticket of one player: searching, matched, assigned, cancelled, or with the end of its match in `over`. */
export interface Ticket {
  readonly id: string
  readonly queue: string
  readonly player: string
  readonly state: 'searching' | 'matched' | 'assigned' | 'cancelled' | 'over'
  readonly match?: string | undefined
  readonly version: number
  readonly tries: number
}

/** The sources of servers. */
export interface TestSources {
  readonly service: DeploymentService
  readonly allocator: ServerAllocator
}

/** The tickets of a process, as far as a store needs them. */
export interface TicketsOf {
  /** Tickets of a match whose players are sent to its server as soon as it listens. */
  readonly expected: (matchId: string) => readonly string[]
  /** Called when the store has cancelled tickets, or does not know them. */
  readonly gone: (ticketIds: readonly string[]) => void
}

/** The store of one process. */
export interface OpenStorage {
  readonly serverLog: ServerLog
  readonly tickets: readonly Ticket[]
  /** Stores the current state of a ticket. */
  readonly put: (ticket: Ticket) => void
  /** Resolves once a new ticket is acknowledged. */
  readonly create: (ticket: Ticket) => Promise<void>
  /** Resolves once everything stored so far is as durable as an acknowledged command. */
  readonly flushed: () => Promise<void>
  /** Stores the result of a match. */
  readonly putResult: (matchId: string) => void
  /** The sources for a process that may have been deposed. */
  readonly fenced: (sources: TestSources) => TestSources
  readonly advance: () => void
  readonly close: () => void
}

/** The data that survives the processes of a schedule. */
export interface Storage {
  /** The ways in which processes of the schedule may end. */
  readonly deaths: readonly Death[]
  readonly open: (life: Life, tickets: TicketsOf) => OpenStorage | Promise<OpenStorage>
  /** A player cancels a ticket without the leading process. Undefined if that is impossible. */
  readonly cancel?: (ticketId: string, player: string) => boolean
  /** Marks what is written by now. `has` later returns whether it survived power failures. */
  readonly mark: () => { readonly has: () => boolean }
  /** Called when a process has ended. */
  readonly ended: (how: Death) => void
  /** Returns the server log of a process that reads what is stored now. It counts entries and changes nothing else. */
  readonly copy: () => CopiedLog
}

/** Creates the store of a schedule. */
export type OpenStorageOf = (parts: {
  readonly clock: ManualClock
  readonly random: Random
  readonly isCalm: () => boolean
}) => Storage

/** A server log in memory. */
export interface CopiedLog {
  readonly log: ServerLog
  /** The entries that have changed a record. */
  readonly written: () => readonly HostingEntry[]
  readonly tickets: readonly Ticket[]
  /** Ids of matches with stored results. */
  readonly results: readonly string[]
}
