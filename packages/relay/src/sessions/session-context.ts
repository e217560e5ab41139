import { NotFound } from '@muster/core'
import type { CallOptions, Client } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { type Events, type PageInput, problemResponse, within, type WithProblems } from '@muster/core/internal'
import { type RandomInt, unguessable } from '../random-text.js'
import { type SessionReading, readingOf, type RelaySession } from './session.js'

/** The operations used of the service; `client.relays` provides them. */
export type RelayService = Pick<Client['relays'], 'create' | 'get' | 'delete' | 'authorizeUser' | 'revokeUser'> & {
  list(input?: PageInput, options?: CallOptions): ReturnType<Client['relays']['list']>
}

export interface RelaySessionEvents extends WithProblems {
  opened: (event: { readonly sessionId: string; readonly label: string | undefined }) => void
  ready: (event: { readonly sessionId: string; readonly label: string | undefined; readonly waitedMs: number }) => void
  deleted: (event: { readonly sessionId: string; readonly reason: DeleteReason }) => void
  /** A deletion failed. The next tick retries it. */
  deleteFailed: (event: { readonly sessionId: string; readonly error: string }) => void
  /** A create was not answered, and no session that it may have opened was found. Later ticks search again. */
  doubtful: (event: { readonly label: string | undefined; readonly error: string }) => void
}

/**
 * Why a session was deleted:
 * - `asked`: by `delete`;
 * - `not ready`: the session did not become ready in time, or cannot be used;
 * - `replaced`: a new session for the same players replaced it;
 * - `abandoned`: the caller that opened it stopped waiting, or opening it failed;
 * - `idle`: unused for `idleMs`;
 * - `too old`: after `maxLifetimeMs`;
 * - `orphan`: a process that has ended opened it, or it has the label whose sessions are deleted;
 * - `doubtful`: a create without a response opened it;
 * - `closing`: this process closed its sessions.
 */
export type DeleteReason =
  | 'asked'
  | 'not ready'
  | 'replaced'
  | 'abandoned'
  | 'idle'
  | 'too old'
  | 'orphan'
  | 'doubtful'
  | 'closing'

/** A session that this process opened or adopted, and has to delete. */
export interface OwnedSession {
  session: RelaySession
  /** The marker of the create that opened the session; undefined for an adopted session. */
  readonly marker: Marker | undefined
  /** The newest reading of the session: the response to its create, or a later one. */
  reading: SessionReading | undefined
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
  readonly ledger: Map<string, OwnedSession>
  /** Creates that may have opened an unknown session: the marker's URL → time of the create. */
  readonly doubts: Map<string, number>
  /** Ids of orphans whose deletion the service has not confirmed. */
  readonly orphans: Set<string>
  /** Timeout of one call, in milliseconds. */
  readonly callTimeoutMs: number
  /** Aborted by `close`. */
  readonly closing: AbortSignal
}

/** Returns a session that this process has to delete and that is used now. @throws {NotFound} */
export function knownEntry({ closing, ledger, clock }: SessionContext, sessionId: string): OwnedSession {
  closing.throwIfAborted()
  const entry = ledger.get(sessionId)
  if (entry === undefined || entry.condemned !== undefined)
    throw new NotFound(`Relay session ${sessionId} is unknown to this process.`)
  entry.lastUsedAt = clock.now()
  return entry
}

export async function readSession(
  { client, callTimeoutMs }: SessionContext,
  sessionId: string,
  signal?: AbortSignal,
): Promise<SessionReading> {
  return readingOf(await client.get({ session_id: sessionId }, { timeoutMs: callTimeoutMs, signal }))
}

/** Maximum number of pages of the list that are read, in case the service invents new pages endlessly. */
const MOST_PAGES = 100

/** Returns all sessions, and whether they are complete: without pagination, a service may list only the first page. */
export async function listSessions({ client, callTimeoutMs }: SessionContext) {
  const found = new Map<string, SessionReading>()
  for (let page = 1; page <= MOST_PAGES; page += 1) {
    const { sessions, pagination } = await client.list(page === 1 ? {} : { page }, { timeoutMs: callTimeoutMs })
    const before = found.size
    for (const reading of sessions.map(readingOf)) found.set(reading.id, reading)
    if (pagination?.has_next !== true) return { readings: [...found.values()], complete: true }
    if (found.size === before) break
  }
  return { readings: [...found.values()], complete: false }
}

type Hints = ReturnType<typeof createHints>

/** Minimum milliseconds between two reads (our choice). A flood of webhooks causes at most four reads per second. */
const LEAST_MS = 250

