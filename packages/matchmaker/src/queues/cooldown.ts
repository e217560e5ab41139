// pure: how long a player who lets others down may not wait

/**
 * What counts against a player. Before the server of the match runs: to decline it, also by cancelling the ticket; not
 * to answer in time; or to leave later than that. While it runs: to leave others behind, as `playersLeft` says.
 */
export type Offence = 'declined' | 'not-accepted' | 'left' | 'left-running'

/**
 * For how long players who let others down may not wait for a match: `firstMs`, and `factor` times as long for each
 * earlier time that is not forgiven yet, at most `maxMs`.
 */
export interface CooldownDefinition {
  /** Queues with the same name here count together, and keep a player from waiting together. Default: the queue's. */
  readonly name?: string | undefined
  /** Milliseconds. Default 30,000. */
  readonly firstMs?: number | undefined
  /** From 1. Default 2. */
  readonly factor?: number | undefined
  /** Milliseconds, from `firstMs`. Default 900,000. */
  readonly maxMs?: number | undefined
  /** Milliseconds from the end of a cooldown after which one time is forgiven, and then another. Default 3,600,000. */
  readonly forgiveAfterMs?: number | undefined
  /**
   * What counts. Default: all but `left-running`, which keeps a player who leaves a running match from being found for
   * it again at once. An empty list for nothing.
   */
  readonly for?: readonly Offence[] | undefined
}

/** A cooldown with every default filled in. */
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
  /** Times that counted, as of the last of them. */
  readonly offences: number
  /** Epoch milliseconds until which the player may not wait. */
  readonly until: number
  /** Milliseconds from `until` after which one time is forgiven, and then another. */
  readonly forgiveAfterMs: number
}

/** How often the player has let others down, less what is forgiven by now. */
export const offencesLeft = ({ offences, until, forgiveAfterMs }: CooldownState, now: number): number =>
  Math.max(0, offences - Math.floor(Math.max(0, now - until) / forgiveAfterMs))

/** Epoch milliseconds from which nothing counts any more. */
export const forgottenAt = ({ offences, until, forgiveAfterMs }: CooldownState): number =>
  until + offences * forgiveAfterMs

/** The cooldown after one more time. A longer one under way is never cut short. */
export function offend(before: CooldownState | undefined, terms: CooldownTerms, now: number): CooldownState {
  const earlier = before === undefined ? 0 : offencesLeft(before, now)
  // The power of a large count is Infinity, which is no problem here.
  const ms = Math.min(terms.maxMs, terms.firstMs * terms.factor ** earlier)
  return {
    offences: earlier + 1,
    until: Math.max(before?.until ?? 0, now + ms),
    forgiveAfterMs: terms.forgiveAfterMs,
  }
}
