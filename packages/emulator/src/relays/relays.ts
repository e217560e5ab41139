import type { RelaySession, RelaySessionOfUser } from '@muster/core/api'
import type { WebhookFault } from '../deployments/webhook-fault.js'
import type { Place } from '../places.js'
import type { PacketFault } from '../relay-data/packet-fault.js'
import type { RelayFault } from './relay-fault.js'
import type { RelaySessionRecord, RelayUserRecord } from './relay-session.js'

export interface RelayOrder {
  /** The users' IP addresses; a relay near them is chosen. */
  readonly users: readonly string[]
  /** Which places are allowed. */
  readonly allows: (place: Place) => boolean
  readonly webhookUrl: string | undefined
  readonly fault: RelayFault | undefined
  readonly webhookFault: WebhookFault | undefined
  readonly packetFault: PacketFault | undefined
}

/** The part of the service behind `api.relays`. */
export interface Relays {
  /** Creates a session; undefined when no allowed relay has free ports. */
  create(order: RelayOrder): Promise<RelaySessionRecord | undefined>
  get(sessionId: string): RelaySessionRecord | undefined
  /** All sessions that have not been deleted, the oldest first. */
  all(): readonly RelaySessionRecord[]
  /** Adds a user with a token of its own, even if another user has the same address. */
  authorize(session: RelaySessionRecord, ip: string): RelayUserRecord
  /** Removes the user with the token. Returns false when no user has it. */
  revoke(session: RelaySessionRecord, token: number): boolean
  /** Deletes the session; resolves when its ports are free. */
  delete(session: RelaySessionRecord): Promise<void>
  view(session: RelaySessionRecord): RelaySession
  viewOfUser(session: RelaySessionRecord, user: RelayUserRecord): RelaySessionOfUser
  /** Resolves when the calls to the session's webhook that have been started so far are over. */
  called(session: RelaySessionRecord): Promise<void>
  /** Summaries of all sessions, without tokens. */
  list(): readonly RelaySummary[]
  close(): Promise<void>
}

export interface RelaySummary {
  readonly session_id: string
  readonly ready: boolean
  readonly users: number
  /** Users connected, as seen by their packets; 0 where sessions carry no packets. */
  readonly connected: number
}
