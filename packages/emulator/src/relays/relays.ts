import type { RelaySession, RelaySessionOfUser } from '@muster/core/api'
import type { WebhookFault } from '../deployments/webhook-fault.js'
import type { Place } from '../places.js'
import type { PacketFault } from '../relay-data/packet-fault.js'
import type { RelayFault } from './relay-fault.js'
import type { RelaySessionRecord, RelayUserRecord } from './relay-session.js'

export interface RelayOrder {
  /** The users' addresses; a relay near to them is chosen. */
  readonly users: readonly string[]
  /** Which places will do. */
  readonly allows: (place: Place) => boolean
  readonly webhookUrl: string | undefined
  readonly fault: RelayFault | undefined
  readonly webhookFault: WebhookFault | undefined
  readonly packetFault: PacketFault | undefined
}

/** The part of the service behind `api.relays`. */
export interface Relays {
  /** Undefined when no relay will do. */
  create(order: RelayOrder): Promise<RelaySessionRecord | undefined>
  get(sessionId: string): RelaySessionRecord | undefined
  /** All that have not been deleted, oldest first. */
  all(): readonly RelaySessionRecord[]
  /** One more user, with a token of its own, also if there is one at this address already. */
  authorize(session: RelaySessionRecord, ip: string): RelayUserRecord
  /** False when no user has that token. */
  revoke(session: RelaySessionRecord, token: number): boolean
  /** Resolves when its ports are free. */
  delete(session: RelaySessionRecord): Promise<void>
  view(session: RelaySessionRecord): RelaySession
  viewOfUser(session: RelaySessionRecord, user: RelayUserRecord): RelaySessionOfUser
  /** Resolves when the calls to its webhook, as far as they have been started, are over. */
  called(session: RelaySessionRecord): Promise<void>
  /** Without tokens. */
  list(): readonly RelaySummary[]
  close(): Promise<void>
}

export interface RelaySummary {
  readonly session_id: string
  readonly ready: boolean
  readonly users: number
  /** Users whose packets have been coming in; 0 where no packets are carried. */
  readonly connected: number
}
