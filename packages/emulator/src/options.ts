import { isIP } from 'node:net'
import type { OperationId, Settings, SettingsOption } from '@muster/core/api'
import { callable, type Coordinates, having, settingsWith, type ValueLimits } from '@muster/core/internal'
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
  /** The host of the registry. */
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
  /** How requests are counted. Default 'sliding log', the strictest way. */
  readonly algorithm: LimitAlgorithm
}

/** Some of the settings; a missing or undefined setting has its default. */
export type Some<T> = { readonly [Key in keyof T]?: T[Key] | undefined }

export interface EmulatorOptions {
  /**
   * The clock of the service. Default: the system's clock. With a manual clock, nothing happens until the clock is
   * advanced.
   */
  readonly clock?: Clock | undefined
  /** The source of all random choices. Default: the same sequence in every emulator. */
  readonly random?: Random | undefined
  /**
   * The emulated service. `specification` (default) follows the document literally. `observed` follows a public
   * deployment of the same interface where its description differs (live facts). It creates only at
   * `/v2/deployments`, omits fields instead of sending null, states metrics as numbers and pages all lists. It rejects
   * everything that is not described, fleets and policies included.
   */
  readonly as?: 'specification' | 'observed' | undefined
  /** The account's API token. Default 'dev'. With `launch` a token is required, because the default is not a secret. */
  readonly token?: string | undefined
  /**
   * Speed factor of the service's own durations, such as deploying, terminating and max_duration. Rate limits are not
   * affected. Default 1.
   */
  readonly speed?: number | undefined
  /** How rate limits are enforced. False: there are no limits. Default: as documented, with Retry-After in seconds. */
  readonly limits?: Some<LimitSettings> | false | undefined
  /** Faults that are declared from the start. `Emulator.faults` can change them later. */
  readonly faults?: readonly Fault[] | undefined
  /** Milliseconds for which each request is on the network, both directions together. Default 0. */
  readonly latencyMs?: number | undefined
  /** Maximum milliseconds that are added to `latencyMs`. The added time is drawn for each request. Default 0. */
  readonly jitterMs?: number | undefined
  /**
   * Maximum number of deployments at a time: one number for each location, or numbers by the location's id. A location
   * without a number has no limit. Default: no limits.
   */
  readonly capacity?: number | Readonly<Record<string, number>> | undefined
  /** The images in the service's own registry. Default: none. */
  readonly images?: readonly RegistryImage[] | undefined
  /** The `docker_repository` of the service's own registry. Default registry.emulator.invalid. */
  readonly registryHost?: string | undefined
  /** Returns true if an image of another registry can be pulled. Default: all can. */
  readonly canPull?: ((image: ImageReference) => boolean) | undefined
  /** Settings for points that the specification leaves open. Pass the same to the client. */
  readonly settings?: SettingsOption | undefined
  /** Number of entries on a page. Default 10 if the request has no `limit`, and at most 100. */
  readonly pageSizes?: Some<PageSizes> | undefined
  readonly deployTimes?: Some<DeployTimes> | undefined
  readonly deployments?: Some<DeploymentSettings> | undefined
  readonly relays?: Some<RelaySettings> | undefined
  /**
   * True, or settings: relay sessions carry packets, each session on two UDP ports. False: nothing listens at the
   * sessions' addresses. Default false.
   */
  readonly relayData?: Some<RelayDataSettings> | boolean | undefined
  /**
   * True, or settings: ping beacons answer once the emulator listens, each on a UDP and a TCP port. Beacons are opened
   * when they are first requested. False: beacons never answer. Default true.
   */
  readonly beacons?: Some<BeaconSettings> | boolean | undefined
  /** Returns the location of an IP address. Default: a simulated location, always the same one for an address. */
  readonly locate?: ((ip: string) => Coordinates | undefined) | undefined
  /**
   * Runs the containers of deployments. Everybody who has the token can then start containers. Default: they are
   * simulated.
   */
  readonly launch?: Launch | undefined
  /**
   * True, or settings: simulates game servers in deployments with MUSTER_URL and MUSTER_SERVER_TOKEN. They register at
   * that URL, play matches and report, without a process. Not allowed with `launch`. Default false.
   */
  readonly gameServers?: Some<GameServerSettings> | boolean | undefined
  /** Sends webhooks, and the requests of simulated game servers. Default: the global `fetch`. */
  readonly fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined
  /**
   * True: serves a page at /_emulator, and its data as JSON at /_emulator/state. Neither requires a token or shows
   * secrets. Default true.
   */
  readonly page?: boolean | undefined
  /** Maximum size of a request's body in bytes. Default 1,048,576 (1 MiB). */
  readonly maxBodyBytes?: number | undefined
  /** Called with each error in the emulator itself. The response is then 500. Default: a process warning. */
  readonly onError?: ((error: unknown, operation: OperationId) => void) | undefined
}

const func = <Key extends 'random' | 'canPull' | 'locate' | 'launch' | 'fetch' | 'onError'>() =>
  callable<NonNullable<EmulatorOptions[Key]>>()

const duration = z.number().min(0)
const count = z.int().min(1)
const port = z.int().min(1).max(65_535)
const path = z.string().startsWith('/')
const parameter = z.string().min(1)

/** The schemas of settings: exactly one for each key of the settings' type. */
type Shape<T> = { readonly [Key in keyof T]: z.ZodType<T[Key]> }

/** Creates the schema of settings that are all optional. A missing or undefined setting has its default. */
const withDefaults = <T extends object>(shape: Shape<T>, defaults: T) =>
  z
    .strictObject(shape as z.core.$ZodLooseShape)
    .partial()
    .default({})
    .transform((given): T => ({ ...defaults, ...dropUndefined(given) }))

/** Creates the schema of a part that may be off (undefined), or on with its defaults. */
const switchable = <T extends object, Chosen extends Some<T>>(shape: Shape<Chosen>, defaults: T, isOn: boolean) =>
  z
    .union([z.strictObject(shape as z.core.$ZodLooseShape).partial(), z.boolean()])
    .default(isOn)
    .transform((given): T | undefined => {
      if (given === false) return undefined
      return { ...defaults, ...dropUndefined(given === true ? {} : (given as Some<T>)) }
    })

/** Returns the settings with the public address, which defaults to the host. */
const withPublicIp = <T extends { readonly host: string }>(settings: T | undefined) =>
  settings && { publicIp: publicIpOf(settings.host), ...settings }

/** A number or Infinity, which zod's own numbers exclude. */
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

/** The default enforcement of rate limits. */
const defaultLimits: LimitSettings = { algorithm: 'sliding log', retryAfter: 'seconds', body: 'json' }

/**
 * The default page sizes (our choice). The specification states none (public fact: the default is 10 to 20, the maximum
 * unknown).
 */
const defaultPageSizes: PageSizes = { default: 10, maximum: 100 }

/** The schema of the options of `createEmulator`. */
const Options = z.strictObject({
  clock: having<Clock>('now', 'sleep').default(systemClock),
  random: func<'random'>().default(() => seededRandom(1)),
  // The token must fit into a header, after the word `token`.
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

/** The options with all defaults, as `resolveOptions` returns them. */
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

/** In the mode `observed`, sets that mode's path for creating deployments, unless the options state a path. */
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
