import type { Client } from '@muster/core'
import type { Matchmaker } from '../commands/matchmaker.js'
import type { Ticket } from '../tickets/ticket.js'

/** What telemetry needs of a matchmaker. */
export type Observed = Pick<Matchmaker, 'on' | 'inspect'>

/** What it needs of a client of the service. */
export type ObservedClient = Pick<Client, 'events' | 'queues'>

/**
 * One name for a ticket's queue: that of its match, or the only one it waits in; `several` as long as it waits in
 * several.
 */
export const queueOf = ({ queue, queues }: Ticket): string =>
  queue ?? (queues.length === 1 ? (queues[0] as string) : 'several')
