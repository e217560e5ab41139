import type { Coordinates, OperationId, SettingsOption } from '@muster/core/api'
import type { Clock, Random } from '@muster/core/clock'
import type { BeaconSettings } from './beacons/beacon-settings.js'
import type { DeploymentSettings } from './deployments/deployment-settings.js'
import type { DeployTimes } from './deployments/deploy-times.js'
import type { Launch } from './deployments/launch.js'
import type { Fault } from './faults/fault.js'
import type { TooManyAnswer } from './http/refusals.js'
import type { LimitAlgorithm } from './limits/rate-limits.js'
import type { PageSizes } from './pages.js'
import type { RelayDataSettings } from './relay-data/relay-data-settings.js'
import type { RelaySettings } from './relays/relay-settings.js'

/** A container image, in a version's fields. */
export interface ImageReference {
  /** Registry host. */
  readonly docker_repository: string
  readonly docker_image: string
  readonly docker_tag: string
}

/** A tagged image in the service's own registry. */
export interface RegistryImage {
  /** The image's name with its namespace, e.g. `studio/server`. */
  readonly image: string
  readonly tag: string
  /** The content hash; tags of one image with the same hash are one artifact. Default: a hash of its own. */
  readonly hash?: string | undefined
  /** The image's size in MB. Default 250. */
  readonly sizeMb?: number | undefined
}

/** How the documented rate limits are enforced. Refused requests do not count. */
export interface LimitSettings extends TooManyAnswer {
  /** Default 'sliding log', the strictest. */
  readonly algorithm: LimitAlgorithm
}

/** Some of the settings; a missing or undefined setting has its default. */
export type Some<T> = { readonly [Key in keyof T]?: T[Key] | undefined }

export interface EmulatorOptions {
  /**
   * The clock of the service. Default: the machine's. With a manual clock, nothing happens until the clock is advanced.
   */
  readonly clock?: Clock | undefined
  /** Source of all random choices. Default: the same sequence every time. */
  readonly random?: Random | undefined
  /** The account's API token. Default 'dev'; with `launch` a token is required, because the default is no secret. */
  readonly token?: string | undefined
  /**
   * How many times faster the service's own durations pass (deploying, terminating, max_duration …), but not the rate
   * limits'. Default 1.
   */
  readonly speed?: number | undefined
  /** How rate limits are enforced; false for no limits. Default: as documented, with Retry-After in seconds. */
  readonly limits?: Some<LimitSettings> | false | undefined
  /** Faults declared from the start; `Emulator.faults` changes them later. */
  readonly faults?: readonly Fault[] | undefined
  /** Milliseconds that each request takes on the network, both directions together. Default 0. */
  readonly latencyMs?: number | undefined
  /** Milliseconds added to `latencyMs` at most, drawn per request. Default 0. */
  readonly jitterMs?: number | undefined
  /**
   * Deployments that may run at once: at each place, or by place id. Places without a number have no bound. Default: no
   * bound.
   */
  readonly capacity?: number | Readonly<Record<string, number>> | undefined
  /** The images in the service's own registry. Default: none. */
  readonly images?: readonly RegistryImage[] | undefined
  /** The `docker_repository` that means the service's own registry. Default registry.emulator.invalid. */
  readonly registryHost?: string | undefined
  /** Whether an image of any other registry can be pulled. Default: all can. */
  readonly canPull?: ((image: ImageReference) => boolean) | undefined
  /** Settings of points that the document leaves open; the same as the client's. */
  readonly settings?: SettingsOption | undefined
  /** Entries per page. Default 10 where the request has no `limit`, and 100 at most. */
  readonly pageSizes?: Some<PageSizes> | undefined
  readonly deployTimes?: Some<DeployTimes> | undefined
  readonly deployments?: Some<DeploymentSettings> | undefined
  readonly relays?: Some<RelaySettings> | undefined
  /**
   * Whether relay sessions carry packets, each at two UDP ports of its own; true for the default settings. Default
   * false: nothing listens at the sessions' addresses.
   */
  readonly relayData?: Some<RelayDataSettings> | boolean | undefined
  /**
   * How ping beacons answer once the emulator listens, each at a UDP and a TCP port of its own; false for beacons that
   * never answer. Beacons are opened when they are first requested. Default true.
   */
  readonly beacons?: Some<BeaconSettings> | boolean | undefined
  /** Looks up the location of an IP address. Default: a simulated location, always the same for the same address. */
  readonly locate?: ((ip: string) => Coordinates | undefined) | undefined
  /** Runs containers, for anyone who has the token. Default: containers are only simulated. */
  readonly launch?: Launch | undefined
  /** Sends webhooks. Default: the global fetch. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /**
   * Whether there is a page at /_emulator, and its data as JSON at /_emulator/state. Neither asks for a token or shows
   * secrets. Default true.
   */
  readonly page?: boolean | undefined
  /** Length of a request's body in bytes, at most. Default 1,048,576 (1 MiB). */
  readonly maxBodyBytes?: number | undefined
  /** Called with each error in the emulator itself; its request is answered by 500. Default: a process warning. */
  readonly onError?: ((error: unknown, operation: OperationId) => void) | undefined
}
