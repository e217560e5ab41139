import { isIP } from 'node:net'
import type { OperationId, Settings, SettingsOption } from '@muster/core/api'
import { type Coordinates, settingsWith, type ValueLimits } from '@muster/core/internal'
import { type Clock, type Random, seededRandom, systemClock } from '@muster/core/clock'
import { z } from 'zod'
import {
  defaultDeployTimes,
  defaultGameServerSettings,
  type DeployTimes,
  type GameServerSettings,
  type Launch,
} from './deployments/index.js'
import { Fault } from './faults.js'
import type { TooManyAnswer } from './reply.js'
import { OBSERVED_CREATE_PATH } from './observed/index.js'
import { checked, dropUndefined } from './option-values.js'
import { places } from './places.js'
import { algorithms, type LimitAlgorithm } from './rate-limits.js'
import {
  type BeaconSettings,
  defaultBeaconSettings,
  defaultDeploymentSettings,
  defaultRelayDataSettings,
  defaultRelaySettings,
  type DeploymentSettings,
  type PageSizes,
  publicIpOf,
  type RelayDataSettings,
  type RelaySettings,
} from './settings.js'

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
  /** The content hash. Tags of one image with the same hash are one artifact. Default: a unique hash. */
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
   * The clock of the service. Default: the system's. With a manual clock, nothing happens until the clock is advanced.
   */
  readonly clock?: Clock | undefined
  /** Source of all random choices. Default: the same sequence every time. */
  readonly random?: Random | undefined
  /**
   * The emulated service: `specification`, the default, follows the document literally. `observed` follows a public
   * deployment of the same interface where its description differs (live facts): creates only at `/v2/deployments`,
   * omitted fields instead of null, metrics as numbers, all lists paged, and everything that is not described there is
   * rejected, including fleets and policies.
   */
  readonly as?: 'specification' | 'observed' | undefined
  /** The account's API token. Default 'dev'; with `launch` a token is required, because the default is not a secret. */
  readonly token?: string | undefined
  /**
   * Speed factor of the service's own durations (deploying, terminating, max_duration …), but not of the rate limits.
   * Default 1.
   */
  readonly speed?: number | undefined
  /** How rate limits are enforced; false for no limits. Default: as documented, with Retry-After in seconds. */
  readonly limits?: Some<LimitSettings> | false | undefined
  /** Faults declared from the start; `Emulator.faults` changes them later. */
  readonly faults?: readonly Fault[] | undefined
  /** Milliseconds that each request takes on the network, in both directions together. Default 0. */
  readonly latencyMs?: number | undefined
  /** Maximum milliseconds that are added to `latencyMs`, drawn for each request. Default 0. */
  readonly jitterMs?: number | undefined
  /**
   * Maximum number of deployments at a time: at each location, or by its id. Locations without a number have no limit.
   * Default: no limit.
   */
  readonly capacity?: number | Readonly<Record<string, number>> | undefined
  /** The images in the service's own registry. Default: none. */
  readonly images?: readonly RegistryImage[] | undefined
  /** The `docker_repository` of the service's own registry. Default registry.emulator.invalid. */
  readonly registryHost?: string | undefined
  /** Returns true if an image of another registry can be pulled. Default: all can. */
  readonly canPull?: ((image: ImageReference) => boolean) | undefined
  /** Settings for points that the specification leaves open; the same as the client's. */
  readonly settings?: SettingsOption | undefined
  /** Entries per page. Default 10 if the request has no `limit`, and at most 100. */
  readonly pageSizes?: Some<PageSizes> | undefined
  readonly deployTimes?: Some<DeployTimes> | undefined
  readonly deployments?: Some<DeploymentSettings> | undefined
  readonly relays?: Some<RelaySettings> | undefined
  /**
   * Lets relay sessions carry packets, each on two UDP ports; true for the default settings. Default false: nothing
   * listens at the sessions' addresses.
   */
  readonly relayData?: Some<RelayDataSettings> | boolean | undefined
  /**
   * How ping beacons answer once the emulator listens, each on a UDP and a TCP port; false for beacons that never
   * answer. Beacons are opened when they are first requested. Default true.
   */
  readonly beacons?: Some<BeaconSettings> | boolean | undefined
  /** Finds the location of an IP address. Default: a simulated location, always the same for the same address. */
  readonly locate?: ((ip: string) => Coordinates | undefined) | undefined
  /** Runs containers for anyone who has the token. Default: containers are only simulated. */
  readonly launch?: Launch | undefined
  /**
   * Simulates game servers in deployments with MUSTER_URL and MUSTER_SERVER_TOKEN: they register there, play matches
   * and report, without a process; true for the default settings. Not with `launch`. Default false.
   */
  readonly gameServers?: Some<GameServerSettings> | boolean | undefined
  /** Sends webhooks, and the requests of simulated game servers. Default: the global fetch. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /**
   * Serves a page at /_emulator, and its data as JSON at /_emulator/state. Neither requires a token or shows secrets.
   * Default true.
   */
  readonly page?: boolean | undefined
  /** Maximum size of a request's body in bytes. Default 1,048,576 (1 MiB). */
  readonly maxBodyBytes?: number | undefined
  /** Called with each error in the emulator itself; the response is 500. Default: a process warning. */
  readonly onError?: ((error: unknown, operation: OperationId) => void) | undefined
}

