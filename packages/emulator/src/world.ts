import type { Coordinates, Settings } from '@muster/core/api'
import type { Clock, Random } from '@muster/core/clock'
import type { Counters } from './counters.js'
import type { DeploymentSettings } from './deployments/deployment-settings.js'
import type { Deployments } from './deployments/deployments.js'
import type { DeployTimes } from './deployments/deploy-times.js'
import type { Launch } from './deployments/launch.js'
import type { Named } from './named.js'
import type { PageSizes } from './pages.js'
import type { ApplicationRecord, FleetRecord, ImageRecord, StorageRecord } from './records.js'
import type { RelayData } from './relay-data/relay-data.js'
import type { RelaySettings } from './relays/relay-settings.js'
import type { Relays } from './relays/relays.js'
import type { Timers } from './timers.js'

/** All that the handlers share: the state of one emulated service, and what it runs on. */
export interface World {
  /** Real (or the test's) time, not sped up. Timestamps are this clock's. */
  readonly clock: Clock
  /** Decides the deploy times, ids and addresses; faults and jitter have sequences of their own. */
  readonly random: Random
  /** The service's own durations: `timers.after` divides by `speed` and ends with the emulator. */
  readonly timers: Timers
  /** How many times faster than the service; divide the service's durations by it wherever `timers` is not used. */
  readonly speed: number
  readonly settings: Settings
  /** Where the emulator can be reached, without a slash at its end; for the injected delete URL. Known only once it listens. */
  readonly url: () => string
  readonly counters: Counters
  readonly pageSizes: PageSizes

  readonly applications: Named<ApplicationRecord>
  readonly storages: Named<StorageRecord>
  readonly fleets: Named<FleetRecord>
  readonly registry: Named<ImageRecord>
  /** Whether the image can be pulled: those of the service's own registry if they are there, others by option. */
  readonly canPull: (image: ImageReference) => boolean
  readonly deployments: Deployments
  readonly relays: Relays

  /** Deployments that may run at one place at once. */
  readonly capacity: (placeId: string) => number
  readonly deployTimes: DeployTimes
  readonly deploymentSettings: DeploymentSettings
  readonly relaySettings: RelaySettings
  /** Carries the packets of relay sessions; undefined where nothing does. */
  readonly relayData: RelayData | undefined
  /** Where an address is; undefined for unknown. Without it, the emulator invents a place from the address. */
  readonly locate: ((ip: string) => Coordinates | undefined) | undefined
  /** Sends webhooks. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>
  /** Runs containers; undefined when deployments are only simulated. */
  readonly launch: Launch | undefined
}

/** A container image, in the fields of a version. */
export interface ImageReference {
  /** Registry host. */
  readonly docker_repository: string
  readonly docker_image: string
  readonly docker_tag: string
}
