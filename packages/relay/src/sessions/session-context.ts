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
  /** It is tried again at the next tick. */
  deleteFailed: (event: { readonly sessionId: string; readonly error: string }) => void
  /** A create was not answered, and no session was found that it could have made. It is looked for again. */
  doubtful: (event: { readonly label: string | undefined; readonly error: string }) => void
}

export type DeleteReason =
  'asked' | 'not ready' | 'replaced' | 'abandoned' | 'idle' | 'too old' | 'orphan' | 'doubtful' | 'closing'

/** A session that this process opened or adopted, and has to delete. */
export interface Entry {
  session: RelaySession
  /** Undefined for one that was adopted. */
  readonly marker: Marker | undefined
  /** What the answer to its create said, or the last reading since. */
  reading: Reading | undefined
  /** Epoch milliseconds. */
  lastUsedAt: number
  /** Why it is to be deleted, until that has succeeded. */
  condemned: DeleteReason | undefined
}

/** What the parts of `RelaySessions` share. */
export interface SessionContext {
  readonly client: RelayService
  readonly clock: Clock
  readonly markers: Markers
  readonly hints: Hints
  readonly events: Events<RelaySessionEvents>
  /** Sessions by id: the ledger of what this process has to delete. */
  readonly ledger: Map<string, Entry>
  /** Creates that may have made a session nobody knows: the marker's URL → when. */
  readonly doubts: Map<string, number>
  /** Ids of orphans of which the service has not confirmed that they are deleted. */
  readonly orphans: Set<string>
  /** Milliseconds for one call. */
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
  /** False when the service has more sessions than it listed; the operation has no way to ask for them. */
  readonly complete: boolean
}

export async function listSessions({ client, callTimeoutMs }: SessionContext): Promise<Listing> {
  const { sessions, pagination } = await client.list({}, { timeoutMs: callTimeoutMs })
  return { readings: sessions.map(readingOf), complete: pagination?.has_next !== true }
}
