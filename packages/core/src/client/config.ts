import { limits } from '../api/documented-limits.js'
import { defaultSettings, type Settings, type SettingsOption, settingsWith } from '../api/settings.js'
import { isObject } from '../is-object.js'
import type { RateLimit } from '../operation.js'
import type { Limiter } from '../rate-limit/index.js'
import { scrub } from '../redact.js'
import { type Clock, type Random, systemClock, systemRandom } from '../time.js'
import { didYouMean } from '../nearest-name.js'
import { type CallFacts, InvalidInput, Unauthorized } from './errors.js'
import type { RetryOptions } from './retry.js'
import type { ClientDispatcher } from './transport.js'

/**
 * Validates an option. The error names the option. It names the value only if a value of this type cannot be a secret.
 */
function check(holds: boolean, option: string, value: unknown, wanted: string): void {
  if (!holds)
    throw new InvalidInput(`option ${option} must be ${wanted}, not ${shown(value, wanted)}`, { field: option })
}

/** Rejects unknown names, because a misspelt option would have no effect. */
function checkNames(options: object, known: readonly string[], within = ''): void {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    const field = `${within}${name}`
    throw new InvalidInput(`option ${field} is not known${didYouMean(name, known)}`, { field })
  }
}

/** Validates a duration in milliseconds. The maximum is what setTimeout can wait, about 24 days. */
export function checkMilliseconds(option: string, value: unknown, least = 0): void {
  check(
    typeof value === 'number' && value >= least && value < 2 ** 31,
    option,
    value,
    `a number of milliseconds from ${least}`,
  )
}

function shown(value: unknown, wanted: string): string {
  // Strings are not shown, because a caller may have put the token into the wrong option, even into the address.
  if (typeof value === 'string')
    return wanted === 'a text' || wanted === 'a path' ? JSON.stringify(scrub(value.slice(0, 80))) : 'a text'
  return typeof value === 'object' && value !== null
    ? 'an object'
    : typeof value === 'function'
      ? 'a function'
      : String(value)
}

/**
 * The account's secret, or a function that returns it. The function is called before every attempt, so that the token
 * can be rotated. It should cache the token.
 */
export type Token = string | (() => string | Promise<string>)

/** Returns the current token for a call. An error includes the facts of the call. */
export type TokenSource = (call: TokenUser) => string | Promise<string>

/** A call that needs a token. */
interface TokenUser {
  facts(): CallFacts
}

/** True if a token can be sent in a header. Its form is not checked further, because it is not documented. */
const sendable = (token: unknown): token is string => typeof token === 'string' && /^[\x21-\x7e]+$/.test(token)
/** Returns the token without the prefix `token`, with which dashboards show it (public fact). */
export const bareToken = <T>(token: T) => (typeof token === 'string' ? token.replace(/^token +(?=\S)/i, '') : token)

/**
 * Creates the source of the current token. It removes the prefix `token`, with which dashboards show tokens.
 * @throws {InvalidInput} synchronously, for a token that is missing, empty or cannot be sent. No message contains its
 *   value.
 */
export function createTokenSource(token: Token): TokenSource {
  if (typeof token === 'function') return (call) => askFor(token, call)
  const given = bareToken(token)
  if (!sendable(given)) {
    const what =
      token === undefined || token === null
        ? 'missing'
        : token === ''
          ? 'empty'
          : 'not a string that an HTTP header may contain'
    throw new InvalidInput(
      `option token is ${what}: give the account's API token, or an async function that returns it`,
      {
        field: 'token',
      },
    )
  }
  return () => given
}

async function askFor(provide: () => string | Promise<string>, call: TokenUser): Promise<string> {
  let token: unknown
  try {
    token = bareToken(await provide())
  } catch (cause) {
    throw new Unauthorized(`${call.facts().operation}: the token function failed`, { ...call.facts(), cause })
  }
  if (!sendable(token))
    throw new Unauthorized(
      `${call.facts().operation}: the token function must return a string that an HTTP header may contain`,
      call.facts(),
    )
  return token
}

/** A rate limit that replaces a documented one; null for none. */
export type LimitOption = { readonly limit: number; readonly windowMs?: number | undefined } | null

