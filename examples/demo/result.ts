import type { LimitUse } from '@muster/matchmaker'
import type { Pressure } from './bound.js'
import type { FaultReport } from './fault-report.js'

/** What `--json` prints; the summary shows the same. */
export interface DemoResult {
  readonly players: number
  /** Number of players who got a server's address. */
  readonly assigned: number
  /** Number of players who found no match before their ticket expired, and were notified. */
  readonly expired: number
  /** The number of expired players by what prevented a match shortly before. */
  readonly unmatched: Readonly<Record<string, number>>
  /** Number of players whose tickets ended in another way, by reason. */
  readonly cancelled: Readonly<Record<string, number>>
  /**
   * What remained when the demo was stopped early: the numbers of players who had not come, of players who waited, and
   * of servers.
   */
  readonly interrupted: { readonly notCome: number; readonly waiting: number; readonly servers: number } | undefined
  /** Number of players whom no other field counts: must be 0. */
  readonly lost: number
  readonly matches: number
  /** The results of each queue. */
  readonly queues: readonly QueueResult[]
  /** The faults of the matches, found by an independent check: must be empty. */
  readonly broken: readonly string[]
  /** Number of servers that the service created. */
  readonly deployments: number
  /** Number of requests beyond a documented limit: must be 0. */
  readonly rejected429: number
  /** Number of servers that still run at the end: must be 0. */
  readonly serversLeft: number
  /** Time from ticket to assignment, in real milliseconds. */
  readonly waitMs: { readonly p50: number; readonly p95: number; readonly p99: number }
  /** Great-circle distance from each player to the server. */
  readonly distanceKm: { readonly p50: number; readonly p95: number }
  readonly seconds: number
  /** Factor by which servers started and stopped faster than in reality. */
  readonly speed: number
  readonly seed: number
  /** Number of requests by operation and status, as the service counted them. */
  readonly requests: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly limits: readonly LimitUse[]
  readonly pressure: Pressure
  /** The effects of the declared faults; empty without `--faults`. */
  readonly faults: readonly FaultReport[]
  /** Number of servers by city, the highest first. */
  readonly cities: readonly { readonly city: string; readonly servers: number }[]
}

/** The servers that were placed at a beacon by the latencies of their players. */
export interface PlacedResult {
  /** Number of servers by beacon, the highest first. */
  readonly beacons: readonly { readonly beacon: string; readonly servers: number }[]
  /** The loosest latency limit in milliseconds that a match had to keep. */
  readonly limitMs: number
  /** The longest round trip of each match to its beacon, in milliseconds. */
  readonly worstMs: { readonly p50: number; readonly p95: number }
  /** Distance from the beacon to the server. */
  readonly offKm: { readonly p50: number; readonly p95: number }
}

export interface QueueResult {
  readonly queue: string
  readonly title: string
  readonly players: number
  readonly assigned: number
  readonly matches: number
  /** Number of parties with two or more players. All of them stayed together. */
  readonly parties: number
  /** Time from ticket to assignment, in real milliseconds. */
  readonly waitMs: { readonly p50: number; readonly p95: number }
  /**
   * Medians over the matches: the difference between the highest and the lowest skill, and that between the teams'
   * averages.
   */
  readonly skillSpread: number
  readonly teamGap: number
  /** The locations of the servers, if they were chosen by latency. */
  readonly placed: PlacedResult | undefined
  /** Number of players who joined a running match, and of players who left one. */
  readonly joinedLater: number
  readonly left: number
}

/** Returns true if no player was lost, no rule was broken, no request was rejected, and no server is left. */
export const isGood = ({ lost, broken, serversLeft, rejected429 }: DemoResult) =>
  lost === 0 && broken.length === 0 && serversLeft === 0 && rejected429 === 0
