import { expect, test } from 'vitest'
import { type ClientOptions, configure } from './config.js'

const least = { baseUrl: 'https://service.example', token: 'secret-token' }
/** Validates options without their types, as JavaScript callers may pass them. */
const given = (options: object) => configure({ ...least, ...options } as ClientOptions)

test('every client option has a default except baseUrl and token', () => {
  expect(configure(least)).toMatchObject({
    origin: 'https://service.example',
    pathPrefix: '',
    timeoutMs: 30_000,
    share: 1,
    limits: {
      createDeployment: { limit: 40, windowMs: 1000 },
      status: { limit: 20, windowMs: 1000 },
      listDeployments: { limit: 10, windowMs: 1000 },
      legacyDeploy: { limit: 40, windowMs: 1000 },
      other: undefined,
    },
    retry: { attempts: 4, baseMs: 200, capMs: 5000 },
    settings: { createDeploymentPath: '/deployments' },
  })
})

test('a given client option replaces its default, unless the given value is undefined', () => {
  const config = given({
    baseUrl: new URL('http://127.0.0.1:8080/api/'),
    timeoutMs: 5,
    share: undefined,
    limits: {
      status: null,
      other: { limit: 5 },
      listDeployments: { limit: 1, windowMs: 100 },
      createDeployment: undefined,
    },
    retry: { attempts: 1, capMs: undefined },
    settings: { createDeploymentPath: '/v2/deployments', valueLimits: { port: undefined, appName: { min: 1 } } },
  })
  expect(config).toMatchObject({
    origin: 'http://127.0.0.1:8080',
    pathPrefix: '/api',
    timeoutMs: 5,
    share: 1,
    limits: {
      status: undefined,
      other: { limit: 5, windowMs: 1000 },
      listDeployments: { limit: 1, windowMs: 100 },
      createDeployment: { limit: 40 },
    },
    retry: { attempts: 1, baseMs: 200, capMs: 5000 },
    settings: {
      createDeploymentPath: '/v2/deployments',
      deploymentQueryParameter: 'query',
      valueLimits: { port: { min: 0, max: 59_999 }, appName: { min: 1, max: 64 } },
    },
  })
})

test.each([
  [{ baseUrl: 'not a url' }, 'baseUrl', 'option baseUrl must be a URL, not a text'],
  [{ baseUrl: undefined }, 'baseUrl', 'option baseUrl must be a URL, not undefined'],
  [{ baseUrl: 'ftp://service.example' }, 'baseUrl', 'option baseUrl must be http or https'],
  [{ baseUrl: 'https://service.example?a=1' }, 'baseUrl', 'option baseUrl must have neither query nor fragment'],
  [{ token: '' }, 'token', "option token is empty: give the account's API token, or an async function that returns it"],
  [{ timeoutMs: 0 }, 'timeoutMs', 'option timeoutMs must be a number of milliseconds from 1, not 0'],
  [{ timeoutMs: Number.NaN }, 'timeoutMs', 'option timeoutMs must be a number of milliseconds from 1, not NaN'],
  [{ timeoutMs: '5' }, 'timeoutMs', 'option timeoutMs must be a number of milliseconds from 1, not a text'],
  [
    { cacheTtlMs: Number.POSITIVE_INFINITY },
    'cacheTtlMs',
    'option cacheTtlMs must be a number of milliseconds from 0, not Infinity',
  ],
  [{ share: 1.5 }, 'share', 'option share must be a number above 0 and up to 1, not 1.5'],
  [{ maxInFlight: 0.5 }, 'maxInFlight', 'option maxInFlight must be a whole number from 1, not 0.5'],
  [{ connections: null }, 'connections', 'option connections must be a whole number from 1, not null'],
  [{ burst: 0 }, 'burst', 'option burst must be a whole number from 1, not 0'],
  [{ jitterMs: -1 }, 'jitterMs', 'option jitterMs must be a number of milliseconds from 0, not -1'],
  [{ limiter: {} }, 'limiter', 'option limiter must be a function, not an object'],
  [{ clock: {} }, 'clock', 'option clock must be an object with now and sleep, not an object'],
  [{ dispatcher: 'x' }, 'dispatcher', 'option dispatcher must be an object with dispatch, not a text'],
  [{ random: 4 }, 'random', 'option random must be a function, not 4'],
  [
    { limits: { status: { limit: 0 } } },
    'limits.status.limit',
    'option limits.status.limit must be a whole number from 1, not 0',
  ],
  [{ limits: { status: 5 } }, 'limits.status', 'option limits.status must be { limit, windowMs } or null, not 5'],
  [{ limits: { satus: { limit: 1 } } }, 'limits.satus', 'option limits.satus is not known; did you mean status?'],
  [{ retry: { attempts: 0 } }, 'retry.attempts', 'option retry.attempts must be a whole number from 1, not 0'],
  [{ retry: 5 }, 'retry', 'option retry must be an object, not 5'],
  [{ limits: 5 }, 'limits', 'option limits must be an object of limits by name, not 5'],
  [{ limits: null }, 'limits', 'option limits must be an object of limits by name, not null'],
  [{ retry: { tries: 1 } }, 'retry.tries', 'option retry.tries is not known'],
  [
    { settings: { createDeploymentPath: 'v2' } },
    'settings.createDeploymentPath',
    'option settings.createDeploymentPath must be a path, not "v2"',
  ],
  [
    { settings: { deploymentQueryParameter: '' } },
    'settings.deploymentQueryParameter',
    'option settings.deploymentQueryParameter must be a text, not ""',
  ],
  [{ timeout: 5 }, 'timeout', 'option timeout is not known; did you mean timeoutMs?'],
])('createClient refuses the options %j, naming the invalid option and its value', (options, field, message) => {
  expect(() => given(options)).toThrow(expect.objectContaining({ name: 'InvalidInput', field, message }))
})

