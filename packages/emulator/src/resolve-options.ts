import { defaultSettings, type OperationId, type Settings } from '@muster/core/api'
import { seededRandom, systemClock, type Clock, type Random } from '@muster/core/clock'
import { checked } from './checked.js'
import { defaultDeploymentSettings, type DeploymentSettings } from './deployments/deployment-settings.js'
import { defaultDeployTimes, type DeployTimes } from './deployments/deploy-times.js'
import type { Fault } from './faults/fault.js'
import { given } from './given.js'
import { Options } from './option-schema.js'
import type { EmulatorOptions, LimitSettings, RegistryImage } from './options.js'
import type { PageSizes } from './pages.js'
import { defaultRelayDataSettings, publicIpOf, type RelayDataSettings } from './relay-data/relay-data-settings.js'
import { defaultRelaySettings, type RelaySettings } from './relays/relay-settings.js'
import type { ImageReference, World } from './world.js'

/** The options with every default filled in. */
export interface ResolvedOptions {
  readonly clock: Clock
  readonly random: Random
  readonly token: string
  readonly speed: number
  /** Undefined for a service without limits. */
  readonly limits: LimitSettings | undefined
  readonly faults: readonly Fault[]
  readonly latencyMs: number
  readonly jitterMs: number
  readonly capacity: World['capacity']
  readonly images: readonly RegistryImage[]
  readonly registryHost: string
  readonly canPull: (image: ImageReference) => boolean
  readonly settings: Settings
  readonly pageSizes: PageSizes
  readonly deployTimes: DeployTimes
  readonly deployments: DeploymentSettings
  readonly relays: RelaySettings
  /** Undefined where sessions carry no packets. */
  readonly relayData: RelayDataSettings | undefined
  readonly locate: World['locate']
  readonly launch: World['launch']
  readonly fetch: World['fetch']
  readonly page: boolean
  readonly maxBodyBytes: number
  readonly onError: (error: unknown, operation: OperationId) => void
}

const defaultLimits: LimitSettings = { algorithm: 'sliding log', retryAfter: 'seconds', body: 'json' }

/** The document says neither (public fact: 10 to 20 by default, maximum unknown). */
const defaultPageSizes: PageSizes = { default: 10, maximum: 100 }

/** @throws TypeError naming the option that is wrong. */
export function resolveOptions(options: EmulatorOptions): ResolvedOptions {
  const chosen = checked('option', Options, options)
  if (chosen.launch !== undefined && chosen.token === undefined) {
    throw new TypeError('option token: is required with launch, because whoever knows it starts processes on this machine')
  }
  return {
    clock: chosen.clock ?? systemClock,
    random: chosen.random ?? seededRandom(1),
    token: chosen.token ?? 'dev',
    speed: chosen.speed ?? 1,
    limits: chosen.limits === false ? undefined : { ...defaultLimits, ...given(chosen.limits ?? {}) },
    faults: chosen.faults ?? [],
    latencyMs: chosen.latencyMs ?? 0,
    jitterMs: chosen.jitterMs ?? 0,
    capacity: capacityOf(chosen.capacity),
    images: chosen.images ?? [],
    registryHost: chosen.registryHost ?? 'registry.emulator.invalid',
    canPull: chosen.canPull ?? (() => true),
    settings: { ...defaultSettings, ...given(chosen.settings ?? {}) },
    pageSizes: { ...defaultPageSizes, ...given(chosen.pageSizes ?? {}) },
    deployTimes: { ...defaultDeployTimes, ...given(chosen.deployTimes ?? {}) },
    deployments: { ...defaultDeploymentSettings, ...given(chosen.deployments ?? {}) },
    relays: { ...defaultRelaySettings, ...given(chosen.relays ?? {}) },
    relayData: relayDataOf(chosen.relayData ?? false),
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

function capacityOf(capacity: EmulatorOptions['capacity']): World['capacity'] {
  if (typeof capacity === 'number') return () => capacity
  const byPlace = new Map(Object.entries(capacity ?? {}))
  return (placeId) => byPlace.get(placeId) ?? Infinity
}

function relayDataOf(chosen: NonNullable<EmulatorOptions['relayData']>): RelayDataSettings | undefined {
  if (chosen === false) return undefined
  const settings = { ...defaultRelayDataSettings, ...given(chosen === true ? {} : chosen) }
  return { publicIp: publicIpOf(settings.host), ...settings }
}
