/** How relay sessions carry packets. */
export interface RelayDataSettings {
  /** IP address of this machine at which each session has its two UDP ports. Default 127.0.0.1: this machine alone. */
  readonly host: string
  /** The address that peers are told. Default: `host`, or loopback where that stands for all addresses. */
  readonly publicIp: string
  /** Milliseconds of the service's time from a peer's first ping until it is valid; services take about 1500. Default 0. */
  readonly authDelayMs: number
  /** Whether a user may connect only from the address the session knows it by. Sources on loopback, which nobody's public address is, always may. Default false. */
  readonly pinSource: boolean
  /** Data packets that one user may send per second, and at once. Default 5000. */
  readonly userPacketsPerSecond: number
  /** The same for all users of a session together. Default 20,000. */
  readonly sessionPacketsPerSecond: number
}

export const defaultRelayDataSettings: Omit<RelayDataSettings, 'publicIp'> = {
  host: '127.0.0.1',
  authDelayMs: 0,
  pinSource: false,
  userPacketsPerSecond: 5000,
  sessionPacketsPerSecond: 20_000,
}
