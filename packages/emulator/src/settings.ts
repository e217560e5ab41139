import type { Coordinates } from '@muster/core/internal'

/** Settings of deployments in which services or their versions may differ, or whose default is our choice. */
export interface DeploymentSettings {
  /**
   * Milliseconds of simulated time for which a terminated deployment can still be read. Default 3,600,000 (1 h).
   */
  readonly retentionMs: number
  /**
   * Milliseconds of the clock by which the deployment list is outdated: it shows the state of that time ago. Default 0.
   */
  readonly listLagMs: number
  /** True: rejects a list query with two filters on one field, as some servers do (public fact). Default false. */
  readonly rejectRepeatedFilters: boolean
  /**
   * Milliseconds of simulated time until `force_cache` has cached a version's image at every location. Default
   * 60,000 (1 min).
   */
  readonly forceCacheMs: number
  /** Milliseconds of simulated time between two periodic checks of the fleets. Default 1000. */
  readonly fleetCheckMs: number
  /** The hosts to which webhooks are sent. `loopback`: only this machine. Default `loopback`. */
  readonly webhookHosts: 'loopback' | 'any'
  /**
   * Milliseconds of real time after which a webhook call is aborted. They are not sped up, because the network is real.
   * Default 10,000 (public fact).
   */
  readonly webhookTimeoutMs: number
  /** Maximum number of concurrent webhook calls. Default 32. */
  readonly webhookConcurrency: number
  /** The range of this machine's ports for local processes, inclusive. Default 20,000 to 29,999. */
  readonly processPorts: { readonly from: number; readonly to: number }
}

export const defaultDeploymentSettings: DeploymentSettings = {
  retentionMs: 3_600_000,
  listLagMs: 0,
  rejectRepeatedFilters: false,
  forceCacheMs: 60_000,
  fleetCheckMs: 1000,
  webhookHosts: 'loopback',
  webhookTimeoutMs: 10_000,
  webhookConcurrency: 32,
  processPorts: { from: 20_000, to: 29_999 },
}

/** Settings of relay sessions in which services may differ, or whose default is our choice. */
export interface RelaySettings {
  /** Milliseconds of simulated time until a new session is ready. Default 1500. */
  readonly readyMs: number
  /**
   * The response to a revoke: 200 with the session, or 204 without a body. Both were seen (public fact). Default 200.
   */
  readonly revokeAnswers: 200 | 204
  /** The status text of a ready session. READY was sampled, and `Linked` was seen (public fact). Default `READY`. */
  readonly readyStatus: string
}

export const defaultRelaySettings: RelaySettings = { readyMs: 1500, revokeAnswers: 200, readyStatus: 'READY' }

/** How relay sessions carry packets. */
export interface RelayDataSettings {
  /**
   * The IP address of this machine on which each session has its two UDP ports. Default 127.0.0.1, which only this
   * machine reaches.
   */
  readonly host: string
  /** The address that peers get. Default: `host`; the loopback address if `host` means all addresses. */
  readonly publicIp: string
  /**
   * Milliseconds of simulated time from a peer's first ping until the peer is valid. Services take about 1500.
   * Default 0.
   */
  readonly authDelayMs: number
  /**
   * True: users may connect only from the addresses that the session has for them. Connections from loopback addresses,
   * which are not public, are always allowed. Default false.
   */
  readonly pinSource: boolean
  /**
   * Maximum number of data packets per second of one user. It is also the maximum of a burst after a pause. Default
   * 5000.
   */
  readonly userPacketsPerSecond: number
  /**
   * Maximum number of data packets per second of all users of a session together. It is also the maximum of a burst
   * after a pause. Default 20,000.
   */
  readonly sessionPacketsPerSecond: number
}

export const defaultRelayDataSettings: Omit<RelayDataSettings, 'publicIp'> = {
  host: '127.0.0.1',
  authDelayMs: 0,
  pinSource: false,
  userPacketsPerSecond: 5000,
  sessionPacketsPerSecond: 20_000,
}

/**
 * Returns the address by which clients reach `host`: the loopback address if `host` means all addresses of this
 * machine.
 */
export function publicIpOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

/** How ping beacons answer once the emulator listens. */
export interface BeaconSettings {
  /**
   * The IP address of this machine on which each beacon has its two ports. Default 127.0.0.1, which only this machine
   * reaches.
   */
  readonly host: string
  /** The address that players get. Default: `host`; the loopback address if `host` means all addresses. */
  readonly publicIp: string
  /**
   * The assumed location of all players. Each echo is delayed by the round trip between it and the beacon. Default: no
   * delay.
   */
  readonly from: Coordinates | undefined
}

export const defaultBeaconSettings: Omit<BeaconSettings, 'publicIp'> = { host: '127.0.0.1', from: undefined }

/** The number of entries on a page of a list. The specification states neither number. */
export interface PageSizes {
  /** Number of entries if a request has no `limit`. */
  readonly default: number
  /** Maximum number of entries. A larger `limit` is reduced to it. */
  readonly maximum: number
}
