import type { Clock } from '@muster/core/clock'
import type { Events, WithProblems } from '@muster/core/runtime'
import { readingOf, type Reading } from './reading.js'
import type { Hints } from './hints.js'
import type { Marker, Markers } from './marker.js'
import type { RelayService } from './service.js'
import type { RelaySession } from './session.js'

export interface RelaySessionEvents extends WithProblems {
  opened: (event: { readonly sessionId: string; readonly label: string | undefined }) => void
  ready: (event: { readonly sessionId: string; readonly label: string | undefined; readonly waitedMs: number }) => void
  deleted: (event: { readonly sessionId: string; readonly reason: DeleteReason }) => void
  /** A deletion failed. It is tried again at the next tick. */
  deleteFailed: (event: { readonly sessionId: string; readonly error: string }) => void
  /** A create was not answered, and no session that it may have made was found. Later ticks look again. */
  doubtful: (event: { readonly label: string | undefined; readonly error: string }) => void
}

export type DeleteReason =
  'asked' | 'not ready' | 'replaced' | 'abandoned' | 'idle' | 'too old' | 'orphan' | 'doubtful' | 'closing'

/** A session that this process opened or adopted, and has to delete. */
export interface Entry {
  session: RelaySession
  /** Undefined for an adopted session. */
  readonly marker: Marker | undefined
  /** The session as its create's answer or the latest reading described it. */
  reading: Reading | undefined
  /** Epoch milliseconds. */
  lastUsedAt: number
  /** Why the session is to be deleted; set until its deletion has succeeded. */
  condemned: DeleteReason | undefined
}

/** State and options that the parts of `RelaySessions` share. */
export interface SessionContext {
  readonly client: RelayService
  readonly clock: Clock
  readonly markers: Markers
  readonly hints: Hints
  readonly events: Events<RelaySessionEvents>
  /** Sessions by id: the ledger of the sessions that this process has to delete. */
  readonly ledger: Map<string, Entry>
  /** Creates that may have made an unknown session: the marker's URL → when the create was sent. */
  readonly doubts: Map<string, number>
  /** Ids of orphans whose deletion the service has not confirmed. */
  readonly orphans: Set<string>
  /** Timeout of one call, in milliseconds. */
  readonly callTimeoutMs: number
  /** Aborted by `close`. */
  readonly closing: AbortSignal
}

export async function readSession(
  { client, callTimeoutMs }: SessionContext,
  sessionId: string,
  signal?: AbortSignal,
): Promise<Reading> {
  return readingOf(await client.get({ session_id: sessionId }, { timeoutMs: callTimeoutMs, signal }))
}

export interface Listing {
  readonly readings: readonly Reading[]
  /** False if the service has more sessions than it listed; the operation offers no further pages. */
  readonly complete: boolean
}

export async function listSessions({ client, callTimeoutMs }: SessionContext): Promise<Listing> {
  const { sessions, pagination } = await client.list({}, { timeoutMs: callTimeoutMs })
  return { readings: sessions.map(readingOf), complete: pagination?.has_next !== true }
}
