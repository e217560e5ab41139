import type { Clock, Random } from '@muster/core/clock'
import type { Named } from '../named.js'
import type { FleetRecord } from '../records.js'
import type { Timers } from '../timers.js'
import type { DeployTimes } from './deploy-times.js'
import type { DeploymentSettings } from './deployment-settings.js'
import type { Launch } from './launch.js'
import type { Webhooks } from './webhooks.js'

/** What deployments need from the rest of the emulator. */
export interface DeploymentDeps {
  readonly clock: Clock
  /** The source of ids, tokens and deploy times. */
  readonly random: Random
  readonly timers: Timers
  /**
   * How many times faster than the service the emulator runs. Durations that do not go through `timers` are divided by
   * it.
   */
  readonly speed: number
  /**
   * The URL at which the emulator can be reached, without a slash at its end, for the injected delete URL. The URL is
   * known only once the emulator listens.
   */
  readonly url: () => string
  /** The fleets, which demand deployments. */
  readonly fleets: Named<FleetRecord>
  /** The number of deployments that may run at one place at once. */
  readonly capacity: (placeId: string) => number
  readonly deployTimes: DeployTimes
  readonly settings: DeploymentSettings
  /** Runs containers; undefined when deployments are only simulated. */
  readonly launch: Launch | undefined
  readonly webhooks: Webhooks
}
