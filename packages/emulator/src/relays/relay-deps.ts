import type { Random } from '@muster/core/clock'
import type { Webhooks } from '../deployments/webhooks.js'
import type { Locate } from '../deployments/user-coordinates.js'
import type { RelayData } from '../relay-data/relay-data.js'
import type { Timers } from '../timers.js'
import type { RelaySettings } from './relay-settings.js'

/** What relay sessions need from the rest of the emulator. */
export interface RelayDeps {
  /** The source of ids and tokens. */
  readonly random: Random
  readonly timers: Timers
  readonly settings: RelaySettings
  /** The relay that carries packets; undefined where sessions carry none. */
  readonly relayData: RelayData | undefined
  /** Looks up the location of an IP address; undefined to simulate a location from the address. */
  readonly locate: Locate | undefined
  readonly webhooks: Webhooks
}
