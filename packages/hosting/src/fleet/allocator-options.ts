import type { Clock, Random } from '@muster/core/clock'
import type { RestoredMatches } from './restore-servers.js'
import type { AllocatorListener, EndedMatches } from './fleet.js'
import type { Browser } from '../browser/index.js'
import type { JoinAlgorithm } from '../game-servers/index.js'
import type { Pool } from '../pools/index.js'
import type { Prober } from './port-probe.js'
import type { Bound, SpendBound } from './spending-limiter.js'
import type { SourceBlock, OpenSource } from '../sources/index.js'
import type { ServerLog } from '../store/index.js'

/**
 * Why no server may be created: a bound of `SpendingLimiter`, the state of a `SourceCircuitBreaker`, or a `store` that
 * cannot be read or written.
 */
export type BlockedBy = Bound | SourceBlock | 'store'

export interface AllocatorOptions {
  /** The sources of servers: the deployment service, and other sources by the names that pools use. */
  readonly sources: { readonly service: OpenSource | undefined; readonly others: ReadonlyMap<string, OpenSource> }
  readonly serverLog: ServerLog
  /** Used if the store has no `resumes` of its own. Default false. */
  readonly resumes?: boolean | undefined
  readonly clock: Clock
  /** Returns a time in milliseconds, by which long work is divided into slices. */
  readonly stopwatch: () => number
  readonly random: Random
  /** Returns the master secret of the servers' tokens: see `ServerKeys`. */
  readonly masterSecret: () => string | Uint8Array
  /**
   * Returns true if records of servers have vanished, so that an unknown server may have players on it. Default: always
   * false.
   */
  readonly sparesUnknown?: (() => boolean) | undefined
  /** How join tokens are signed. Default `HS256`. */
  readonly joinAlgorithm?: JoinAlgorithm | undefined
  readonly bound: SpendBound
  /** Maximum number of creates in flight. The others wait in a queue. */
  readonly maxCreatesInFlight: number
  /** Public URL of the ticket API, without a trailing slash. Undefined if servers do not receive it. */
  readonly apiUrl?: string | undefined
  /** Finds out whether servers listen. Default: over the network. */
  readonly prober?: Prober | undefined
  /** Pools of servers that outlive a match. Default: none. */
  readonly pools?: readonly Pool[] | undefined
  /** The configuration of the server browser. */
  readonly browser: Browser
  /** Called when a player lets holds of seats expire too often. */
  readonly seatUnused: (playerId: string) => void
  /** Called before a server is created for players who start one. @throws {Error} if they have caused too much cost */
  readonly assertMayStart: (playerIds: readonly string[]) => void
  /** The matches whose tickets this process has inherited. Default: none. */
  readonly inherited?: RestoredMatches | undefined
  /** Receives the matches that have ended completely. */
  readonly ended?: EndedMatches | undefined
  readonly on: AllocatorListener
}
