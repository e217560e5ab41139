import type { Clock, Random } from '@muster/core/clock'
import type { Inherited } from './adopt-servers.js'
import type { AllocatorListener, EndedMatches } from './fleet.js'
import type { Browser } from '../browser/index.js'
import type { JoinAlgorithm } from '../game-servers/index.js'
import type { Pool } from '../pools/index.js'
import type { Prober } from './port-probe.js'
import type { Bound, SpendBound } from './server-limits.js'
import type { GateHeld, OpenSource } from '../sources/index.js'
import type { ServerLog } from '../store/index.js'

/** Why nothing may be created now: see `Governor`, `SourceGate`; or `store`, which cannot be read or written. */
export type Held = Bound | GateHeld | 'store'

export interface AllocatorOptions {
  /** Where servers come from: the deployment service, and other sources by the names that pools give them. */
  readonly sources: { readonly service: OpenSource | undefined; readonly others: ReadonlyMap<string, OpenSource> }
  readonly serverLog: ServerLog
  /** What `resumes` of the store is, if it does not say. Default false. */
  readonly resumes?: boolean | undefined
  readonly clock: Clock
  /** Milliseconds, to divide long work into slices. */
  readonly stopwatch: () => number
  readonly random: Random
  /** Returns the master secret of the servers' tokens: see `ServerKeys`. */
  readonly masterSecret: () => string | Uint8Array
  /**
   * Whether records of servers have vanished, so that a server that is not known may have players on it. Default: none
   * have.
   */
  readonly sparesUnknown?: (() => boolean) | undefined
  /** How join tokens are signed. Default `HS256`. */
  readonly joinAlgorithm?: JoinAlgorithm | undefined
  readonly bound: SpendBound
  /** Creates whose answer is awaited at once; the others wait in a queue. */
  readonly maxCreatesInFlight: number
  /** Public URL of the ticket API, without a slash at its end; undefined if servers do not receive it. */
  readonly apiUrl?: string | undefined
  /** Default: over the network. */
  readonly prober?: Prober | undefined
  /** Pools of servers that outlive a match. Default: none. */
  readonly pools?: readonly Pool[] | undefined
  /** How servers are listed. */
  readonly browser: Browser
  /** A player let holds of seats expire too often. */
  readonly seatUnused: (playerId: string) => void
  /** Called before a server is created for players who start one. @throws {Error} if they have cost too much */
  readonly assertMayStart: (playerIds: readonly string[]) => void
  /** The matches of which this process has inherited the tickets. Default: none. */
  readonly inherited?: Inherited | undefined
  /** Receives the matches that have ended completely. */
  readonly ended?: EndedMatches | undefined
  readonly on: AllocatorListener
}
