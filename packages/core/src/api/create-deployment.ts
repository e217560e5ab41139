import { z } from 'zod'
import { environmentValue, httpUrl, ipAddress, latitude, longitude, named, names, tagName } from './fields.js'

/** A player for whom a place is sought. */
export type DeploymentUser = UserAtAddress | UserAtCoordinates

/** A player known by address. */
export interface UserAtAddress {
  /** Says what `user_data` holds. */
  readonly user_type: 'ip_address'
  /** Where the player is. */
  readonly user_data: {
    /** The player's public address. */
    readonly ip_address: string
  }
}

/** A player known by place. */
export interface UserAtCoordinates {
  /** Says what `user_data` holds. */
  readonly user_type: 'geo_coordinates'
  /** Where the player is. */
  readonly user_data: {
    /** Degrees. */
    readonly latitude: number
    /** Degrees. */
    readonly longitude: number
  }
}

/** Injected into the container. */
export interface EnvironmentVariable {
  /** Its name in the container. */
  readonly key: string
  /** At most 4096 bytes (public fact). A secret if `is_hidden`. */
  readonly value: string
  /** Whether the value is a secret. */
  readonly is_hidden: boolean
}

/**
 * Called by the service with POST. Not retried, not signed (public facts): put an unguessable part in the URL, and
 * confirm by reading.
 */
export interface Webhook {
  /** http or https. */
  readonly url: string
}

/** Which fields are required is a public fact: application, version and at least one user. */
export interface CreateDeployment {
  /** The application to deploy. */
  readonly application: string
  /** The version to deploy. */
  readonly version: string
  /** At least one; the place is chosen from them. */
  readonly users: readonly DeploymentUser[]
  /** Limits the placement to locations that have the image cached. */
  readonly require_cached_locations?: boolean | undefined
  /** Injected into the container, beside those of the version. */
  readonly environment_variables?: readonly EnvironmentVariable[] | undefined
  /**
   * Each 1 to 40 characters (public fact). There is no idempotency key: a tag is what a create with a lost answer is
   * found by.
   */
  readonly tags?: readonly string[] | undefined
  /** Called when the deployment is ready. */
  readonly webhook_on_ready?: Webhook | undefined
  /** Called when the deployment is in error. */
  readonly webhook_on_error?: Webhook | undefined
  /** Called when the deployment is terminated. */
  readonly webhook_on_terminated?: Webhook | undefined
}

/** A deployment that was accepted: the service begins to look for a place. */
export interface DeploymentCreated {
  /** Identifies the deployment from now on. */
  readonly request_id: string
}

// Not typed as the interface: the union needs to see which key tells them apart.
const UserAtAddress = z
  .strictObject({
    user_type: z.literal('ip_address'),
    user_data: z.strictObject({ ip_address: ipAddress }),
  })
  .register(names, { id: 'UserAtAddress' })
const UserAtCoordinates = z
  .strictObject({
    user_type: z.literal('geo_coordinates'),
    user_data: z.strictObject({ latitude, longitude }),
  })
  .register(names, { id: 'UserAtCoordinates' })
const DeploymentUser = named<DeploymentUser>(
  'DeploymentUser',
  z.discriminatedUnion('user_type', [UserAtAddress, UserAtCoordinates]),
)

export const EnvironmentVariable = named<EnvironmentVariable>(
  'EnvironmentVariable',
  z.strictObject({
    key: z.string().min(1),
    value: environmentValue,
    is_hidden: z.boolean(),
  }),
)
const Webhook = named<Webhook>('Webhook', z.strictObject({ url: httpUrl }))

export const CreateDeployment = named<CreateDeployment>(
  'CreateDeployment',
  z.strictObject({
    application: z.string().min(1),
    version: z.string().min(1),
    users: z.array(DeploymentUser).min(1),
    require_cached_locations: z.boolean().optional(),
    environment_variables: z.array(EnvironmentVariable).optional(),
    tags: z.array(tagName).optional(),
    webhook_on_ready: Webhook.optional(),
    webhook_on_error: Webhook.optional(),
    webhook_on_terminated: Webhook.optional(),
  }),
)

export const DeploymentCreated = named<DeploymentCreated>(
  'DeploymentCreated',
  z.looseObject({ request_id: z.string().min(1) }),
)
