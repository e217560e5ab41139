import type { Random } from '@muster/core/clock'
import type { Webhooks } from '../deployments/webhooks.js'
import type { Locate } from '../deployments/user-coordinates.js'
import type { RelayData } from '../relay-data/relay-data.js'
import type { Timers } from '../timers.js'
import type { RelaySettings } from './relay-settings.js'

/** What relay sessions are made from and run on. */
export interface RelayDeps {
  /** Decides the ids and tokens. */
  readonly random: Random
  readonly timers: Timers
  readonly settings: RelaySettings
  /** Carries the packets; undefined where nothing does. */
  readonly relayData: RelayData | undefined
  /** Where an address is; undefined to invent a place from the address. */
  readonly locate: Locate | undefined
  readonly webhooks: Webhooks
}
