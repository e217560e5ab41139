import { isIP } from 'node:net'
import type { Settings, ValueLimits } from '@muster/core/api'
import type { Clock } from '@muster/core/clock'
import { z } from 'zod'
import type { BeaconSettings } from './beacons/beacon-settings.js'
import type { DeploymentSettings } from './deployments/deployment-settings.js'
import type { DeployTimes } from './deployments/deploy-times.js'
import { Fault } from './faults/fault.js'
import { algorithms, type LimitAlgorithm } from './limits/rate-limits.js'
import type { EmulatorOptions, LimitSettings } from './options.js'
import type { PageSizes } from './pages.js'
import { places } from './places.js'
import type { RelayDataSettings } from './relay-data/relay-data-settings.js'
import type { RelaySettings } from './relays/relay-settings.js'

/** A function as an option; its parameters and result cannot be checked. */
const func = <Key extends 'random' | 'canPull' | 'locate' | 'launch' | 'fetch' | 'onError'>() =>
  z.custom<EmulatorOptions[Key]>((value) => typeof value === 'function', 'must be a function').optional()

const duration = z.number().min(0)
const count = z.int().min(1)
const port = z.int().min(1).max(65_535)
const path = z.string().startsWith('/')
const parameter = z.string().min(1)

/** The schemas of some settings: exactly one for each key of the settings' type. */
type Shape<T> = { readonly [Key in keyof T]: z.ZodType<T[Key]> }

/** A number that may be Infinity, which zod's numbers exclude. */
const bound = z.custom<number>((value) => typeof value === 'number' && !Number.isNaN(value), 'must be a number')
const bounds = z.strictObject({ min: bound.optional(), max: bound.optional() }).optional()

const settings = {
  createDeploymentPath: path,
  containerLogStorageParameter: parameter,
  deploymentQueryParameter: parameter,
  locationTypeParameter: parameter,
  locationTagsParameter: parameter,
  valueLimits: z.strictObject({
    appName: bounds,
    versionName: bounds,
    reqCpu: bounds,
    reqMemory: bounds,
    maxDuration: bounds,
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
  refuseRepeatedFilters: z.boolean(),
  forceCacheMs: duration,
  fleetCheckMs: z.number().positive(),
  webhookHosts: z.enum(['loopback', 'any']),
  webhookTimeoutMs: duration,
  webhookConcurrency: count,
  processPorts: z
    .strictObject({ from: port, to: port })
    .refine(({ from, to }) => from <= to, { path: ['to'], error: 'must not be before from' }),
} satisfies Shape<DeploymentSettings>

const relaySettings = {
  readyMs: duration,
  revokeAnswers: z.union([z.literal(200), z.literal(204)], 'must be 200 or 204'),
  readyStatus: z.string().min(1),
} satisfies Shape<RelaySettings>

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
const placeId = z.string().refine((id) => placeIds.includes(id), 'is not the id of a place')

/** The schema of the options of `createEmulator`. */
export const Options: z.ZodType<EmulatorOptions> = z.strictObject({
  clock: z
    .custom<Clock>(
      (clock) => typeof clock === 'object' && clock !== null && 'now' in clock && 'sleep' in clock,
      'must be a Clock',
    )
    .optional(),
  random: func<'random'>(),
  // The token has to fit into a header, after the word 'token'.
  token: z
    .string()
    .regex(/^[\x21-\x7e]+$/, 'must be visible ASCII characters without spaces')
    .optional(),
  speed: z.number().positive().optional(),
  limits: z.union([z.strictObject(limits).partial(), z.literal(false)]).optional(),
  faults: z.array(Fault).optional(),
  latencyMs: duration.optional(),
  jitterMs: duration.optional(),
  capacity: z.union([z.int().min(0), z.record(placeId, z.int().min(0))]).optional(),
  images: z
    .array(
      z.strictObject({
        image: z.string().min(1),
        tag: z.string().min(1),
        hash: z.string().min(1).optional(),
        sizeMb: z.number().positive().optional(),
      }),
    )
    .optional(),
  registryHost: z.string().min(1).optional(),
  canPull: func<'canPull'>(),
  settings: z.strictObject(settings).partial().optional(),
  pageSizes: z.strictObject(pageSizes).partial().optional(),
  deployTimes: z.strictObject(deployTimes).partial().optional(),
  deployments: z.strictObject(deploymentSettings).partial().optional(),
  relays: z.strictObject(relaySettings).partial().optional(),
  relayData: z.union([z.strictObject(relayDataSettings).partial(), z.boolean()]).optional(),
  beacons: z.union([z.strictObject(beaconSettings).partial(), z.boolean()]).optional(),
  locate: func<'locate'>(),
  launch: func<'launch'>(),
  fetch: func<'fetch'>(),
  page: z.boolean().optional(),
  maxBodyBytes: count.optional(),
  onError: func<'onError'>(),
})
