import type { Clock, Random } from '@muster/core/clock'
import type { RestoredMatches } from './restore-servers.js'
import type { AllocatorListener, EndedMatches } from './fleet.js'
import type { Browser } from '../browser/index.js'
import type { JoinAlgorithm } from '../game-servers/index.js'
import type { Pool } from '../pools/index.js'
import type { Bound, SpendBound } from './spending-limiter.js'
import type { SourceBlock, OpenSource } from '../sources/index.js'
import type { ServerLog } from '../store/index.js'

/** Why no server may be created: a limit of `SpendingLimiter`, a source's circuit breaker, or a failing `store`. */
export type BlockedBy = Bound | SourceBlock | 'store'

export interface AllocatorOptions {
  /** The sources of servers: the deployment service, and other sources by the names that pools use. */
  readonly sources: { readonly service: OpenSource | undefined; readonly others: ReadonlyMap<string, OpenSource> }
  readonly serverLog: ServerLog
  /** Whether later processes continue matches: the default of `ServerLog.resumes`. Default false. */
  readonly resumes?: boolean | undefined
  readonly clock: Clock
  /** Returns a time in milliseconds, by which long work is divided so that the event loop can run. */
  readonly stopwatch: () => number
  readonly random: Random
  /** Returns the master secret from which the servers' tokens are derived, see `ServerKeys`. */
  readonly masterSecret: () => string | Uint8Array
  /** Returns true if the store may have lost servers. An unknown server may then have players. Default: false. */
  readonly sparesUnknown?: (() => boolean) | undefined
  /** How join tokens are signed. Default `HS256`. */
  readonly joinAlgorithm?: JoinAlgorithm | undefined
  readonly bound: SpendBound
  /** Maximum number of concurrent create requests. Further creates wait for their turn. */
  readonly maxCreatesInFlight: number
  /** Public URL of the ticket API, without a trailing slash. Undefined if servers must not know it. */
  readonly apiUrl?: string | undefined
  readonly pools?: readonly Pool[] | undefined
  readonly browser: Browser
  /** Called when a player repeatedly let reserved seats expire. */
  readonly seatUnused: (playerId: string) => void
  /** Called before a server is created for players. @throws {Error} if they have caused too much cost */
  readonly assertMayStart: (playerIds: readonly string[]) => void
  /** The tickets of stored matches, if this process has them. Default: it has none. */
  readonly inherited?: RestoredMatches | undefined
  /** Receives the ids of matches and servers that have ended. */
  readonly ended?: EndedMatches | undefined
  readonly on: AllocatorListener
}
