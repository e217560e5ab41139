// pure: a player
import type { Coordinates } from '@muster/core'
import { addressPrefix } from '@muster/core/internal'

/**
 * A player of a ticket. `ip` or `coordinates` is needed to find a server nearby. `latencies` is enough if each queue
 * of the ticket has a latency rule.
 */
export interface Player {
  /** Your own id for the player, 1 to 128 characters. */
  readonly id: string
  /** IPv4 or IPv6 address. */
  readonly ip?: string | undefined
  /** Latitude and longitude in degrees. They take precedence over `ip`. */
  readonly coordinates?: Coordinates | undefined
  /** Round-trip times in milliseconds by name of the beacon, at most 64. Each is greater than 0. */
  readonly latencies?: Readonly<Record<string, number>> | undefined
  /**
   * Attributes that rules compare, at most 64. Names and strings have at most 128 characters, lists at most 128
   * strings.
   */
  readonly attributes?: Attributes | undefined
  /** Roles that the player can play, at most 16. */
  readonly roles?: readonly string[] | undefined
  /** Ids of players whom queues with an `avoid` rule must not match with this player, at most 256. */
  readonly avoid?: readonly string[] | undefined
}

/** Attributes by name. Numbers are finite, and the strings of a list differ. */
export type Attributes = Readonly<Record<string, number | string | boolean | readonly string[]>>

/** Returns the network of the first player whose IP address is known. */
export function networkOf(players: readonly Player[]): string | undefined {
  for (const { ip } of players) if (ip !== undefined) return addressPrefix(ip)
  return undefined
}
