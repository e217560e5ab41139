import type { Clock, Random } from '@muster/core/clock'
import type { Named } from '../named.js'
import type { FleetRecord } from '../records.js'
import type { Timers } from '../timers.js'
import type { DeployTimes } from './deploy-times.js'
import type { DeploymentSettings } from './deployment-settings.js'
import type { Launch } from './launch.js'
import type { Webhooks } from './webhooks.js'

/** What deployments are made from and run on. */
export interface DeploymentDeps {
  readonly clock: Clock
  /** Decides the ids, tokens and deploy times. */
  readonly random: Random
  readonly timers: Timers
  /** How many times faster than the service; divides its durations wherever `timers` is not used. */
  readonly speed: number
  /**
   * Where the emulator can be reached, without a slash at its end; for the injected delete URL. Known only once it
   * listens.
   */
  readonly url: () => string
  /** Those that demand deployments. */
  readonly fleets: Named<FleetRecord>
  /** Deployments that may run at one place at once. */
  readonly capacity: (placeId: string) => number
  readonly deployTimes: DeployTimes
  readonly settings: DeploymentSettings
  /** Runs containers; undefined when deployments are only simulated. */
  readonly launch: Launch | undefined
  readonly webhooks: Webhooks
}
