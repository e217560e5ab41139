import type { Coordinates } from '@muster/core/api'

/** How the ping beacons answer once the emulator listens. */
export interface BeaconSettings {
  /** IP address of this machine at which each beacon has its two ports. Default 127.0.0.1: this machine alone. */
  readonly host: string
  /** The address that players are told. Default: `host`, or loopback where that stands for all addresses. */
  readonly publicIp: string
  /**
   * Where players are taken to be: an echo comes after as long as it would take from there. Default: at once, from all
   * beacons.
   */
  readonly from: Coordinates | undefined
}

export const defaultBeaconSettings: Omit<BeaconSettings, 'publicIp'> = { host: '127.0.0.1', from: undefined }
