import type { Coordinates } from '@muster/core'
import type { MusterError } from '@muster/core'
import type { Ticket } from '../tickets/ticket.js'
import type { Player } from '../player.js'

/** Waiting tickets as plain data, for JSON. It holds players' addresses: keep it where you keep those. */
export interface TicketSnapshot {
  readonly format: 'muster-tickets-1'
  /** Epoch milliseconds. */
  readonly exportedAt: number
  readonly tickets: readonly ExportedTicket[]
}

export interface ExportedTicket {
  readonly id: string
  readonly queues: readonly string[]
  readonly players: readonly Player[]
  readonly priority: number
  /** Epoch milliseconds: its waiting time goes on counting from here. */
  readonly createdAt: number
  readonly attempts: number
  /** Where it is, if that was found out already. */
  readonly place?: Coordinates | undefined
}

export interface ExportOptions {
  /** Whether the tickets go on elsewhere: here they are cancelled as `handed-over`. Default false: they go on here. */
  readonly take?: boolean | undefined
}

export interface Imported {
  readonly tickets: readonly Ticket[]
  /** Those that this matchmaker does not take, e.g. because there is no such queue. */
  readonly refused: readonly { readonly ticket: ExportedTicket; readonly error: MusterError }[]
}

export interface Reconfigured {
  /**
   * Tickets that the new queue does not take, or whose queue is gone. One that waits in other queues too goes on
   * there; one that does not is CANCELLED as `refused`.
   */
  readonly refused: readonly { readonly ticket: Ticket; readonly queue: string; readonly error: MusterError }[]
}
