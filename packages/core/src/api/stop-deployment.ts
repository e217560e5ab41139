import { z } from 'zod'
import { Deployment } from './deployment.js'
import { Filter, maybe, named, secretHeader, segment, text, type Maybe } from './fields.js'

/** Names a deployment. */
export interface DeploymentId {
  /** The deployment's id. */
  readonly request_id: string
}

/**
 * Where the container's logs go when it stops: true, the storage of the version; false, nowhere; or a storage's name.
 */
export type ContainerLogStorage = boolean | string

/** Names a deployment to be stopped. */
export interface StopDeployment extends DeploymentId {
  /**
   * Where the container's logs go: true, the storage of the version; false, nowhere; or a storage's name. The
   * parameter's name is a setting.
   */
  readonly container_log_storage?: ContainerLogStorage | undefined
}

/** What a container sends to stop itself; all of it is in the injected delete URL and delete token. */
export interface SelfStopDeployment extends StopDeployment {
  /** Part of the injected delete URL. */
  readonly access_point_id: string
  /** The delete token injected into the container. Sent as it is, in place of the account's token. A secret. */
  readonly authorization: string
}

/** 200: it stops now. 202: it stops once it is READY or ERROR. */
export interface DeploymentStopped {
  /** A text for people. */
  readonly message?: Maybe<string>
  /** The deployment after the stop. */
  readonly deployment_summary?: Maybe<Deployment>
}

/** Which deployments are to be stopped for good. */
export interface BulkStop {
  /**
   * At least one (our choice: an empty list might stop everything). Public facts: fields request_id and
   * deployment_tags.
   */
  readonly filters: readonly Filter[]
}

/** The deployments that will be stopped. */
export interface BulkStopped {
  /** The deployments that matched. */
  readonly processable: readonly {
    /** The deployment's id. */
    readonly request_id: string
  }[]
}

export const DeploymentId = named<DeploymentId>('DeploymentId', z.strictObject({ request_id: segment }))
const containerLogStorage = z
  .union([z.boolean(), z.string().min(1)], { error: 'must be true, false or the name of a storage' })
  .optional()
export const StopDeployment = named<StopDeployment>(
  'StopDeployment',
  z.strictObject({
    request_id: segment,
    container_log_storage: containerLogStorage,
  }),
)
export const SelfStopDeployment = named<SelfStopDeployment>(
  'SelfStopDeployment',
  z.strictObject({
    request_id: segment,
    access_point_id: segment,
    authorization: secretHeader,
    container_log_storage: containerLogStorage,
  }),
)
export const DeploymentStopped = named<DeploymentStopped>(
  'DeploymentStopped',
  z.looseObject({
    message: maybe(text),
    deployment_summary: maybe(Deployment),
  }),
)
export const BulkStop = named<BulkStop>('BulkStop', z.strictObject({ filters: z.array(Filter).min(1) }))
export const BulkStopped = named<BulkStopped>(
  'BulkStopped',
  z.looseObject({ processable: z.array(z.looseObject({ request_id: text })) }),
)
