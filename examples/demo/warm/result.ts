// pure: the same crowd with a server for each match and with a pool, in numbers
import type { percentiles } from '../percentiles.js'

/** What became of the crowd on one side. Players wait in real time; servers live in that of the service. */
export interface SideResult {
  readonly players: number
  /** Players who were sent to a server, and those who found no match in time. */
  readonly assigned: number
  readonly expired: number
  /** Neither: must be 0. */
  readonly lost: number
  readonly matches: number
  /** Milliseconds from the ticket until its server was assigned, for each player. */
  readonly toPlayMs: ReturnType<typeof percentiles>
  /** Share of matches that found a warm server; undefined without a pool. */
  readonly warm: number | undefined
  readonly creates: number
  /** Hours of the service's time for which servers ran, from create to stop; and for which they were idle. */
  readonly serverHours: number
  readonly idleHours: number
  readonly cost: number
  /** Servers that run still at the end: must be 0. */
  readonly serversLeft: number
}

/** What `--warm --json` prints; the summary shows the same. */
export interface WarmResult {
  readonly matchSize: number
  /** What a server costs in an hour, in USD: an assumption, since each game pays another price. */
  readonly pricePerHour: number
  readonly own: SideResult
  readonly pool: SideResult
  /** Where the demo was stopped before its end: how many servers ran or started then. */
  readonly interruptedWith: number | undefined
  readonly speed: number
  readonly seconds: number
  readonly seed: number
}

/** All are accounted for, no server is left, and the pool is what it is for: players wait less. */
export const isGood = ({ own, pool }: Pick<WarmResult, 'own' | 'pool'>): boolean =>
  [own, pool].every(({ lost, serversLeft, matches }) => lost === 0 && serversLeft === 0 && matches > 0) &&
  pool.toPlayMs.p50 <= own.toPlayMs.p50
