/** How relay sessions carry packets. */
export interface RelayDataSettings {
  /** IP address of this machine at which each session has its two UDP ports. Default 127.0.0.1: this machine alone. */
  readonly host: string
  /** The address that peers are told. Default: `host`, or loopback where that stands for all addresses. */
  readonly publicIp: string
  /**
   * Milliseconds of the service's time from a peer's first ping until it is valid; services take about 1500. Default 0.
   */
  readonly authDelayMs: number
  /**
   * Whether users may connect only from the addresses that the session knows them by. From loopback, which is
   * nobody's public address, they always may. Default false.
   */
  readonly pinSource: boolean
  /** Data packets that one user may send per second, and as many at once after a pause. Default 5000. */
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

/** Where others find what is at `host`; those on this machine, if that stands for all of its addresses. */
export function publicIpOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}
