/** How relay sessions carry packets. */
export interface RelayDataSettings {
  /**
   * The IP address of this machine at which each session has its two UDP ports. Default 127.0.0.1: this machine alone.
   */
  readonly host: string
  /** The address that peers are told. Default: `host`, or the loopback address where `host` means all addresses. */
  readonly publicIp: string
  /**
   * Milliseconds of the service's time from a peer's first ping until it is valid; services take about 1500. Default 0.
   */
  readonly authDelayMs: number
  /**
   * Whether users may connect only from the addresses registered in the session. Connections from loopback, which is no
   * public address, are always allowed. Default false.
   */
  readonly pinSource: boolean
  /** Data packets that one user may send per second, and in one burst after a pause. Default 5000. */
  readonly userPacketsPerSecond: number
  /** Data packets that all users of a session together may send per second, and in one burst. Default 20,000. */
  readonly sessionPacketsPerSecond: number
}

export const defaultRelayDataSettings: Omit<RelayDataSettings, 'publicIp'> = {
  host: '127.0.0.1',
  authDelayMs: 0,
  pinSource: false,
  userPacketsPerSecond: 5000,
  sessionPacketsPerSecond: 20_000,
}

/** The address at which others reach `host`: loopback if `host` means all addresses of this machine. */
export function publicIpOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}
