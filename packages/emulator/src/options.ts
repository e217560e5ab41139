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

/** A container image, in the fields of a version. */
export interface ImageReference {
  /** Registry host. */
  readonly docker_repository: string
  readonly docker_image: string
  readonly docker_tag: string
}

/** A tag in the service's own registry. */
export interface RegistryImage {
  /** With its namespace, e.g. `studio/server`. */
  readonly image: string
  readonly tag: string
  /** Tags of one image with the same hash are one artifact. Default: one of its own. */
  readonly hash?: string | undefined
  /** Default 250. */
  readonly sizeMb?: number | undefined
}

/** How the documented rate limits are enforced. Refused requests do not count. */
export interface LimitSettings extends TooManyAnswer {
  /** Default 'sliding log', the strictest. */
  readonly algorithm: LimitAlgorithm
}

/** Some of the settings; the others have their default. */
export type Some<T> = { readonly [Key in keyof T]?: T[Key] | undefined }

export interface EmulatorOptions {
  /**
   * The clock of the service. Default: the machine's. With a manual clock, nothing happens until the clock is advanced.
   */
  readonly clock?: Clock | undefined
  /** Source of all random choices. Default: the same sequence every time. */
  readonly random?: Random | undefined
  /** The account's API token. Default 'dev', which everybody can guess: with `launch`, it must be given. */
  readonly token?: string | undefined
  /**
   * How many times faster the service's own durations pass (deploying, terminating, max_duration …), but not the rate
   * limits'. Default 1.
   */
  readonly speed?: number | undefined
  /** How rate limits are enforced; false for no limits. Default: as documented, with Retry-After in seconds. */
  readonly limits?: Some<LimitSettings> | false | undefined
  /** Faults declared from the start; see `Emulator.faults` for later ones. */
  readonly faults?: readonly Fault[] | undefined
  /** Milliseconds that each request takes on the way, there and back together. Default 0. */
  readonly latencyMs?: number | undefined
  /** Up to this many milliseconds more, drawn per request. Default 0. */
  readonly jitterMs?: number | undefined
  /** Deployments that may run at once at each place, or by place id at the places named. Default: any number. */
  readonly capacity?: number | Readonly<Record<string, number>> | undefined
  /** What is in the service's own registry. Default: nothing. */
  readonly images?: readonly RegistryImage[] | undefined
  /**
   * The service's own registry: the `docker_repository` of images that are looked up there. Default
   * registry.emulator.invalid.
   */
  readonly registryHost?: string | undefined
  /** Whether an image of any other registry can be pulled. Default: all can. */
  readonly canPull?: ((image: ImageReference) => boolean) | undefined
  /** What the document leaves open, as the client has it. */
  readonly settings?: SettingsOption | undefined
  /** Entries per page. Default 10 where the request does not say, and 100 at most. */
  readonly pageSizes?: Some<PageSizes> | undefined
  readonly deployTimes?: Some<DeployTimes> | undefined
  readonly deployments?: Some<DeploymentSettings> | undefined
  readonly relays?: Some<RelaySettings> | undefined
  /**
   * Whether relay sessions carry packets, each at two UDP ports of its own; true for the default settings.
   * Default false: nobody listens where the sessions say.
   */
  readonly relayData?: Some<RelayDataSettings> | boolean | undefined
  /**
   * How ping beacons answer once the emulator listens, each at a UDP and a TCP port of its own; false for beacons at
   * which nothing answers. Default true. They are opened when they are first asked for.
   */
  readonly beacons?: Some<BeaconSettings> | boolean | undefined
  /** Where an address is. Default: an invented place, always the same for the same address. */
  readonly locate?: ((ip: string) => Coordinates | undefined) | undefined
  /** Runs containers, for whoever has the token. Default: they are only simulated. */
  readonly launch?: Launch | undefined
  /** Sends webhooks. Default: the global fetch. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /**
   * A page at /_emulator, and what it shows as JSON at /_emulator/state; no token is asked for, no secret shown.
   * Default true.
   */
  readonly page?: boolean | undefined
  /** Bytes of a request's body. Default 1 MiB. */
  readonly maxBodyBytes?: number | undefined
  /** Told of mistakes in the emulator, which are answered by 500. Default: a warning of the process. */
  readonly onError?: ((error: unknown, operation: OperationId) => void) | undefined
}
