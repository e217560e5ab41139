/** Settings of deployments on which services (or their versions) may differ, or which are our choice. */
export interface DeploymentSettings {
  /**
   * Milliseconds of the service's time for which a terminated deployment can still be read. Default 3,600,000, an hour.
   */
  readonly retentionMs: number
  /**
   * Milliseconds of the clock by which the deployment list lags behind: it shows the deployments and statuses of that
   * long ago. Default 0.
   */
  readonly listLagMs: number
  /** Whether a list query with two filters on one field is refused, as some servers do (public fact). Default false. */
  readonly refuseRepeatedFilters: boolean
  /**
   * Milliseconds of the service's time until `force_cache` has put a version's image everywhere. Default 60,000, a
   * minute.
   */
  readonly forceCacheMs: number
  /** Milliseconds of the service's time between two periodic checks of the fleets. Default 1000. */
  readonly fleetCheckMs: number
  /** The hosts that webhooks are sent to: this machine alone, or any. Default `loopback`. */
  readonly webhookHosts: 'loopback' | 'any'
  /**
   * Milliseconds of real time after which a webhook is given up; not sped up, because the network is real. Default
   * 10,000 (public fact).
   */
  readonly webhookTimeoutMs: number
  /** Webhook calls in flight at once. Default 32. */
  readonly webhookConcurrency: number
  /** The range of this machine's ports that local processes get, both ends included. Default 20,000 to 29,999. */
  readonly processPorts: { readonly from: number; readonly to: number }
}

export const defaultDeploymentSettings: DeploymentSettings = {
  retentionMs: 3_600_000,
  listLagMs: 0,
  refuseRepeatedFilters: false,
  forceCacheMs: 60_000,
  fleetCheckMs: 1000,
  webhookHosts: 'loopback',
  webhookTimeoutMs: 10_000,
  webhookConcurrency: 32,
  processPorts: { from: 20_000, to: 29_999 },
}
