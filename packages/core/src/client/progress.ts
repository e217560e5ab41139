/** Phases of a call: waiting in the queue, waiting between attempts, or sent and awaiting the answer. */
export type Phase = 'queued' | 'retryWait' | 'inFlight'

/** Milliseconds by phase. */
export type TimeSpent = Readonly<Record<Phase, number>>

/** Why a queue stands still; shared by all calls that wait in the queue. */
export interface HoldUp {
  /** The latest refusal; undefined once a call was accepted after it. */
  refusal: unknown
  /** Why the queue's limiter gives no permits, other than the limit. */
  readonly obstacle: () => Error | undefined
}

/**
 * How far a call has come: updated by the hops, read when its time is up or an attempt is judged.
 *
 * A class, because V8 may allocate object literals among long-lived objects, which keeps alive all that they refer to.
 */
export class Progress {
  /** Epoch milliseconds of the latest deadline among the callers that wait. */
  deadline = 0
  /** Attempts begun. */
  attempt = 0
  /** Whether the present attempt was written to a connection and may have taken effect: no answer has refused it. */
  written = false
  /** Whether an earlier attempt may have taken effect: its answer was lost, or was a 5xx. */
  doubtful = false
  /** The failure of the latest attempt. */
  lastError: unknown
  /** The state of the queue that the call waits in. */
  holdUp: HoldUp | undefined
  /** The token of the latest attempt, which an answer may repeat. */
  token: string | undefined
  phase: Phase = 'queued'
  /** Epoch milliseconds at which the phase began. */
  since: number
  /** Milliseconds spent in each phase before the present one. */
  readonly spent: Record<Phase, number> = new Spent()

  constructor(now: number) {
    this.since = now
  }
}

class Spent implements TimeSpent {
  queued = 0
  retryWait = 0
  inFlight = 0
}

export function enterPhase(progress: Progress, phase: Phase, now: number): void {
  progress.spent[progress.phase] += now - progress.since
  progress.phase = phase
  progress.since = now
}

/** Milliseconds spent in each phase so far. */
export function timeSpent({ spent, phase, since }: Progress, now: number): TimeSpent {
  return { ...spent, [phase]: spent[phase] + now - since }
}