/**
 * Wakes the callers that wait for a session when its webhook arrives. A webhook that arrives early is kept for them.
 */
export function createHints(clock: Clock) {
  const expected = new Map<string, { pending: boolean; wake: () => void }>()
  return {
    /** Starts to accept webhooks at this URL. */
    expect: (url: string) => void expected.set(url, { pending: false, wake: () => {} }),
    forget: (url: string) => void expected.delete(url),
    isExpected: (url: string) => expected.has(url),
    /** Records a webhook. Returns false for a URL that is not expected. */
    arrived: (url: string) => {
      const one = expected.get(url)
      if (one === undefined) return false
      one.pending = true
      one.wake()
      return true
    },
    /** Waits `ms`, or until a webhook arrives, but at least `LEAST_MS`, regardless of the number of webhooks. */
    wait: async (url: string, ms: number, signal: AbortSignal) => {
      const least = Math.min(ms, LEAST_MS)
      await clock.sleep(least, signal)
      const one = expected.get(url)
      if (one?.pending !== true) {
        const hint = new Promise<void>((resolve) => {
          if (one !== undefined) one.wake = resolve
        })
        await within(hint, ms - least, clock, signal)
      }
      if (one !== undefined) one.pending = false
    },
  }
}

/**
 * Receives the service's webhooks. Only the path identifies the session, and only the service knows it. The body is not
 * read, because it would not be trusted. A webhook, whether early, repeated or missing, is only a hint to read the
 * session now.
 * @param publicUrl the URL, as the service knows it, to which the given request was sent.
 */
export function receiveWebhook(hints: Hints, request: Request, publicUrl: string): Response {
  try {
    if (request.method !== 'POST')
      throw new Problem(405, 'method-not-allowed', 'Method not allowed. This path accepts POST.', {
        headers: { allow: 'POST' },
      })
    if (!hints.arrived(publicUrl)) throw new Problem(404, 'no-such-path', 'There is nothing at this path.')
    return new Response(null, { status: 204 })
  } catch (error) {
    if (error instanceof Problem) return problemResponse(error)
    throw error
  }
}

/**
 * Marks a session with its owner. The service has no tags and no idempotency keys for relay sessions, but it returns a
 * session's webhook URL. So every create sends a unique URL, by which a session is found if its create was never
 * answered or its process is gone.
 */
export interface Marker {
  /** The opener's name for the session. */
  readonly label: string | undefined
  /** The complete URL. It is secret, because anyone who knows it can send webhooks. */
  readonly url: string
}

type Markers = ReturnType<typeof createMarkers>

const NO_LABEL = '-'
/** The last part of a marker: what `unguessable` returns. */
const SECRET = /^[A-Za-z0-9]{22}$/

/** Number of letters and digits common to all markers of a process: 47 bits, so that no two processes share them. */
const PROCESS_LENGTH = 8

/** A label's characters and length, chosen so that a label can be part of a path. */
export const LABEL = /^[A-Za-z0-9][\w.~-]{0,79}$/

/**
 * Creates the markers of a process.
 * @param baseUrl URL at which webhooks arrive.
 * @param owner the same for all processes of one backend, and different for every other backend.
 */
export function createMarkers(baseUrl: string, owner: string, randomInt: RandomInt) {
  const base = baseUrl.replace(/\/+$/, '')
  const prefix = `${base}/${owner}/`
  // Only the service sees the process's part, and the rest of the marker remains unguessable.
  const process = unguessable(randomInt).slice(0, PROCESS_LENGTH)
  return {
    create: (label: string | undefined): Marker => ({
      label,
      url: `${prefix}${label ?? NO_LABEL}/${process}${unguessable(randomInt).slice(PROCESS_LENGTH)}`,
    }),
    /** True if this process created the marker. */
    isOwn: ({ url }: Marker) => url.slice(url.lastIndexOf('/') + 1).startsWith(process),
    /**
     * Parses a marker from a URL; undefined for a URL of another owner. Only the end of the path counts, because a
     * process that has ended may have had another base URL.
     */
    read: (url: string | undefined): Marker | undefined => {
      const [of, label, secret] = url?.split('/').slice(-3) ?? []
      if (url === undefined || of !== owner || label === undefined || !SECRET.test(secret ?? '')) return undefined
      return { label: label === NO_LABEL ? undefined : label, url }
    },
    /** Returns the marker's URL that corresponds to the end of a request's path. A proxy may have changed the rest. */
    urlAt: (pathname: string) => [base, ...pathname.split('/').slice(-3)].join('/'),
  }
}