test.each([undefined, null, 'https://service.example', []])(
  'createClient(%j) fails with the names of the required options',
  (options) => {
    const create = () => configure(options as unknown as ClientOptions)
    expect(create).toThrow(
      expect.objectContaining({ name: 'InvalidInput', message: 'createClient needs options: { baseUrl, token }' }),
    )
  },
)

test.each([
  [{ settings: 5 }, 'settings'],
  [{ settings: null }, 'settings'],
  [{ clock: null }, 'clock'],
  [{ dispatcher: null }, 'dispatcher'],
  [{ limiter: null }, 'limiter'],
  [{ baseUrl: undefined }, 'baseUrl'],
])('createClient refuses the options %j, naming the invalid option', (options, field) => {
  expect(() => given(options)).toThrow(expect.objectContaining({ name: 'InvalidInput', field }))
})

test('a string given instead of the client options, which may be the token, is in no error message', () => {
  const options = [
    'baseUrl',
    'timeoutMs',
    'share',
    'limits',
    'burst',
    'jitterMs',
    'limiter',
    'maxInFlight',
    'connections',
    'maxResponseBytes',
  ]
  for (const option of [
    ...options,
    'retry',
    'maxRetryAfterMs',
    'cacheTtlMs',
    'settings',
    'dispatcher',
    'clock',
    'random',
  ]) {
    const create = () => given({ [option]: 'secret-token' })
    expect(create, option).toThrow(expect.objectContaining({ name: 'InvalidInput', field: option }))
    expect(create, option).not.toThrow(/secret-token/)
  }
})

test('no error message about client options shows the token or the credentials of the URL', () => {
  for (const options of [
    { baseUrl: 'https://user:secret-password@service.example' },
    { baseUrl: 'https://:secret-password@service.example/?x' },
    { baseUrl: 'secret-user:secret-password@service.example' },
    { baseUrl: 'https//user:secret-password@service.example' },
    { baseUrl: 'https://user:secret-password@' },
    { baseUrl: 'secret-password' },
    { token: 'secret-token\n' },
    { token: 'secret-token', timeoutMs: -1 },
  ]) {
    expect(() => given(options)).toThrow()
    expect(() => given(options)).not.toThrow(/secret/)
  }
})