/** A function as an option. Its parameters and result cannot be validated. */
const func = <Key extends 'random' | 'canPull' | 'locate' | 'launch' | 'fetch' | 'onError'>() =>
  z.custom<NonNullable<EmulatorOptions[Key]>>((value) => typeof value === 'function', 'must be a function')

const duration = z.number().min(0)
const count = z.int().min(1)
const port = z.int().min(1).max(65_535)
const path = z.string().startsWith('/')
const parameter = z.string().min(1)

/** The schemas of some settings: exactly one for each key of the settings' type. */
type Shape<T> = { readonly [Key in keyof T]: z.ZodType<T[Key]> }

/** Settings that are all optional; a missing or undefined one has its default. */
const withDefaults = <T extends object>(shape: Shape<T>, defaults: T) =>
  z
    .strictObject(shape as z.core.$ZodLooseShape)
    .partial()
    .default({})
    .transform((given): T => ({ ...defaults, ...dropUndefined(given) }))

/** Settings of a part that may be off, or on with its defaults; undefined if it is off. */
const switchable = <T extends object, Chosen extends Some<T>>(shape: Shape<Chosen>, defaults: T, isOn: boolean) =>
  z
    .union([z.strictObject(shape as z.core.$ZodLooseShape).partial(), z.boolean()])
    .default(isOn)
    .transform((given): T | undefined => {
      if (given === false) return undefined
      return { ...defaults, ...dropUndefined(given === true ? {} : (given as Some<T>)) }
    })

/** The settings with the public address, which defaults to the host. */
const withPublicIp = <T extends { readonly host: string }>(settings: T | undefined) =>
  settings && { publicIp: publicIpOf(settings.host), ...settings }

/** A number that may be Infinity, which zod's numbers exclude. */
const bound = z.custom<number>((value) => typeof value === 'number' && !Number.isNaN(value), 'must be a number')
const bounds = z.strictObject({ min: bound.optional(), max: bound.optional() }).optional()

const settingsShape = {
  createDeploymentPath: path,
  containerLogStorageParameter: parameter,
  deploymentQueryParameter: parameter,
  locationTypeParameter: parameter,
  locationTagsParameter: parameter,
  fillRequired: z.boolean(),
  valueLimits: z.strictObject({
    appName: bounds,
    versionName: bounds,
    reqCpu: bounds,
    reqMemory: bounds,
    maxDuration: bounds,
    timeToDeploy: bounds,
    terminationGrace: bounds,
    port: bounds,
    tagName: bounds,
    environmentValue: bounds,
  } satisfies { readonly [Name in keyof ValueLimits]: z.ZodType }),
} satisfies { readonly [Name in keyof Settings]: z.ZodType }

const pageSizes = { default: count, maximum: count } satisfies Shape<PageSizes>

const deployTimes = {
  seekMs: duration,
  cachedDeployMs: duration,
  deployMs: duration,
  terminateMs: duration,
  spread: z.number().min(0),
} satisfies Shape<DeployTimes>

const deploymentSettings = {
  retentionMs: duration,
  listLagMs: duration,
  rejectRepeatedFilters: z.boolean(),
  forceCacheMs: duration,
  fleetCheckMs: z.number().positive(),
  webhookHosts: z.enum(['loopback', 'any']),
  webhookTimeoutMs: duration,
  webhookConcurrency: count,
  processPorts: z
    .strictObject({ from: port, to: port })
    .refine(({ from, to }) => from <= to, { path: ['to'], error: 'must not be earlier than from' }),
} satisfies Shape<DeploymentSettings>

const relaySettings = {
  readyMs: duration,
  revokeAnswers: z.union([z.literal(200), z.literal(204)], 'must be 200 or 204'),
  readyStatus: z.string().min(1),
} satisfies Shape<RelaySettings>

const probability = z.number().min(0).max(1)

const gameServerSettings = {
  bootMs: duration,
  matchMs: duration,
  spread: z.number().min(0),
  matches: count,
  crash: probability,
  silent: probability,
  refuse: probability,
  lie: probability,
} satisfies Shape<GameServerSettings>

const ip = z.string().refine((text) => isIP(text) !== 0, 'must be an IPv4 or IPv6 address')
const perSecond = z.number().positive()

const relayDataSettings = {
  host: ip,
  publicIp: ip,
  authDelayMs: duration,
  pinSource: z.boolean(),
  userPacketsPerSecond: perSecond,
  sessionPacketsPerSecond: perSecond,
} satisfies Shape<RelayDataSettings>

const beaconSettings = {
  host: ip,
  publicIp: ip,
  from: z.strictObject({ latitude: z.number().min(-90).max(90), longitude: z.number().min(-180).max(180) }),
} satisfies { readonly [Key in keyof BeaconSettings]: z.ZodType<NonNullable<BeaconSettings[Key]>> }

