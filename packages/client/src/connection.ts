import type { Clock } from './clock.js'
import { fits } from './shapes.js'

export interface Answer {
  /** The HTTP status. 0 if no response arrived, or if the response was not from Muster. */
  readonly status: number
  readonly body?: unknown
  readonly retryAfterMs?: number
}

export interface RequestOptions {
  readonly method: string
  /** The path below the URL of the API. It begins with a slash. */
  readonly path: string
  readonly body?: object | undefined
  /** Maximum number of milliseconds for which Muster may hold the response. */
  readonly waitMs?: number | undefined
  readonly signal?: AbortSignal | undefined
}

export interface ConnectionOptions {
  readonly url: string
  readonly token: string | (() => string | Promise<string>) | undefined
  readonly fetch: typeof fetch
  readonly clock: Clock
}

/** Sends requests with the player's token. Never rejects. */
export type Send = (request: RequestOptions) => Promise<Answer>

/** The first and the longest pause in milliseconds after a failure, before jitter. */
export const FIRST_PAUSE_MS = 500
export const LONGEST_PAUSE_MS = 15_000
/** Milliseconds between two long polls of the same path, because a proxy may answer each at once. */
export const SAME_POLL_MS = 1000
/**
 * Longest pause in milliseconds that a response may request (our choice). Without this limit, one wrong header could
 * stop the client for good.
 */
export const LONGEST_RETRY_MS = 3_600_000

/**
 * Returns true if a retry may soon succeed: no response arrived, the request arrived too slowly, there were too many
 * requests, or Muster is not ready.
 */
export const isPassing = (status: number): boolean => status === 0 || status === 408 || status === 429 || status >= 500

/**
 * Creates a `send` that repeats a request, with growing pauses, until Muster has answered it. Use it only for requests
 * that may safely be repeated. It resolves with status 0 once the signal has aborted.
 */
export function createRepeat(send: Send, clock: Clock, random: () => number): Send {
  return async (request) => {
    for (let failures = 0; request.signal?.aborted !== true; failures += 1) {
      const answer = await send(failures === 0 ? request : { ...request, waitMs: 0 })
      if (!isPassing(answer.status)) return answer
      const pause = random() * Math.min(FIRST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS)
      const wanted = Math.min(answer.retryAfterMs ?? 0, LONGEST_RETRY_MS)
      await clock.sleep(Math.max(wanted, pause), request.signal).catch(() => {})
    }
    return { status: 0 }
  }
}

/**
 * Repeats a request until the response is a refusal or has the given shape. A response of another shape is not from
 * Muster. A 401 is repeated too, because it may come from a network's login page, and the token may be valid later.
 */
export async function repeatFor(
  shape: string,
  { repeat, clock }: { readonly repeat: Send; readonly clock: Clock },
  request: RequestOptions,
): Promise<Answer> {
  for (;;) {
    const answer = await repeat(request)
    const { status } = answer
    if (status !== 401 && (status < 200 || status > 299 || fits(shape, answer.body))) return answer
    await clock.sleep(LONGEST_PAUSE_MS, request.signal).catch(() => {})
    if (request.signal?.aborted) return { status: 0 }
  }
}

/** Milliseconds until a response counts as lost, in addition to the time for which Muster may hold it. */
const ANSWER_MS = 10_000

/**
 * Creates the function that sends requests. After a 401 it calls the token function again, once for all requests that
 * were refused with the same token.
 */
export function createSend({ url, token, fetch, clock }: ConnectionOptions): Send {
  const base = url.replace(/\/+$/, '')
  let current: Promise<string> | undefined

  const tokenNow = (): Promise<string | undefined> =>
    typeof token === 'function' ? (current ??= Promise.resolve().then(token)) : Promise.resolve(token)

  const sendOnce = async (
    { method, path, body, waitMs = 0, signal }: RequestOptions,
    used: Promise<string | undefined>,
  ): Promise<Answer> => {
    const request = new AbortController()
    const end = () => request.abort()
    const timer = new AbortController()
    signal?.addEventListener('abort', end)
    const late = clock.sleep(waitMs + ANSWER_MS, timer.signal).then(end, () => {})
    try {
      const value = await (current ? Promise.race([used, late]).catch(end) : used)
      if (signal?.aborted || request.signal.aborted) {
        // The token function may have failed, or may never answer. The next request calls it again.
        if (current === used) current = undefined
        return { status: 0 }
      }
      // `fetch` refuses such a token before it sends anything, however often the request is repeated.
      // It permits line breaks at the end only, and removes them.
      if (/\0|[\r\n](?![\t\n\r ]*$)|[^\0-\xff]/.test(value ?? '')) return { status: 401 }
      const response = await fetch(base + path, {
        method,
        headers: {
          ...(value !== undefined && { authorization: `Bearer ${value}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: request.signal,
      })
      return read(response.status, await response.text(), response.headers.get('retry-after'))
    } catch {
      return { status: 0 }
    } finally {
      timer.abort()
      signal?.removeEventListener('abort', end)
    }
  }

  return async (request) => {
    const used = tokenNow()
    const answer = await sendOnce(request, used)
    if (answer.status !== 401 || typeof token !== 'function') return answer
    if (current === used) current = undefined
    return sendOnce(request, tokenNow())
  }
}

function read(status: number, text: string, retryAfter: string | null): Answer {
  const seconds = Number(retryAfter)
  const pause = seconds > 0 ? { retryAfterMs: seconds * 1000 } : {}
  if (status === 204) return { status }
  try {
    const body: unknown = JSON.parse(text)
    if (typeof body === 'object' && body !== null) return { status, body, ...pause }
  } catch {
    // The body is not JSON: it is a proxy's page or an incomplete response.
  }
  return { status: status === 401 ? 401 : 0, ...pause }
}