export interface ClientOptions {
  /** Address of the service, http or https. Its path is a prefix of every operation's path. */
  readonly baseUrl: string | URL
  /** The account's API token, or a function that returns it and is called before every attempt. */
  readonly token: Token
  /**
   * Milliseconds that a call may take, including queueing and retries. Default 30,000, which is enough for 1,200
   * simultaneous creates.
   */
  readonly timeoutMs?: number | undefined
  /**
   * This process's share of the account's rate limits, more than 0 and at most 1. Default 1. The shares of all
   * processes must not add up to more than 1.
   */
  readonly share?: number | undefined
  /**
   * Rate limits that replace the documented limits. `other` is the limit of operations without a documented limit
   * (default none). `windowMs` defaults to 1000.
   */
  readonly limits?: { readonly [Name in keyof typeof limits | 'other']?: LimitOption | undefined } | undefined
  /** Maximum number of calls that may start at one moment, for each limit. Default: the limit. */
  readonly burst?: number | undefined
  /**
   * Maximum difference in milliseconds between the delays of two requests on their way to the service. Default 50. Used
   * only while the service responds slowly: then a request counts as received before its response comes.
   */
  readonly jitterMs?: number | undefined
  /**
   * Creates the limiter of each limit. `createRedisLimits` of `@muster/redis` creates limiters that several processes
   * share. Default: `createBucket`, for this process. With another limiter, `share` and `burst` have no effect.
   */
  readonly limiter?: ((limit: RateLimit) => Limiter) | undefined
  /** Maximum number of concurrent calls, for each limit. Default 256; never more than `connections`. */
  readonly maxInFlight?: number | undefined
  /**
   * Maximum number of connections for each rate limit, for other reads, and for other changes. Default 128. They are
   * separate so that slow calls of one kind do not delay calls of another kind.
   */
  readonly connections?: number | undefined
  /** Maximum size of a response in bytes. Default 16 MiB. */
  readonly maxResponseBytes?: number | undefined
  /**
   * Attempts of a request that is safe to repeat, and the waits between them in milliseconds. Default `{ attempts: 4,
   * baseMs: 200, capMs: 5000 }`.
   */
  readonly retry?: Partial<RetryOptions> | undefined
  /** Maximum pause in milliseconds that a Retry-After can impose. Default 60,000. */
  readonly maxRetryAfterMs?: number | undefined
  /** Milliseconds for which locations and beacons are cached. Default 300,000; 0 for no cache. */
  readonly cacheTtlMs?: number | undefined
  /**
   * Settings for the points that the specification leaves open, e.g. `{ valueLimits: { maxDuration: { max: 2880 } } }`;
   * see `Settings`.
   */
  readonly settings?: SettingsOption | undefined
  /**
   * undici dispatcher that replaces the client's own pools, e.g. for a proxy, or `inProcess` in tests. All requests
   * share its connections. Closing the client does not close it.
   */
  readonly dispatcher?: ClientDispatcher | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
}

const defaults = {
  timeoutMs: 30_000,
  share: 1,
  jitterMs: 50,
  maxInFlight: 256,
  connections: 128,
  maxResponseBytes: 16 * 2 ** 20,
  maxRetryAfterMs: 60_000,
  cacheTtlMs: 300_000,
  clock: systemClock,
  random: systemRandom,
}
const defaultRetry: RetryOptions = { attempts: 4, baseMs: 200, capMs: 5000 }
const documentedLimits = { ...limits, other: undefined }
const otherOptions = ['baseUrl', 'token', 'limits', 'burst', 'limiter', 'retry', 'settings', 'dispatcher']

type LimitKey = keyof typeof documentedLimits

/** A rate limit in effect; undefined for none. */
type EffectiveLimit = { readonly limit: number; readonly windowMs: number } | undefined

/** The validated options with all defaults. */
export interface ClientConfig
  extends Readonly<typeof defaults>, Pick<ClientOptions, 'burst' | 'limiter' | 'dispatcher'> {
  /** Scheme, host and port of the service. */
  readonly origin: string
  /** Path of the base URL, without a trailing slash. */
  readonly pathPrefix: string
  readonly token: TokenSource
  readonly limits: Readonly<Record<LimitKey, EffectiveLimit>>
  readonly retry: RetryOptions
  readonly settings: Settings
}

/**
 * Validates the client's options and fills in their defaults.
 * @throws {InvalidInput} naming the option and its value; no message contains the token's value.
 */
export function configure(options: ClientOptions): ClientConfig {
  if (!isObject(options)) throw new InvalidInput('createClient needs options: { baseUrl, token }')
  checkNames(options, [...Object.keys(defaults), ...otherOptions])
  const config: ClientConfig = {
    ...filled(options, defaults),
    burst: options.burst,
    limiter: options.limiter,
    dispatcher: options.dispatcher,
    ...baseAddress(options.baseUrl),
    token: createTokenSource(options.token),
    limits: limitsOf(options.limits === undefined ? {} : options.limits),
    retry: retryOf(options.retry === undefined ? {} : options.retry),
    settings: settingsOf(options.settings === undefined ? {} : options.settings),
  }
  checkMilliseconds('timeoutMs', config.timeoutMs, 1)
  check(
    typeof config.share === 'number' && config.share > 0 && config.share <= 1,
    'share',
    config.share,
    'a number above 0 and up to 1',
  )
  checkCount('maxInFlight', config.maxInFlight)
  checkCount('connections', config.connections)
  checkCount('maxResponseBytes', config.maxResponseBytes)
  checkMilliseconds('maxRetryAfterMs', config.maxRetryAfterMs)
  checkMilliseconds('cacheTtlMs', config.cacheTtlMs)
  if (config.burst !== undefined) checkCount('burst', config.burst)
  checkMilliseconds('jitterMs', config.jitterMs)
  checkFunctions('clock', config.clock, 'now', 'sleep')
  check(typeof config.random === 'function', 'random', config.random, 'a function')
  check(config.limiter === undefined || typeof config.limiter === 'function', 'limiter', config.limiter, 'a function')
  if (config.dispatcher !== undefined) checkFunctions('dispatcher', config.dispatcher, 'dispatch')
  return config
}

