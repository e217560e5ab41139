import { retryAfterMs } from '@muster/core/internal'

/** The waits between two POSTs of a result. */
export const RETRY = { baseMs: 1000, capMs: 300_000, jitter: 1 }

/** Thrown if the backend answered with a status other than 2xx. */
export class Untaken extends Error {
  readonly status: number
  /** If the backend has too many requests: how long it wants to get none. Undefined for any other failure. */
  readonly busyMs: number | undefined
  constructor({ status, headers }: Response, now: number) {
    super(`the URL of results answered ${status}`)
    this.status = status
    const [retryAfter, date] = ['retry-after', 'date'].map((name) => headers.get(name) ?? undefined)
    const waitMs = retryAfterMs({ retryAfter, date }, now)
    if (status === 429 || (status === 503 && waitMs !== undefined)) this.busyMs = Math.min(waitMs ?? 0, RETRY.capMs)
  }
}

/** Returns why there was no response. The error `fetch failed` has the reason only as its cause. */
export function reasonOf(error: unknown): unknown {
  const { cause } = error instanceof TypeError ? error : {}
  if (!(cause instanceof Error)) return error
  const why = cause.message || ('code' in cause ? String(cause.code) : cause.name)
  return new Error(`the URL of results did not answer: ${why}`, { cause })
}
