import { settingsWith, type OperationId, type Settings } from '@muster/core/api'
import { seededRandom, systemClock, type Clock, type Random } from '@muster/core/clock'
import { defaultBeaconSettings, type BeaconSettings } from './beacons/beacon-settings.js'
import { checked } from './checked.js'
import { defaultDeploymentSettings, type DeploymentSettings } from './deployments/deployment-settings.js'
import { defaultDeployTimes, type DeployTimes } from './deployments/deploy-times.js'
import type { Launch } from './deployments/launch.js'
import type { Locate } from './deployments/user-coordinates.js'
import type { WebhookOptions } from './deployments/webhooks.js'
import type { Fault } from './faults/fault.js'
import { dropUndefined } from './drop-undefined.js'
import { Options } from './option-schema.js'
import type { EmulatorOptions, ImageReference, LimitSettings, RegistryImage } from './options.js'
import type { PageSizes } from './pages.js'
import { defaultRelayDataSettings, publicIpOf, type RelayDataSettings } from './relay-data/relay-data-settings.js'
import { defaultRelaySettings, type RelaySettings } from './relays/relay-settings.js'

/** The options with every default filled in. */
export interface ResolvedOptions {
  readonly clock: Clock
  readonly random: Random
  readonly token: string
  readonly speed: number
  /** The rate limits; undefined for a service without limits. */
  readonly limits: LimitSettings | undefined
  readonly faults: readonly Fault[]
  readonly latencyMs: number
  readonly jitterMs: number
  readonly capacity: (placeId: string) => number
  readonly images: readonly RegistryImage[]
  readonly registryHost: string
  readonly canPull: (image: ImageReference) => boolean
  readonly settings: Settings
  readonly pageSizes: PageSizes
  readonly deployTimes: DeployTimes
  readonly deployments: DeploymentSettings
  readonly relays: RelaySettings
  /** The settings of the relay; undefined where sessions carry no packets. */
  readonly relayData: RelayDataSettings | undefined
  /** The settings of beacons; undefined where beacons never answer. */
  readonly beacons: BeaconSettings | undefined
  readonly locate: Locate | undefined
  readonly launch: Launch | undefined
  readonly fetch: WebhookOptions['fetch']
  readonly page: boolean
  readonly maxBodyBytes: number
  readonly onError: (error: unknown, operation: OperationId) => void
}

const defaultLimits: LimitSettings = { algorithm: 'sliding log', retryAfter: 'seconds', body: 'json' }

/** The default page sizes (our choice): the document has none (public fact: 10 to 20 by default, maximum unknown). */
const defaultPageSizes: PageSizes = { default: 10, maximum: 100 }

/**
 * Validates the options and fills in the defaults.
 * @throws TypeError naming the option that is wrong.
 */
export function resolveOptions(options: EmulatorOptions): ResolvedOptions {
  const chosen = checked('option', Options, options)
  if (chosen.launch !== undefined && chosen.token === undefined) {
    throw new TypeError(
      'option token: is required with launch, because whoever knows it starts processes on this machine',
    )
  }
  return {
    clock: chosen.clock ?? systemClock,
    random: chosen.random ?? seededRandom(1),
    token: chosen.token ?? 'dev',
    speed: chosen.speed ?? 1,
    limits: chosen.limits === false ? undefined : { ...defaultLimits, ...dropUndefined(chosen.limits ?? {}) },
    faults: chosen.faults ?? [],
    latencyMs: chosen.latencyMs ?? 0,
    jitterMs: chosen.jitterMs ?? 0,
    capacity: capacityOf(chosen.capacity),
    images: chosen.images ?? [],
    registryHost: chosen.registryHost ?? 'registry.emulator.invalid',
    canPull: chosen.canPull ?? (() => true),
    settings: settingsWith(chosen.settings),
    pageSizes: { ...defaultPageSizes, ...dropUndefined(chosen.pageSizes ?? {}) },
    deployTimes: { ...defaultDeployTimes, ...dropUndefined(chosen.deployTimes ?? {}) },
    deployments: { ...defaultDeploymentSettings, ...dropUndefined(chosen.deployments ?? {}) },
    relays: { ...defaultRelaySettings, ...dropUndefined(chosen.relays ?? {}) },
    relayData: relayDataOf(chosen.relayData ?? false),
    beacons: beaconsOf(chosen.beacons ?? true),
    locate: chosen.locate,
    launch: chosen.launch,
    fetch: chosen.fetch ?? fetch,
    page: chosen.page ?? true,
    maxBodyBytes: chosen.maxBodyBytes ?? 1024 * 1024,
    onError: chosen.onError ?? warn,
  }
}

const warn = (error: unknown, operation: OperationId) =>
  process.emitWarning(`${operation} threw ${error instanceof Error ? error.stack : String(error)}`, 'EmulatorError')

function capacityOf(capacity: EmulatorOptions['capacity']): ResolvedOptions['capacity'] {
  if (typeof capacity === 'number') return () => capacity
  const byPlace = new Map(Object.entries(capacity ?? {}))
  return (placeId) => byPlace.get(placeId) ?? Infinity
}

function relayDataOf(chosen: NonNullable<EmulatorOptions['relayData']>): RelayDataSettings | undefined {
  if (chosen === false) return undefined
  const settings = { ...defaultRelayDataSettings, ...dropUndefined(chosen === true ? {} : chosen) }
  return { publicIp: publicIpOf(settings.host), ...settings }
}

function beaconsOf(chosen: NonNullable<EmulatorOptions['beacons']>): BeaconSettings | undefined {
  if (chosen === false) return undefined
  const settings = { ...defaultBeaconSettings, ...dropUndefined(chosen === true ? {} : chosen) }
  return { publicIp: publicIpOf(settings.host), ...settings }
}
