/**
 * The points that the specification leaves open ("not shown"), each with the default Muster uses and why.
 * The client and the emulator read the same settings, so both can follow a service that differs.
 * Nothing here was checked against a live service.
 */
export interface Settings {
  /** Path of create deployment. Default `/deployments`, as written in the specification; a public deployment of the interface serves it at `/v2/deployments` (public fact, sure). */
  readonly createDeploymentPath: string
  /** Query parameter of stop and self-stop that chooses where container logs go. Default `container_log_storage` (public fact, sure). */
  readonly containerLogStorageParameter: string
  /** Query parameter of the deployment list that carries filters and order as JSON. Default `query` (public fact, fairly sure). */
  readonly deploymentQueryParameter: string
  /** Query parameter of the location list that filters by type. Default `type` (public fact, sure). */
  readonly locationTypeParameter: string
  /** Query parameter of the location list that asks for tags. Default `tags` (public fact, sure). */
  readonly locationTagsParameter: string
}

export const defaultSettings: Settings = {
  createDeploymentPath: '/deployments',
  containerLogStorageParameter: 'container_log_storage',
  deploymentQueryParameter: 'query',
  locationTypeParameter: 'type',
  locationTagsParameter: 'tags',
}

/** Limits on values that the specification does not state but public material shows (public fact, sure). Checked before sending. */
export const seen = {
  appName: { min: 3, max: 64 },
  versionName: { min: 1, max: 64 },
  /** CPU units and MB. */
  resources: { min: 100 },
  /** Minutes; -1 is accepted there, its meaning is not stated. */
  maxDuration: { min: -1, max: 1440 },
  /** Seconds. */
  terminationGrace: { min: 5, max: 3600 },
  tagName: { min: 1, max: 40 },
  /** Bytes of UTF-8. */
  environmentValue: { max: 4096 },
} as const
