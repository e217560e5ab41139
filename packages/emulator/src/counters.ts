import type { OperationId } from '@muster/core/api'
import { createPacketCounters, type PacketCounters } from './relay-data/packet-counters.js'

/** Counters since the start of the emulator; they can be read at any time. */
export interface Counters {
  /** Requests of each operation, by the status answered. */
  readonly requests: Partial<Record<OperationId, Record<number, number>>>
  /** Requests refused with 429, by the name of the limit. */
  readonly rejected: Record<string, number>
  /** Requests to an unknown route, or with a method that the route does not have. */
  unrouted: number
  /** Connections that a declared fault ended without an answer. */
  dropped: number
  readonly webhooks: {
    /** Webhook calls made. */
    sent: number
    /** Webhook calls answered by 2xx. */
    delivered: number
    /** Webhook calls answered by another status, too late, or not at all. Failed calls are not repeated. */
    failed: number
    /** Webhook calls not made, because their target is not on this machine (see `webhookHosts`). */
    refused: number
  }
  /** The packets of the relay sessions. */
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
