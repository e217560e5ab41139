import { inspect } from 'node:util'
import { describe, expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import { Forbidden, InvalidInput, NotFound, TimedOut } from './errors.js'
import { selfStop } from './self-stop.js'
import { answer, serve } from './server.fixture.js'

const token = 'raw-Delete.token_4711'
/** Makes the random delays between attempts zero. */
const random = () => 0
const environmentOf = (url: string) => ({
  SERVICE_DELETE_URL: `${url}/v1/self/stop/abc/42`,
  SERVICE_DELETE_TOKEN: token,
  SERVICE_REQUEST_ID: 'abc',
})
const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable('it stopped'),
    (error: unknown) => error,
  )

describe('the request of selfStop', () => {
  test('selfStop sends a DELETE to the injected URL with the injected token unchanged', async () => {
    const server = await serve((_, response) => answer(response, 202, { message: 'it ends' }))
    expect(await selfStop({ environment: environmentOf(server.url) })).toEqual({ message: 'it ends' })
    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]).toMatchObject({
      method: 'DELETE',
      url: '/v1/self/stop/abc/42',
      headers: { authorization: token },
      body: '',
    })
  })

  test('selfStop keeps a token of two words unchanged', async () => {
    const server = await serve((_, response) => answer(response, 200, {}))
    await selfStop({ environment: { ...environmentOf(server.url), SERVICE_DELETE_TOKEN: `Basic ${token}` } })
    expect(server.requests[0]?.headers.authorization).toBe(`Basic ${token}`)
  })

  test.each([
    [true, undefined, 'container_log_storage=true'],
    [false, undefined, 'container_log_storage=false'],
    ['my bucket&a=b', undefined, 'container_log_storage=my+bucket%26a%3Db'],
    ['logs', { containerLogStorageParameter: 'storage' }, 'storage=logs'],
  ])('selfStop sends its option containerLogStorage %j in the query', async (containerLogStorage, settings, query) => {
    const server = await serve((_, response) => answer(response, 200, {}))
    await selfStop({ environment: environmentOf(server.url), containerLogStorage, settings })
    expect(server.requests.map(({ url }) => url)).toEqual([`/v1/self/stop/abc/42?${query}`])
  })

  test('selfStop keeps the path and query of the URL, even from variables with another prefix', async () => {
    const server = await serve((_, response) => answer(response, 200, {}))
    const environment = { HOSTING_DELETE_URL: `${server.url}/base/a%2Fb?x=1`, HOSTING_DELETE_TOKEN: token }
    await selfStop({ environment, prefix: 'HOSTING', containerLogStorage: true })
    expect(server.requests.map(({ url }) => url)).toEqual(['/base/a%2Fb?x=1&container_log_storage=true'])
  })
})

test.each([
  ['ARBITRIUM', { ARBITRIUM_REQUEST_ID: 'abc' }],
  ['ACME', { MUSTER_SERVICE_PREFIX: 'ACME', SERVICE_REQUEST_ID: 'abc' }],
])('selfStop uses the variable prefix %s', async (prefix, more) => {
  const server = await serve((_, response) => answer(response, 200, {}))
  const variables = { [`${prefix}_DELETE_URL`]: `${server.url}/stop/abc`, [`${prefix}_DELETE_TOKEN`]: token }
  await selfStop({ environment: { ...variables, ...more } })
  expect(server.requests.map(({ url }) => url)).toEqual(['/stop/abc'])
})

