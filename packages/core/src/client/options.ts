import type { limits } from '../api/limits.js'
import type { SettingsOption } from '../api/settings.js'
import type { Clock } from '../clock.js'
import type { RateLimit } from '../operation.js'
import type { Random } from '../random.js'
import type { ClientDispatcher } from './in-process.js'
import type { Limiter } from '../scheduler/limiter.js'
import type { RetryOptions } from './retry-rules.js'
import type { Token } from './token.js'

/** A rate limit that replaces a documented one; null for none. */
export type LimitOption = { readonly limit: number; readonly windowMs?: number | undefined } | null

export interface ClientOptions {
  /** Address of the service, http or https. A path in it is a prefix of every operation's path. */
  readonly baseUrl: string | URL
  /** The account's API token, or a function that returns it and is called before every attempt. */
  readonly token: Token
  /**
   * Milliseconds that a call may take, including queueing and retries. Default 30,000: enough for a burst of 1,200
   * creates.
   */
  readonly timeoutMs?: number | undefined
  /**
   * This process's share of the account's rate limits, more than 0 and at most 1. Default 1. The shares of all
   * processes must not add up to more than 1.
   */
  readonly share?: number | undefined
  /**
   * Rate limits other than the documented ones, and one for `other`, the operations without a documented limit (default
   * none). `windowMs` defaults to 1000.
   */
  readonly limits?: { readonly [Name in keyof typeof limits | 'other']?: LimitOption | undefined } | undefined
  /** Most calls that may start at one moment, per limit. Default: the limit. */
  readonly burst?: number | undefined
  /**
   * Milliseconds by which a request may take longer to reach the service than the fastest request. Default 50. Used
   * only where answers are slow, on used connections, while nothing is late; otherwise a request counts until its
   * answer comes.
   */
  readonly jitterMs?: number | undefined
  /**
   * Creates the limiter of each limit, e.g. the one that several processes share by `createRedisLimits` of
   * `@muster/redis`. Default: `createBucket`, for this process. With it, `share` and `burst` have no effect.
   */
  readonly limiter?: ((limit: RateLimit) => Limiter) | undefined
  /** Most calls under way at once, per limit. Default 256; never more than `connections`. */
  readonly maxInFlight?: number | undefined
  /**
   * Most connections for each rate limit, for other reads, and for other changes, so that slow calls of one kind do not
   * hold up another. Default 128.
   */
  readonly connections?: number | undefined
  /** Bytes of the largest answer that is read. Default 16 MiB. */
  readonly maxResponseBytes?: number | undefined
  /**
   * Attempts of a safe request, and the waits between them in milliseconds. Default `{ attempts: 4, baseMs: 200, capMs:
   * 5000 }`.
   */
  readonly retry?: Partial<RetryOptions> | undefined
  /** The longest pause that a Retry-After can impose, in milliseconds. Default 60,000. */
  readonly maxRetryAfterMs?: number | undefined
  /** Milliseconds for which locations and beacons are cached. Default 300,000; 0 caches nothing. */
  readonly cacheTtlMs?: number | undefined
  /** What the specification leaves open, e.g. `{ valueLimits: { maxDuration: { max: 2880 } } }`; see `Settings`. */
  readonly settings?: SettingsOption | undefined
  /**
   * undici dispatcher to use instead of the client's own pool, e.g. for a proxy, or `inProcess` in tests: all requests
   * share its connections. It stays open when the client is closed.
   */
  readonly dispatcher?: ClientDispatcher | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
}
