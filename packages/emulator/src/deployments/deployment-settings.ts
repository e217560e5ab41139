/** Points of deployments on which services (or their versions) may differ, or which are ours to choose. */
export interface DeploymentSettings {
  /** Milliseconds of the service's time for which a terminated deployment can still be read. Default an hour. */
  readonly retentionMs: number
  /**
   * Milliseconds of the clock by which the deployment list lags behind in which deployments there are, and their
   * statuses. Default 0.
   */
  readonly listLagMs: number
  /** Whether a list query with two filters on one field is refused, as some servers do (public fact). Default false. */
  readonly refuseRepeatedFilters: boolean
  /**
   * Milliseconds of the service's time until `force_cache` has put a version's image everywhere. Default one minute.
   */
  readonly forceCacheMs: number
  /**
   * Milliseconds of the service's time between two looks at the fleets while nothing else calls for one. Default 1000.
   */
  readonly fleetCheckMs: number
  /** Hosts that webhooks are sent to: those of this machine alone, or any. Default `loopback`. */
  readonly webhookHosts: 'loopback' | 'any'
  /**
   * Milliseconds (of the machine: the network is real) after which a webhook is given up. Default 10,000 (public fact).
   */
  readonly webhookTimeoutMs: number
  /** Webhooks under way at once. Default 32. */
  readonly webhookConcurrency: number
  /** Ports of this machine given to local processes, both included. Default 20,000 to 29,999. */
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