const limits = {
  algorithm: z.enum(Object.keys(algorithms) as [LimitAlgorithm]),
  retryAfter: z.union([z.enum(['seconds', 'date']), z.literal(false)], "must be 'seconds', 'date' or false"),
  body: z.enum(['json', 'text']),
} satisfies Shape<LimitSettings>

const placeIds: readonly string[] = places.map(({ id }) => id)
const knownPlaceId = z.string().refine((id) => placeIds.includes(id), 'is not the id of a place')

/** The defaults of the limits. */
const defaultLimits: LimitSettings = { algorithm: 'sliding log', retryAfter: 'seconds', body: 'json' }

/**
 * The default page sizes (our choice): the specification has none (public fact: 10 to 20 by default, maximum unknown).
 */
const defaultPageSizes: PageSizes = { default: 10, maximum: 100 }

/** The schema of the options of `createEmulator`. */
const Options = z.strictObject({
  clock: z
    .custom<Clock>(
      (clock) => typeof clock === 'object' && clock !== null && 'now' in clock && 'sleep' in clock,
      'must be a Clock',
    )
    .default(systemClock),
  random: func<'random'>().default(() => seededRandom(1)),
  // The token must fit into a header after the word 'token'.
  token: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without spaces')
    .default('dev'),
  as: z.enum(['specification', 'observed']).default('specification'),
  speed: z.number().positive().default(1),
  limits: z
    .union([z.strictObject(limits).partial(), z.literal(false)])
    .default({})
    .transform((given): LimitSettings | undefined =>
      given === false ? undefined : { ...defaultLimits, ...dropUndefined(given) },
    ),
  faults: z.array(Fault).default([]),
  latencyMs: duration.default(0),
  jitterMs: duration.default(0),
  capacity: z
    .union([z.int().min(0), z.record(knownPlaceId, z.int().min(0))])
    .default({})
    .transform(capacityOf),
  images: z
    .array(
      z.strictObject({
        image: z.string().min(1),
        tag: z.string().min(1),
        hash: z.string().min(1).optional(),
        sizeMb: z.number().positive().optional(),
      }),
    )
    .default([]),
  registryHost: z.string().min(1).default('registry.emulator.invalid'),
  canPull: func<'canPull'>().default(() => () => true),
  settings: z.strictObject(settingsShape).partial().optional().transform(settingsWith),
  pageSizes: withDefaults(pageSizes, defaultPageSizes),
  deployTimes: withDefaults(deployTimes, defaultDeployTimes),
  deployments: withDefaults(deploymentSettings, defaultDeploymentSettings),
  relays: withDefaults(relaySettings, defaultRelaySettings),
  relayData: switchable(relayDataSettings, defaultRelayDataSettings, false).transform(withPublicIp),
  beacons: switchable(beaconSettings, defaultBeaconSettings, true).transform(withPublicIp),
  locate: func<'locate'>().optional(),
  launch: func<'launch'>().optional(),
  gameServers: switchable(gameServerSettings, defaultGameServerSettings, false),
  fetch: func<'fetch'>().default(() => fetch),
  page: z.boolean().default(true),
  maxBodyBytes: count.default(1024 * 1024),
  onError: func<'onError'>().default(() => warn),
} satisfies { readonly [Key in keyof EmulatorOptions]-?: z.ZodType })

/** The options with all defaults. */
export type ResolvedOptions = z.output<typeof Options>

/**
 * Validates the options and fills in the defaults.
 * @throws TypeError naming the invalid option.
 */
export function resolveOptions(options: EmulatorOptions): ResolvedOptions {
  const resolved = withObservedPath(checked('option', Options, options), options)
  if (resolved.launch !== undefined && options.token === undefined) {
    throw new TypeError(
      'option token: is required with launch: callers with the token can start processes on this machine',
    )
  }
  if (resolved.launch !== undefined && resolved.gameServers !== undefined)
    throw new TypeError('option gameServers: cannot be given with launch, which runs real game servers')
  return resolved
}

/** In the mode `observed`, deployments are created at that mode's path, unless the options set one. */
function withObservedPath(resolved: ResolvedOptions, { settings }: EmulatorOptions): ResolvedOptions {
  if (resolved.as === 'specification' || settings?.createDeploymentPath !== undefined) return resolved
  return { ...resolved, settings: { ...resolved.settings, createDeploymentPath: OBSERVED_CREATE_PATH } }
}

const warn = (error: unknown, operation: OperationId) =>
  process.emitWarning(`${operation} threw ${error instanceof Error ? error.stack : String(error)}`, 'EmulatorError')

function capacityOf(capacity: NonNullable<EmulatorOptions['capacity']>): (placeId: string) => number {
  if (typeof capacity === 'number') return () => capacity
  const byPlace = new Map(Object.entries(capacity))
  return (placeId) => byPlace.get(placeId) ?? Infinity
}
