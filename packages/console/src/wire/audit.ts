// pure: what operators did
import type { Moment } from './units.js'

/** The answer of `GET acts`: the newest first, at most 1,000. */
export interface Audit {
  readonly acts: readonly {
    readonly at: Moment
    /** Name of the operator's key. */
    readonly who: string
    /** cancel-ticket, stop-match, pause-queue, resume-queue, apply-queue, forgive-cooldown or let-bots-in. */
    readonly what: string
    /** Id of the ticket, match or player, name of the queue, or number of bots. */
    readonly id: string
  }[]
}
