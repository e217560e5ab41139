import type { Client } from '@muster/core'
import type { Matchmaker } from '../matches/matchmaker.js'
import type { Ticket } from '../tickets/ticket.js'

/** The parts of a matchmaker that telemetry uses. */
export type Observed = Pick<Matchmaker, 'on' | 'inspect'>

/** The parts of a client of the service that telemetry uses. */
export type ObservedClient = Pick<Client, 'events' | 'queues'>

/** Names a ticket's queue: that of its match, or the only queue it waits in; `several` while it waits in several. */
export const queueOf = ({ queue, queues }: Ticket): string =>
  queue ?? (queues.length === 1 ? (queues[0] as string) : 'several')
