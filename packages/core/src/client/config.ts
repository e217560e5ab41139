import { z } from 'zod'
import { limits } from '../api/limits.js'
import { defaultSettings } from '../api/settings.js'
import { systemClock, type Clock } from '../clock.js'
import { systemRandom, type Random } from '../random.js'
import { InvalidInput } from './errors.js'
import type { ClientDispatcher } from './in-process.js'
import { invalid } from './invalid.js'
import type { ClientOptions } from './options.js'
import { createTokenSource, type TokenSource } from './token.js'

/** setTimeout's bound, some 24 days. */
const milliseconds = z.number().min(0).max(2 ** 31 - 1)
const count = z.int().min(1)
const limit = z.strictObject({ limit: count, windowMs: milliseconds.min(1).default(1000) }).nullable()

const method = <Fn>() => z.custom<Fn>((value) => typeof value === 'function', 'must be a function')
const having = <T extends object>(...methods: readonly (keyof T & string)[]) =>
  z.custom<T>(
    (value) => typeof value === 'object' && value !== null && methods.every((name) => typeof Reflect.get(value, name) === 'function'),
    `must have ${methods.join(' and ')}`,
  )

const schema = z.strictObject({
  timeoutMs: milliseconds.min(1).default(30_000),
  share: z.number().gt(0).max(1).default(1),
  limits: z
    .strictObject({
      createDeployment: limit.default(limits.createDeployment),
      status: limit.default(limits.status),
      listDeployments: limit.default(limits.listDeployments),
      legacyDeploy: limit.default(limits.legacyDeploy),
      other: limit.default(null),
    })
    .prefault({}),
  burst: count.optional(),
  jitterMs: milliseconds.optional(),
  limiter: method<NonNullable<ClientOptions['limiter']>>().optional(),
  maxInFlight: count.default(256),
  connections: count.default(128),
  maxResponseBytes: count.default(16 * 2 ** 20),
  retry: z
    .strictObject({ attempts: count.default(4), baseMs: milliseconds.default(200), capMs: milliseconds.default(5000) })
    .prefault({}),
  maxRetryAfterMs: milliseconds.default(60_000),
  cacheTtlMs: milliseconds.default(300_000),
  settings: z
    .strictObject({
      createDeploymentPath: z
        .string()
        .regex(/^\/[\w\-.~/]*$/, 'must be a path')
        .default(defaultSettings.createDeploymentPath),
      containerLogStorageParameter: z.string().min(1).default(defaultSettings.containerLogStorageParameter),
      deploymentQueryParameter: z.string().min(1).default(defaultSettings.deploymentQueryParameter),
      locationTypeParameter: z.string().min(1).default(defaultSettings.locationTypeParameter),
      locationTagsParameter: z.string().min(1).default(defaultSettings.locationTagsParameter),
    })
    .prefault({}),
  dispatcher: having<ClientDispatcher>('dispatch').optional(),
  clock: having<Clock>('now', 'sleep').default(systemClock),
  random: method<Random>().default(() => systemRandom), // where chance comes in, unless it is given
})

/** The options with every default filled in. */
export type ClientConfig = Readonly<z.output<typeof schema>> & {
  /** Scheme, host and port of the service. */
  readonly origin: string
  /** Path of the base URL, without a slash at its end. */
  readonly pathPrefix: string
  readonly token: TokenSource
}

/** @throws {InvalidInput} naming the option and its value; the token's value is in no message. */
export function configure({ baseUrl, token, ...options }: ClientOptions): ClientConfig {
  const address = baseAddress(baseUrl)
  const source = createTokenSource(token)
  const checked = schema.safeParse(options)
  if (!checked.success) throw invalid('option', options, checked.error)
  return { ...checked.data, ...address, token: source }
}

function baseAddress(baseUrl: string | URL): Pick<ClientConfig, 'origin' | 'pathPrefix'> {
  const refuse = (why: string, shown = '') => new InvalidInput(`option baseUrl ${why}${shown}`, { field: 'baseUrl' })
  const text = String(baseUrl)
  if (!URL.canParse(text)) throw refuse('must be a URL', `, got ${JSON.stringify(text.slice(0, 80))}`)
  const url = new URL(text)
  // From here on the address may hold credentials, so it is not repeated.
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('must be http or https', `, got ${url.protocol}`)
  if (url.username !== '' || url.password !== '') throw refuse('must not hold credentials: give the API token as token')
  if (url.search !== '' || url.hash !== '') throw refuse('must have neither query nor fragment')
  return { origin: url.origin, pathPrefix: url.pathname.replace(/\/+$/, '') }
}
