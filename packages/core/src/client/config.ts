import { limits } from '../api/limits.js'
import { defaultSettings, settingsWith, type Settings, type SettingsOption } from '../api/settings.js'
import { systemClock } from '../clock.js'
import { systemRandom } from '../random.js'
import { check, checkMilliseconds, checkNames } from './check.js'
import { InvalidInput } from './errors.js'
import type { ClientOptions } from './options.js'
import type { RetryOptions } from './retry-rules.js'
import { createTokenSource, type TokenSource } from './token.js'

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

/** A rate limit to observe; undefined for none. */
export type Limit = { readonly limit: number; readonly windowMs: number } | undefined

/** The options, validated, with defaults filled in. */
export interface ClientConfig
  extends Readonly<typeof defaults>, Pick<ClientOptions, 'burst' | 'limiter' | 'dispatcher'> {
  /** Scheme, host and port of the service. */
  readonly origin: string
  /** Path of the base URL, without a trailing slash. */
  readonly pathPrefix: string
  readonly token: TokenSource
  readonly limits: Readonly<Record<LimitKey, Limit>>
  readonly retry: RetryOptions
  readonly settings: Settings
}

/** @throws {InvalidInput} naming the option and its value; the token's value is in no message. */
export function configure(options: ClientOptions): ClientConfig {
  if (!isPlain(options)) throw new InvalidInput('createClient needs options: { baseUrl, token }')
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

/** Numbers and lists are refused: they have no unknown names, and would pass as objects without options. */
const isPlain = (options: unknown) => typeof options === 'object' && options !== null && !Array.isArray(options)

function limitsOf(options: NonNullable<ClientOptions['limits']>): ClientConfig['limits'] {
  check(isPlain(options), 'limits', options, 'an object of limits by name')
  checkNames(options, Object.keys(documentedLimits), 'limits.')
  const one = (key: LimitKey): Limit => {
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
  return Object.fromEntries(keys.map((key) => [key, one(key)])) as Record<LimitKey, Limit>
}

function retryOf(options: Partial<RetryOptions>): RetryOptions {
  check(isPlain(options), 'retry', options, 'an object')
  checkNames(options, Object.keys(defaultRetry), 'retry.')
  const retry = filled(options, defaultRetry)
  checkCount('retry.attempts', retry.attempts)
  checkMilliseconds('retry.baseMs', retry.baseMs)
  checkMilliseconds('retry.capMs', retry.capMs)
  return retry
}

function settingsOf(options: SettingsOption): Settings {
  check(isPlain(options), 'settings', options, 'an object')
  checkNames(options, Object.keys(defaultSettings), 'settings.')
  const { valueLimits = {} } = options
  check(isPlain(valueLimits), 'settings.valueLimits', valueLimits, 'an object of limits by name')
  checkNames(valueLimits, Object.keys(defaultSettings.valueLimits), 'settings.valueLimits.')
  for (const [name, bounds] of Object.entries(valueLimits)) {
    const field = `settings.valueLimits.${name}`
    check(isPlain(bounds), field, bounds, '{ min, max }')
    checkNames(bounds ?? {}, ['min', 'max'], `${field}.`)
  }
  const settings = settingsWith(options)
  for (const [name, { min, max }] of Object.entries(settings.valueLimits)) {
    check(isNumber(min), `settings.valueLimits.${name}.min`, min, 'a number')
    check(isNumber(max) && max >= min, `settings.valueLimits.${name}.max`, max, 'a number, not below min')
  }
  const { valueLimits: _, ...names } = settings
  for (const [name, value] of Object.entries(names))
    check(typeof value === 'string' && value !== '', `settings.${name}`, value, 'a text')
  const { createDeploymentPath: path } = settings
  check(/^\/[\w\-.~/]*$/.test(path), 'settings.createDeploymentPath', path, 'a path')
  return settings
}

const isNumber = (value: unknown) => typeof value === 'number' && !Number.isNaN(value)

function baseAddress(baseUrl: string | URL): Pick<ClientConfig, 'origin' | 'pathPrefix'> {
  // The URL may hold credentials, so no part of it is shown: in `user:password@host`, even the scheme is the user.
  const refuse = (why: string) => new InvalidInput(`option baseUrl ${why}`, { field: 'baseUrl' })
  check(URL.canParse(String(baseUrl)), 'baseUrl', baseUrl, 'a URL')
  const url = new URL(baseUrl)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refuse('must be http or https')
  if (url.username !== '' || url.password !== '') throw refuse('must not hold credentials: give the API token as token')
  if (url.search !== '' || url.hash !== '') throw refuse('must have neither query nor fragment')
  return { origin: url.origin, pathPrefix: url.pathname.replace(/\/+$/, '') }
}

/** Returns the options over the defaults. An option that is undefined counts as not given. */
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
