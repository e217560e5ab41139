import type { Coordinates } from '@muster/core/api'

/** How the ping beacons answer once the emulator listens. */
export interface BeaconSettings {
  /** The IP address of this machine at which each beacon has its two ports. Default 127.0.0.1: this machine alone. */
  readonly host: string
  /** The address that players are told. Default: `host`, or the loopback address where `host` means all addresses. */
  readonly publicIp: string
  /**
   * The location from which players are taken to ping: each echo is delayed by the round trip from there. Default: no
   * delay at any beacon.
   */
  readonly from: Coordinates | undefined
}

export const defaultBeaconSettings: Omit<BeaconSettings, 'publicIp'> = { host: '127.0.0.1', from: undefined }
