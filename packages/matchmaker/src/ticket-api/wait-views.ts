// pure: how long tickets wait, as clients of the ticket API see it
import type { QueueWait } from '../matches/matchmaker.js'
import type { WaitEstimate } from '../wait-times/wait-curve.js'

/** From now until a match is found. */
export interface EstimatedWaitView {
  /** Half of such tickets wait no longer. */
  readonly p50_seconds: number
  /** Nine of ten wait no longer; null where too little was seen for that. */
  readonly p90_seconds: number | null
}

/** A queue, as one sees it before one waits in it. */
export interface QueueWaitView {
  readonly profile: string
  readonly tickets_waiting: number
  readonly players_waiting: number
  /** While it is, no matches are made. */
  readonly paused: boolean
  /** For a ticket that comes now; null where too little was seen. */
  readonly estimated_wait: EstimatedWaitView | null
}

export const estimatedWaitView = (estimate: WaitEstimate | undefined): EstimatedWaitView | null =>
  estimate === undefined
    ? null
    : {
        p50_seconds: inSeconds(estimate.p50Ms),
        p90_seconds: estimate.p90Ms === undefined ? null : inSeconds(estimate.p90Ms),
      }

/** To a tenth of a second: in many queues a wait is shorter than one. */
const inSeconds = (ms: number) => Math.round(ms / 100) / 10

/** @param shown how many of so many waiting the caller is told of. */
export const queueWaitView = (
  { queue, tickets, players, paused, estimate }: QueueWait,
  shown: (count: number) => number,
): QueueWaitView => ({
  profile: queue,
  tickets_waiting: shown(tickets),
  players_waiting: shown(players),
  paused,
  estimated_wait: estimatedWaitView(estimate),
})
