import type { OperationId } from '@muster/core/api'
import { createPacketCounters, type PacketCounters } from './relay-data/packet-counters.js'

/** Counters since the start, to be read at any time. */
export interface Counters {
  /** Requests of each operation by the status answered. */
  readonly requests: Partial<Record<OperationId, Record<number, number>>>
  /** Requests refused with 429, by the name of the limit. */
  readonly rejected: Record<string, number>
  /** Requests to no known route, or with a method that the route does not have. */
  unrouted: number
  /** Connections ended without an answer, by a declared fault. */
  dropped: number
  readonly webhooks: {
    /** Number of calls made. */
    sent: number
    /** Calls answered by 2xx. */
    delivered: number
    /** Calls answered by another status, too late, or not at all. They are not repeated. */
    failed: number
    /** Calls not made, because they would have left this machine (see `webhookHosts`). */
    refused: number
  }
  /** The relay sessions'. */
  readonly packets: PacketCounters
}

export const createCounters = (): Counters => ({
  requests: {},
  rejected: {},
  unrouted: 0,
  dropped: 0,
  webhooks: { sent: 0, delivered: 0, failed: 0, refused: 0 },
  packets: createPacketCounters(),
})
