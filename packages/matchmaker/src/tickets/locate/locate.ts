// pure: where a player is
import type { Coordinates } from '@muster/core/api'

/** Where an address is thought to be. */
export interface Located extends Coordinates {
  /** Kilometres around the place within which the address probably is, where the database says. */
  readonly accuracyKm?: number
}

/**
 * Finds out where an IP address is. Undefined when that is not known; a rejection is a fault of the
 * source, not of the address. `mmdbLocate` is a ready-made one.
 */
export type Locate = (ip: string) => Coordinates | undefined | Promise<Coordinates | undefined>
