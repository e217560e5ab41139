// pure: how long permits and tokens of a shared limit hold

/** Milliseconds of one limit. The same in all processes, for each counts on the others keeping to them. Our choice. */
export interface LimitTimes {
  /** The limit's own. */
  readonly windowMs: number
  /** From the moment a permit is good until its request must be written. */
  readonly permitMs: number
  /** From a request's writing until the service has counted it at the latest, if its process cannot tell any more. */
  readonly settleMs: number
  /** How far ahead a token that is still out is promised to somebody. */
  readonly aheadMs: number
  /** A token comes back that long after its permit was good, if nobody says anything about it. */
  readonly holdMs: number
  /** No token is out after that time, whatever was given before. */
  readonly coldMs: number
}

const PERMIT_MS = 1000
const SETTLE_MS = 500
const AHEAD_MS = 1000

export function limitTimes(windowMs: number): LimitTimes {
  const holdMs = PERMIT_MS + SETTLE_MS + windowMs
  const aheadMs = Math.min(AHEAD_MS, windowMs)
  return { windowMs, permitMs: PERMIT_MS, settleMs: SETTLE_MS, aheadMs, holdMs, coldMs: aheadMs + holdMs }
}
