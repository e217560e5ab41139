import type { ManualClock, Random } from '@muster/core/clock'
import type { HostingEntry, ServerLog } from '../store/index.js'
import type { DeploymentService } from '../sources/service/deployment-service.js'
import type { ServerAllocator } from '../sources/server-allocator.js'
import type { Life, Death } from './life.fixture.js'

/** A ticket of one player. `over`: the match of the ticket has ended. */
export interface Ticket {
  readonly id: string
  readonly queue: string
  readonly player: string
  readonly state: 'searching' | 'matched' | 'assigned' | 'cancelled' | 'over'
  readonly match?: string | undefined
  readonly version: number
  readonly tries: number
}

/** The simulated sources of servers. */
export interface TestSources {
  readonly service: DeploymentService
  readonly allocator: ServerAllocator
}

/** The access of a store to the tickets of a process. */
export interface TicketsOf {
  /** Returns the ids of a match's tickets whose players will be sent to its server once it listens. */
  readonly expected: (matchId: string) => readonly string[]
  /** Called with tickets that were cancelled in the store or that the store does not have. */
  readonly gone: (ticketIds: readonly string[]) => void
}

/** The store of one process. */
export interface OpenStorage {
  readonly serverLog: ServerLog
  readonly tickets: readonly Ticket[]
  /** Stores a changed ticket. */
  readonly put: (ticket: Ticket) => void
  /** Stores a new ticket. Resolves once it is durable. */
  readonly create: (ticket: Ticket) => Promise<void>
  /** Resolves once everything stored so far is durable. */
  readonly flushed: () => Promise<void>
  readonly putResult: (matchId: string) => void
  /** Returns sources that reject the requests of a process that was deposed. */
  readonly fenced: (sources: TestSources) => TestSources
  readonly advance: () => void
  readonly close: () => void
}

/** The stored data of a schedule, which outlives its processes. */
export interface Storage {
  /** The ways in which a process can end with this store. */
  readonly deaths: readonly Death[]
  readonly open: (life: Life, tickets: TicketsOf) => OpenStorage | Promise<OpenStorage>
  /** Cancels a ticket without the leading process, as a player can with some stores. Undefined if this store cannot. */
  readonly cancel?: (ticketId: string, player: string) => boolean
  /** Marks the current end of the data. `has` returns true while no power failure has removed data before the mark. */
  readonly mark: () => { readonly has: () => boolean }
  readonly ended: (how: Death) => void
  /** Returns a copy of the stored data. Writes to the copy change nothing else. */
  readonly copy: () => CopiedLog
}

/** Creates the store of a schedule. */
export type OpenStorageOf = (parts: {
  readonly clock: ManualClock
  readonly random: Random
  readonly isCalm: () => boolean
}) => Storage

/** A copy of the stored data. */
export interface CopiedLog {
  readonly log: ServerLog
  /** Returns the entries that were appended to the copy and have changed a record. */
  readonly written: () => readonly HostingEntry[]
  readonly tickets: readonly Ticket[]
  readonly results: readonly string[]
}
