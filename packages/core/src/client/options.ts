import type { limits } from '../api/limits.js'
import type { SettingsOption } from '../api/settings.js'
import type { Clock } from '../clock.js'
import type { RateLimit } from '../operation.js'
import type { Random } from '../random.js'
import type { ClientDispatcher } from './in-process.js'
import type { Limiter } from '../scheduler/limiter.js'
import type { RetryOptions } from './retry-rules.js'
import type { Token } from './token.js'

/** A rate limit in place of a documented one; null for none. */
export type LimitOption = { readonly limit: number; readonly windowMs?: number | undefined } | null

export interface ClientOptions {
  /** Address of the service, http or https. A path in it is put in front of every operation's path. */
  readonly baseUrl: string | URL
  /** The account's API token, or a function that gives it and is asked before every attempt. */
  readonly token: Token
  /**
   * Milliseconds that a call may take: queueing, retries and all. Default 30,000: a burst of 1,200 creates still fits.
   */
  readonly timeoutMs?: number | undefined
  /**
   * This process's part of the account's rate limits, more than 0 and at most 1. Default 1. The shares of all processes
   * must not sum to more than 1.
   */
  readonly share?: number | undefined
  /**
   * Other rate limits than documented, and one for `other`, the operations without a documented limit (default none).
   * `windowMs` is 1000 by default.
   */
  readonly limits?: { readonly [Name in keyof typeof limits | 'other']?: LimitOption | undefined } | undefined
  /** How many calls may start at one moment, per limit. Default: the limit. */
  readonly burst?: number | undefined
  /**
   * Milliseconds by which a request may take longer to the service than at its fastest. Default 50. Relied on only
   * where answers are slow, on connections used before, while nothing is late; else a request counts until its answer
   * comes.
   */
  readonly jitterMs?: number | undefined
  /**
   * Makes the limiter of each limit, e.g. one that several processes share. Default: `createBucket`, in this process.
   */
  readonly limiter?: ((limit: RateLimit) => Limiter) | undefined
  /** Calls under way at once, per limit. Default 256; no more than there are `connections`. */
  readonly maxInFlight?: number | undefined
  /**
   * Connections kept at most for each rate limit, for other reads and for other changes: what is slow in one holds up
   * no other. Default 128.
   */
  readonly connections?: number | undefined
  /** Size of the largest answer that is read. Default 16 MiB. */
  readonly maxResponseBytes?: number | undefined
  /**
   * How often and after which waits (milliseconds) a safe request is repeated. Default `{ attempts: 4, baseMs: 200,
   * capMs: 5000 }`.
   */
  readonly retry?: Partial<RetryOptions> | undefined
  /** The longest pause that a Retry-After can impose, in milliseconds. Default 60,000. */
  readonly maxRetryAfterMs?: number | undefined
  /** Milliseconds that locations and beacons are kept. Default 300,000; 0 keeps nothing. */
  readonly cacheTtlMs?: number | undefined
  /** What the specification leaves open, e.g. `{ valueLimits: { maxDuration: { max: 2880 } } }`; see `Settings`. */
  readonly settings?: SettingsOption | undefined
  /**
   * undici dispatcher to use in place of an own pool, e.g. for a proxy, or `inProcess` in tests: all requests share its
   * connections. It stays open when the client is closed.
   */
  readonly dispatcher?: ClientDispatcher | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
}
