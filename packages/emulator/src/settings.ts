import type { Coordinates } from '@muster/core/internal'

/** Settings of deployments in which services (or their versions) may differ, or which are our choice. */
export interface DeploymentSettings {
  /**
   * Milliseconds of the service's time for which a terminated deployment can still be read. Default 3,600,000, an hour.
   */
  readonly retentionMs: number
  /**
   * Milliseconds of the clock by which the deployment list is outdated: it shows the deployments and statuses of that
   * time. Default 0.
   */
  readonly listLagMs: number
  /** Rejects a list query with two filters on one field, like some servers (public fact). Default false. */
  readonly rejectRepeatedFilters: boolean
  /**
   * Milliseconds of the service's time until `force_cache` has put a version's image at every location. Default 60,000,
   * a minute.
   */
  readonly forceCacheMs: number
  /** Milliseconds of the service's time between two periodic checks of the fleets. Default 1000. */
  readonly fleetCheckMs: number
  /** The hosts to which webhooks are sent: only this machine, or any. Default `loopback`. */
  readonly webhookHosts: 'loopback' | 'any'
  /**
   * Milliseconds of real time after which a webhook call is aborted; not sped up, because the network is real. Default
   * 10,000 (public fact).
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

/** Settings of relay sessions in which services may differ, or which are our choice. */
export interface RelaySettings {
  /** Milliseconds of the service's time until a new session is ready. Default 1500. */
  readonly readyMs: number
  /** The response to a revoke: the session (200) or no body (204); both were seen (public fact). Default 200. */
  readonly revokeAnswers: 200 | 204
  /** The status text of a ready session; READY was sampled, and `Linked` was seen (public fact). Default `READY`. */
  readonly readyStatus: string
}

export const defaultRelaySettings: RelaySettings = { readyMs: 1500, revokeAnswers: 200, readyStatus: 'READY' }

/** How relay sessions carry packets. */
export interface RelayDataSettings {
  /**
   * The IP address of this machine on which each session has its two UDP ports. Default 127.0.0.1: only this machine.
   */
  readonly host: string
  /** The address that peers get. Default: `host`, or the loopback address if `host` means all addresses. */
  readonly publicIp: string
  /**
   * Milliseconds of the service's time from a peer's first ping until it is valid; services take about 1500. Default 0.
   */
  readonly authDelayMs: number
  /**
   * Allows users to connect only from the addresses registered in the session. Connections from loopback, which is not
   * a public address, are always allowed. Default false.
   */
  readonly pinSource: boolean
  /** Maximum data packets per second of one user, and in one burst after a pause. Default 5000. */
  readonly userPacketsPerSecond: number
  /** Maximum data packets per second of all users of a session together, and in one burst. Default 20,000. */
  readonly sessionPacketsPerSecond: number
}

export const defaultRelayDataSettings: Omit<RelayDataSettings, 'publicIp'> = {
  host: '127.0.0.1',
  authDelayMs: 0,
  pinSource: false,
  userPacketsPerSecond: 5000,
  sessionPacketsPerSecond: 20_000,
}

/** The address by which others reach `host`: loopback if `host` means all addresses of this machine. */
export function publicIpOf(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1'
  return host === '::' ? '::1' : host
}

/** The answers of ping beacons once the emulator listens. */
export interface BeaconSettings {
  /** The IP address of this machine on which each beacon has its two ports. Default 127.0.0.1: only this machine. */
  readonly host: string
  /** The address that players get. Default: `host`, or the loopback address if `host` means all addresses. */
  readonly publicIp: string
  /**
   * The assumed location of players: each echo is delayed by the round trip from there. Default: no delay at any
   * beacon.
   */
  readonly from: Coordinates | undefined
}

export const defaultBeaconSettings: Omit<BeaconSettings, 'publicIp'> = { host: '127.0.0.1', from: undefined }

/** The number of entries per page; the specification has neither number. */
export interface PageSizes {
  /** Entries per page for a request without `limit`. */
  readonly default: number
  /** Maximum number of entries per page; a larger `limit` gets this many. */
  readonly maximum: number
}
