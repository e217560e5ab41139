// pure: the results of the same crowd with a server for each match and with a pool
import type { percentiles } from '../percentiles.js'

/** The result of one side. Players wait in real time; servers run in simulated time. */
export interface SideResult {
  readonly players: number
  /** Number of players who were sent to a server, and of those who found no match in time. */
  readonly assigned: number
  readonly expired: number
  /** Number of players who are neither assigned nor expired: must be 0. */
  readonly lost: number
  readonly matches: number
  /** Milliseconds from the ticket until its server was assigned, for each player. */
  readonly toPlayMs: ReturnType<typeof percentiles>
  /** Share of matches that found a warm server; undefined without a pool. */
  readonly warm: number | undefined
  readonly creates: number
  /** Hours of simulated time for which servers ran, from create to stop, and for which they were idle. */
  readonly serverHours: number
  readonly idleHours: number
  readonly cost: number
  /** Number of servers that still run at the end: must be 0. */
  readonly serversLeft: number
}

/** What `--warm --json` prints; the summary shows the same. */
export interface WarmResult {
  readonly matchSize: number
  /** Assumed price of a server in USD per hour. Real games pay other prices. */
  readonly pricePerHour: number
  readonly own: SideResult
  readonly pool: SideResult
  /** Number of servers that ran or started when the demo was stopped early; undefined otherwise. */
  readonly interruptedWith: number | undefined
  readonly speed: number
  readonly seconds: number
  readonly seed: number
}

/** Returns true if no player was lost, no server is left, and players with the pool waited at most as long. */
export const isGood = ({ own, pool }: Pick<WarmResult, 'own' | 'pool'>): boolean =>
  [own, pool].every(({ lost, serversLeft, matches }) => lost === 0 && serversLeft === 0 && matches > 0) &&
  pool.toPlayMs.p50 <= own.toPlayMs.p50
