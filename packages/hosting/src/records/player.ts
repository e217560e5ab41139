// pure: a player
import type { Coordinates } from '@muster/core'
import { addressPrefix } from '@muster/core/internal'

/**
 * A player who wants to play. At least one of `ip` and `coordinates` is needed, to find a server nearby. `latencies` is
 * enough if every queue of the ticket has a latency rule.
 */
export interface Player {
  /** Your own id of the player: 1 to 128 characters. */
  readonly id: string
  /** IPv4 or IPv6. */
  readonly ip?: string | undefined
  /** Latitude and longitude in degrees. Coordinates take precedence over `ip`. */
  readonly coordinates?: Coordinates | undefined
  /** Round-trip times to beacons, by beacon name: milliseconds above 0. At most 64. */
  readonly latencies?: Readonly<Record<string, number>> | undefined
  /**
   * The attributes that the queue's rules compare. At most 64. Strings and names have at most 128 characters, lists at
   * most 128 strings.
   */
  readonly attributes?: Attributes | undefined
  /** Roles that the player is willing to play. At most 16. */
  readonly roles?: readonly string[] | undefined
  /** Ids of players that this player should not be matched with, in queues with an `avoid` rule. At most 256. */
  readonly avoid?: readonly string[] | undefined
}

/** Attributes by name. Numbers are finite. Lists contain distinct strings. */
export type Attributes = Readonly<Record<string, number | string | boolean | readonly string[]>>

/** Returns the network of the first player with a known address. Used if no coordinates are known. */
export function networkOf(players: readonly Player[]): string | undefined {
  for (const { ip } of players) if (ip !== undefined) return addressPrefix(ip)
  return undefined
}
