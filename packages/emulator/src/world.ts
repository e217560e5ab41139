import type { Settings } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import type { Beacons } from './beacons/create-beacons.js'
import type { Counters } from './counters.js'
import type { DeploymentSettings } from './deployments/deployment-settings.js'
import type { Deployments } from './deployments/deployments.js'
import type { Locate } from './deployments/user-coordinates.js'
import type { Named } from './named.js'
import type { ImageReference } from './options.js'
import type { PageSizes } from './pages.js'
import type { ApplicationRecord, FleetRecord, ImageRecord, StorageRecord } from './records.js'
import type { RelaySettings } from './relays/relay-settings.js'
import type { Relays } from './relays/relays.js'

/** The state of one emulated service, shared by the handlers and the page. */
export interface World {
  /** The clock, real or a test's, not sped up. All timestamps are its time. */
  readonly clock: Clock
  /** How many times faster than life the service's own durations pass. */
  readonly speed: number
  readonly settings: Settings
  /** The URL at which the emulator can be reached, without a slash at its end. Known only once the emulator listens. */
  readonly url: () => string
  readonly counters: Counters
  readonly pageSizes: PageSizes

  readonly applications: Named<ApplicationRecord>
  readonly storages: Named<StorageRecord>
  readonly fleets: Named<FleetRecord>
  readonly registry: Named<ImageRecord>
  /**
   * Whether the image can be pulled: an image of the service's own registry if it exists there, any other by option.
   */
  readonly canPull: (image: ImageReference) => boolean
  readonly deployments: Deployments
  readonly relays: Relays
  readonly beacons: Pick<Beacons, 'list'>

  /** The number of deployments that may run at one place at once. */
  readonly capacity: (placeId: string) => number
  readonly deploymentSettings: Pick<DeploymentSettings, 'listLagMs' | 'refuseRepeatedFilters'>
  readonly relaySettings: Pick<RelaySettings, 'revokeAnswers'>
  /** Looks up the location of an IP address; undefined to simulate a location from the address. */
  readonly locate: Locate | undefined
}
