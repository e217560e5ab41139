/** Where a call's time goes: waiting for its turn, between failed attempts, or from the turn to the answer. */
export type Phase = 'queued' | 'retryWait' | 'inFlight'

/** Milliseconds by phase. */
export type TimeSpent = Readonly<Record<Phase, number>>

/** What holds a queue back: shared by all that wait in it. */
export interface HoldUp {
  /** The latest refusal, if nothing was accepted since. */
  refusal: unknown
}

/** How far a call has come: kept by the hops, read when its time is up or an attempt has to be judged. */
export interface Progress {
  /** Epoch milliseconds at which the last of those who wait gives up. */
  deadline: number
  /** Attempts begun. */
  attempt: number
  /** Whether the present attempt was written to a connection and no answer has said that nothing was done. */
  written: boolean
  /** Whether an earlier attempt may have been carried out: its answer was lost, or was a 5xx. */
  doubtful: boolean
  /** The failure of the latest attempt. */
  lastError: unknown
  /** Of the queue that the call is in. */
  holdUp: HoldUp | undefined
  /** The token of the latest attempt, which an answer may repeat. */
  token: string | undefined
  phase: Phase
  /** Epoch milliseconds at which the phase began. */
  since: number
  /** Milliseconds spent in each phase before the present one. */
  readonly spent: Record<Phase, number>
}

export function createProgress(now: number): Progress {
  return {
    deadline: 0,
    attempt: 0,
    written: false,
    doubtful: false,
    lastError: undefined,
    holdUp: undefined,
    token: undefined,
    phase: 'queued',
    since: now,
    spent: { queued: 0, retryWait: 0, inFlight: 0 },
  }
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