describe('the outcome of selfStop', () => {
  test('selfStop succeeds if the deployment is already terminated', async () => {
    for (const [status, message] of [
      [410, 'gone'],
      [400, 'Instance Already terminated'],
    ] as const) {
      const server = await serve((_, response) => answer(response, status, { message: `${message} for ${token}` }))
      const stopped = await selfStop({ environment: environmentOf(server.url) })
      expect(stopped.message).toContain(message)
      expect(stopped.message).not.toContain(token)
      expect(server.requests).toHaveLength(1)
    }
  })

  test('selfStop succeeds after lost answers and failures of the service', async () => {
    const server = await serve((_, response, nth) => {
      if (nth === 1) response.destroy()
      else if (nth === 2) answer(response, 503, { message: 'later' })
      else answer(response, 200, { message: 'it ends' })
    })
    expect(await selfStop({ environment: environmentOf(server.url), random })).toEqual({ message: 'it ends' })
    expect(server.requests).toHaveLength(3)
    expect(new Set(server.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([token]))
  })

  test.each([404, 410])(
    'selfStop succeeds on %i after a lost answer, since the first try stopped the deployment',
    async (status) => {
      const server = await serve((_, response, nth) =>
        nth === 1 ? response.destroy() : answer(response, status, { message: 'not there' }),
      )
      const stopped = await selfStop({ environment: environmentOf(server.url), random })
      expect(stopped).toMatchObject({ message: expect.stringContaining('not there') })
      expect(server.requests).toHaveLength(2)
    },
  )
})

describe('a failure of selfStop', () => {
  test.each([
    [403, Forbidden],
    [404, NotFound],
    [400, InvalidInput],
  ])('selfStop fails after a %i, without showing the token', async (status, type) => {
    const server = await serve((_, response) => answer(response, status, { message: `no use for ${token}` }))
    const error = await failure(selfStop({ environment: environmentOf(server.url) }))
    expect(error).toBeInstanceOf(type)
    expect(error).toMatchObject({ operation: 'deployments.selfStop', requestId: 'abc', status })
    expect(inspect(error)).not.toContain(token)
    expect(server.requests).toHaveLength(1)
  })

  test('selfStop times out at its deadline if the service never answers', async () => {
    const clock = createManualClock()
    const server = await serve(() => void clock.advance(30_000))
    const error = await failure(selfStop({ environment: environmentOf(server.url), clock }))
    expect(error).toBeInstanceOf(TimedOut)
    expect(error).toMatchObject({ timeoutMs: 30_000, inFlightMs: 30_000, sent: true })
    expect(inspect(error)).not.toContain(token)
  })

  test('selfStop rejects at once on an abort, with the reason', async () => {
    const abort = new AbortController()
    const server = await serve(() => abort.abort('enough'))
    await expect(selfStop({ environment: environmentOf(server.url), signal: abort.signal })).rejects.toBe('enough')
    await expect(selfStop({ environment: environmentOf(server.url), signal: abort.signal })).rejects.toBe('enough')
    expect(server.requests).toHaveLength(1)
  })
})

describe('selfStop outside a container', () => {
  const url = 'http://service.invalid/v1/self/stop/abc/private-42'

  test.each([
    ['no variables', {}, 'SERVICE_DELETE_URL'],
    ['no URL', { SERVICE_DELETE_TOKEN: token }, 'SERVICE_DELETE_URL'],
    ['an empty URL', { SERVICE_DELETE_URL: '', SERVICE_DELETE_TOKEN: token }, 'SERVICE_DELETE_URL'],
    ['no token', { SERVICE_DELETE_URL: url }, 'SERVICE_DELETE_TOKEN'],
    ['an empty token', { SERVICE_DELETE_URL: url, SERVICE_DELETE_TOKEN: '' }, 'SERVICE_DELETE_TOKEN'],
    [
      'a value that is not a URL',
      { SERVICE_DELETE_URL: 'private-42', SERVICE_DELETE_TOKEN: token },
      'SERVICE_DELETE_URL',
    ],
    ['another scheme', { SERVICE_DELETE_URL: 'file:///private-42', SERVICE_DELETE_TOKEN: token }, 'SERVICE_DELETE_URL'],
    [
      'a token that no header can hold',
      { SERVICE_DELETE_URL: url, SERVICE_DELETE_TOKEN: `${token}\r\nx: y` },
      'SERVICE_DELETE_TOKEN',
    ],
  ])(
    'selfStop outside a container fails with the name of the missing variable and no value: %s',
    async (_, environment, field) => {
      const error = await failure(selfStop({ environment }))
      expect(error).toBeInstanceOf(InvalidInput)
      expect(error).toMatchObject({ operation: 'deployments.selfStop', field, message: expect.stringContaining(field) })
      expect(inspect(error)).not.toMatch(/private-42|4711/)
    },
  )

  test('selfStop reads the variables of the process by default', async () => {
    expect(await failure(selfStop({ prefix: 'MUSTER_TEST_NOWHERE' }))).toMatchObject({
      field: 'MUSTER_TEST_NOWHERE_DELETE_URL',
    })
  })
})
