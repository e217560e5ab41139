import type { Coordinates } from '@muster/core'
import type { MusterError } from '@muster/core'
import type { PrivateSeat } from '../tickets/checked-ticket.js'
import type { Ticket } from '../tickets/ticket.js'
import type { Player } from '@muster/servers'

/** Waiting tickets as plain data, for JSON. It holds players' addresses: store it as carefully as those. */
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
  /** Epoch milliseconds from which the ticket's waiting time is counted. */
  readonly createdAt: number
  readonly attempts: number
  /** Of a ticket of a private match: its place in that. */
  readonly privateSeat?: PrivateSeat | undefined
  /** The place of the ticket's players, if it was found already. */
  readonly place?: Coordinates | undefined
}

export interface ExportOptions {
  /**
   * Whether the tickets move elsewhere and are cancelled here as `handed-over`. Default false: they keep waiting here
   * too.
   */
  readonly take?: boolean | undefined
}

export interface Imported {
  readonly tickets: readonly Ticket[]
  /** Tickets that this matchmaker refused, e.g. because it has no such queue. */
  readonly refused: readonly { readonly ticket: ExportedTicket; readonly error: MusterError }[]
}

export interface Reconfigured {
  /**
   * Tickets that their new queue refuses, or whose queue is gone. A ticket that waits in other queues too stays there;
   * any other is CANCELLED as `refused`.
   */
  readonly refused: readonly { readonly ticket: Ticket; readonly queue: string; readonly error: MusterError }[]
}
