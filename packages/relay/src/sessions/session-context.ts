import type { CallOptions, Client } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { Problem } from '@muster/core/http'
import { type Events, type PageInput, problemResponse, within, type WithProblems } from '@muster/core/internal'
import { type RandomInt, unguessable } from '../random-text.js'
import { type Reading, readingOf, type RelaySession } from './session.js'

/** The operations used of the service; `client.relays` provides them. */
export type RelayService = Pick<Client['relays'], 'create' | 'get' | 'delete' | 'authorizeUser' | 'revokeUser'> & {
  list(input?: PageInput, options?: CallOptions): ReturnType<Client['relays']['list']>
}

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

/** Most pages of the list that are read, in case the service makes up new pages without end. */
const MOST_PAGES = 100

/** All sessions, and whether the list is whole: a service that does not cut it into pages may show the first alone. */
export async function listSessions({ client, callTimeoutMs }: SessionContext) {
  const found = new Map<string, Reading>()
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

/** With this minimum (our choice), a flood of hints causes at most four reads per second. */
const LEAST_MS = 250

/** Wakes the callers that wait for a session when its webhook arrives. A hint that arrives early is kept for them. */
export function createHints(clock: Clock) {
  const expected = new Map<string, { pending: boolean; wake: () => void }>()
  return {
    /** Begins to accept hints for this URL. */
    expect: (url: string) => void expected.set(url, { pending: false, wake: () => {} }),
    forget: (url: string) => void expected.delete(url),
    isExpected: (url: string) => expected.has(url),
    /** Notes a hint. Returns false for a URL that is not expected. */
    arrived: (url: string) => {
      const one = expected.get(url)
      if (one === undefined) return false
      one.pending = true
      one.wake()
      return true
    },
    /** Waits `ms`, or until a hint arrives, but at least `LEAST_MS`, however many hints arrive. */
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
 * Receives the service's webhooks. The path alone identifies the session, and only the service knows it. The body is
 * not read, because nothing in it would be trusted. A webhook, whether early, repeated or missing, is only a hint to
 * read the session now.
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
  /** The complete URL. It is secret, because anyone who knows it can send hints. */
  readonly url: string
}

type Markers = ReturnType<typeof createMarkers>

const NO_LABEL = '-'

/** Letters and digits common to all markers of a process: 47 bits, so that no two processes share them. */
const PROCESS_LENGTH = 8

/** A label's characters and length, chosen so that a label can be part of a path. */
export const LABEL = /^[A-Za-z0-9][\w.~-]{0,79}$/

/**
 * @param baseUrl URL at which hints arrive.
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
    /** Whether this process made the marker. */
    isOwn: ({ url }: Marker) => url.slice(url.lastIndexOf('/') + 1).startsWith(process),
    /** Reads a marker from a URL; undefined for a URL that no owner of this name made. */
    read: (url: string | undefined): Marker | undefined => {
      const [label, secret, ...rest] = url?.startsWith(prefix) === true ? url.slice(prefix.length).split('/') : []
      if (url === undefined || label === undefined || secret === undefined || rest.length > 0) return undefined
      return { label: label === NO_LABEL ? undefined : label, url }
    },
    /** The marker's URL that corresponds to the end of a request's path; a proxy may have changed what comes before. */
    urlAt: (pathname: string) => [base, ...pathname.split('/').slice(-3)].join('/'),
  }
}