function limitsOf(options: NonNullable<ClientOptions['limits']>): ClientConfig['limits'] {
  // Numbers and lists have no names, so they would pass the check for unknown names.
  check(isObject(options), 'limits', options, 'an object of limits by name')
  checkNames(options, Object.keys(documentedLimits), 'limits.')
  const one = (key: LimitKey): EffectiveLimit => {
    const option = options[key]
    if (option === undefined) return documentedLimits[key]
    if (option === null) return undefined
    check(typeof option === 'object', `limits.${key}`, option, '{ limit, windowMs } or null')
    checkNames(option, ['limit', 'windowMs'], `limits.${key}.`)
    const { limit, windowMs = 1000 } = option
    checkCount(`limits.${key}.limit`, limit)
    checkMilliseconds(`limits.${key}.windowMs`, windowMs, 1)
    return { limit, windowMs }
  }
  const keys = Object.keys(documentedLimits) as LimitKey[]
  return Object.fromEntries(keys.map((key) => [key, one(key)])) as Record<LimitKey, EffectiveLimit>
}

function retryOf(options: Partial<RetryOptions>): RetryOptions {
  check(isObject(options), 'retry', options, 'an object')
  checkNames(options, Object.keys(defaultRetry), 'retry.')
  const retry = filled(options, defaultRetry)
  checkCount('retry.attempts', retry.attempts)
  checkMilliseconds('retry.baseMs', retry.baseMs)
  checkMilliseconds('retry.capMs', retry.capMs)
  return retry
}

function settingsOf(options: SettingsOption): Settings {
  check(isObject(options), 'settings', options, 'an object')
  checkNames(options, Object.keys(defaultSettings), 'settings.')
  const { valueLimits = {} } = options
  check(isObject(valueLimits), 'settings.valueLimits', valueLimits, 'an object of limits by name')
  checkNames(valueLimits, Object.keys(defaultSettings.valueLimits), 'settings.valueLimits.')
  for (const [name, bounds] of Object.entries(valueLimits)) {
    if (bounds === undefined) continue
    const field = `settings.valueLimits.${name}`
    check(isObject(bounds), field, bounds, '{ min, max }')
    checkNames(bounds, ['min', 'max'], `${field}.`)
  }
  const settings = settingsWith(options)
  for (const [name, { min, max }] of Object.entries(settings.valueLimits)) {
    check(isNumber(min), `settings.valueLimits.${name}.min`, min, 'a number')
    check(isNumber(max) && max >= min, `settings.valueLimits.${name}.max`, max, 'a number, not below min')
  }
  const { valueLimits: _, fillRequired, ...names } = settings
  check(typeof fillRequired === 'boolean', 'settings.fillRequired', fillRequired, 'true or false')
  for (const [name, value] of Object.entries(names))
    check(typeof value === 'string' && value !== '', `settings.${name}`, value, 'a text')
  const { createDeploymentPath: path } = settings
  check(/^\/[\w\-.~/]*$/.test(path), 'settings.createDeploymentPath', path, 'a path')
  return settings
}

const isNumber = (value: unknown) => typeof value === 'number' && !Number.isNaN(value)

function baseAddress(baseUrl: string | URL): Pick<ClientConfig, 'origin' | 'pathPrefix'> {
  // The URL may hold credentials, so no part of it is shown. In `user:password@host`, even the apparent scheme is the
  // user.
  const invalidBaseUrl = (why: string) => new InvalidInput(`option baseUrl ${why}`, { field: 'baseUrl' })
  check(URL.canParse(String(baseUrl)), 'baseUrl', baseUrl, 'a URL')
  const url = new URL(baseUrl)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw invalidBaseUrl('must be http or https')
  if (url.username !== '' || url.password !== '')
    throw invalidBaseUrl('must not hold credentials: give the API token as token')
  if (url.search !== '' || url.hash !== '') throw invalidBaseUrl('must have neither query nor fragment')
  return { origin: url.origin, pathPrefix: url.pathname.replace(/\/+$/, '') }
}

/** Returns the options over the defaults. An undefined option counts as absent. */
function filled<T extends object>(options: { readonly [Name in keyof T]?: T[Name] | undefined }, without: T): T {
  const given = (Object.keys(without) as (keyof T)[]).filter((name) => options[name] !== undefined)
  return { ...without, ...Object.fromEntries(given.map((name) => [name, options[name]])) }
}

const checkCount = (option: string, value: unknown) =>
  check(Number.isSafeInteger(value) && Number(value) >= 1, option, value, 'a whole number from 1')

const checkFunctions = (option: string, value: object, ...names: readonly string[]) =>
  check(
    names.every((name) => typeof Reflect.get(Object(value), name) === 'function'),
    option,
    value,
    `an object with ${names.join(' and ')}`,
  )
