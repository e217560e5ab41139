// pure: the cooldown of players who decline, do not accept or leave a match

/**
 * What counts against a player. Before the match's server runs: declining (or cancelling the ticket), not answering in
 * time, or leaving later. While it runs: leaving others behind, as reported by `playersLeft`.
 */
export type Offence = 'declined' | 'not-accepted' | 'left' | 'left-running'

/**
 * How long offenders may not wait for a match: `firstMs`, multiplied by `factor` for each earlier offence that is not
 * forgiven yet, at most `maxMs`.
 */
export interface CooldownDefinition {
  /** Queues with the same name share their cooldowns. Default: the queue's name. */
  readonly name?: string | undefined
  /** Duration of the first cooldown in milliseconds. Default 30,000. */
  readonly firstMs?: number | undefined
  /** Factor by which each further cooldown is longer than the previous one, at least 1. Default 2. */
  readonly factor?: number | undefined
  /** Maximum duration in milliseconds, at least `firstMs`. Default 900,000. */
  readonly maxMs?: number | undefined
  /**
   * Milliseconds of one step of forgiveness: one offence is forgiven after each step since the end of the last
   * cooldown. Default 3,600,000.
   */
  readonly forgiveAfterMs?: number | undefined
  /**
   * The offences that count; an empty list for none. Default: all except `left-running`. That offence keeps a player
   * who leaves a running match from being matched into it again.
   */
  readonly for?: readonly Offence[] | undefined
}

/** A cooldown definition with all defaults. */
export interface CooldownTerms {
  readonly name: string | undefined
  readonly firstMs: number
  readonly factor: number
  readonly maxMs: number
  readonly forgiveAfterMs: number
  readonly for: readonly Offence[]
}

/** The cooldown of one player. */
export interface CooldownState {
  /** Number of offences at the time of the last one. */
  readonly offences: number
  /** Epoch milliseconds until which the player may not wait. */
  readonly until: number
  /** Milliseconds of one step of forgiveness: one offence is forgiven after each step since `until`. */
  readonly forgiveAfterMs: number
}

/** Returns the number of the player's offences that are not forgiven by now. */
export const offencesLeft = ({ offences, until, forgiveAfterMs }: CooldownState, now: number): number =>
  Math.max(0, offences - Math.floor(Math.max(0, now - until) / forgiveAfterMs))

/** Returns the epoch milliseconds from which no offence counts any more. */
export const forgottenAt = ({ offences, until, forgiveAfterMs }: CooldownState): number =>
  until + offences * forgiveAfterMs

/** Returns the cooldown after one more offence. It never ends before the current one. */
export function offend(before: CooldownState | undefined, terms: CooldownTerms, now: number): CooldownState {
  const earlier = before === undefined ? 0 : offencesLeft(before, now)
  // A large exponent gives Infinity, which `Math.min` handles.
  const ms = Math.min(terms.maxMs, terms.firstMs * terms.factor ** earlier)
  return {
    offences: earlier + 1,
    until: Math.max(before?.until ?? 0, now + ms),
    forgiveAfterMs: terms.forgiveAfterMs,
  }
}
