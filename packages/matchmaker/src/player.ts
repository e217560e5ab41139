// pure: a player
import type { Coordinates } from '@muster/core'

/**
 * A player who wants to play. At least one of `ip` and `coordinates` is needed, to find a server nearby; `latencies` will do where
 * every queue of the ticket has a latency rule.
 */
export interface Player {
  /** Whoever this is to you: 1 to 128 characters. */
  readonly id: string
  /** IPv4 or IPv6. */
  readonly ip?: string | undefined
  /** Degrees. Where both are given, these count. */
  readonly coordinates?: Coordinates | undefined
  /** Round trips to beacons, by their name: milliseconds above 0. At most 64. */
  readonly latencies?: Readonly<Record<string, number>> | undefined
  /**
   * What the queue's rules look at. At most 64; texts and names of at most 128 characters, lists of at most 128 texts.
   */
  readonly attributes?: Attributes | undefined
  /** Roles that the player would play. At most 16. */
  readonly roles?: readonly string[] | undefined
  /** Ids of players not to be matched with, in queues with an `avoid` rule. At most 256. */
  readonly avoid?: readonly string[] | undefined
}

/** Numbers are finite; lists hold distinct texts. */
export type Attributes = Readonly<Record<string, number | string | boolean | readonly string[]>>
