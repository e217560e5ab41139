import type { LimitUse } from '@muster/matchmaker'
import type { Pressure } from './bound.js'
import type { FaultReport } from './fault-report.js'

/** What `--json` prints; the summary shows the same. */
export interface DemoResult {
  readonly players: number
  /** Players who got an address to connect to. */
  readonly assigned: number
  /** Players who found no match before their ticket expired, and were notified. */
  readonly expired: number
  /** The same by what was in their way shortly before. */
  readonly unmatched: Readonly<Record<string, number>>
  /** Players of tickets that ended in another way, by reason. */
  readonly cancelled: Readonly<Record<string, number>>
  /** What was left when the demo was stopped early: players who had not come, players who waited, and servers. */
  readonly interrupted: { readonly notCome: number; readonly waiting: number; readonly servers: number } | undefined
  /** Players who are none of these: must be 0. */
  readonly lost: number
  readonly matches: number
  /** The same for each queue. */
  readonly queues: readonly QueueResult[]
  /** What is wrong with the matches, by a look of its own: must be empty. */
  readonly broken: readonly string[]
  /** Servers that the service created. */
  readonly deployments: number
  /** Requests over a documented limit: must be 0. */
  readonly rejected429: number
  /** Servers still running at the end: must be 0. */
  readonly serversLeft: number
  /** From ticket to assignment, in real milliseconds. */
  readonly waitMs: { readonly p50: number; readonly p95: number; readonly p99: number }
  /** From each player to the server, along the great circle. */
  readonly distanceKm: { readonly p50: number; readonly p95: number }
  readonly seconds: number
  /** How many times faster than life servers started and stopped. */
  readonly speed: number
  readonly seed: number
  /** Requests as the service counted them, by operation and status. */
  readonly requests: Readonly<Record<string, Readonly<Record<string, number>>>>
  readonly limits: readonly LimitUse[]
  readonly pressure: Pressure
  /** What the declared faults did; empty without `--faults`. */
  readonly faults: readonly FaultReport[]
  /** Servers by city, most first. */
  readonly cities: readonly { readonly city: string; readonly servers: number }[]
}

/** Servers that were placed at a beacon by the latencies of their players. */
export interface PlacedResult {
  /** Most first. */
  readonly beacons: readonly { readonly beacon: string; readonly servers: number }[]
  /** Milliseconds that were promised: the loosest limit that a match kept. */
  readonly limitMs: number
  /** Of each match the longest round trip to its beacon. */
  readonly worstMs: { readonly p50: number; readonly p95: number }
  /** From the beacon to the server. */
  readonly offKm: { readonly p50: number; readonly p95: number }
}

export interface QueueResult {
  readonly queue: string
  readonly title: string
  readonly players: number
  readonly assigned: number
  readonly matches: number
  /** Parties of two and more; all stayed together. */
  readonly parties: number
  /** From ticket to assignment, in real milliseconds. */
  readonly waitMs: { readonly p50: number; readonly p95: number }
  /** In the middle match: the best player's skill less the worst's; and the teams' averages likewise. */
  readonly skillSpread: number
  readonly teamGap: number
  /** Where its servers were placed, if that goes by latency. */
  readonly placed: PlacedResult | undefined
  /** Players who came into a match that ran already, and players who left one. */
  readonly joinedLater: number
  readonly left: number
}

/** Whether everybody is accounted for, no rule was broken, nothing was refused, and nothing is left running. */
export const isGood = ({ lost, broken, serversLeft, rejected429 }: DemoResult) =>
  lost === 0 && broken.length === 0 && serversLeft === 0 && rejected429 === 0
