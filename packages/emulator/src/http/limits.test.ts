import { describe, expect, test } from 'vitest'
import { started, type Call } from '../emulator.fixture.js'

/** Sends `count` simultaneous requests for the deployment list, which allows 10 per second. Returns their statuses. */
const burst = async (call: Call, count: number) =>
  (await Promise.all(Array.from({ length: count }, () => call('GET', '/v1/deployments')))).map(({ status }) => status)

const rejected = (statuses: readonly number[]) => statuses.filter((status) => status === 429).length

test('the documented rate limits are enforced, and refusals are counted by limit', async () => {
  const { call, emulator } = started()
  expect(rejected(await burst(call, 13))).toBe(3)
  for (let request = 0; request < 25; request++) await call('GET', '/v1/status/none')
  for (let request = 0; request < 50; request++) await call('POST', '/deployments', {})
  for (let request = 0; request < 50; request++) await call('POST', '/v1/deploy', {})
  expect(emulator.counters.rejected).toEqual({
    listDeployments: 3,
    status: 5,
    createDeployment: 10,
    legacyDeploy: 10,
  })
  expect(emulator.counters.requests['deployments.list']).toEqual({ 200: 10, 429: 3 })
})

test('operations without a documented limit have no rate limit, and all limits can be turned off', async () => {
  const { call } = started()
  for (let request = 0; request < 100; request++) expect((await call('GET', '/v1/apps')).status).toBe(200)
  expect(rejected(await burst(started({ limits: false }).call, 50))).toBe(0)
})

test('rate limits count in real time at any speed of the emulator', async () => {
  const { call, clock } = started({ speed: 100 })
  await burst(call, 10)
  await clock.advance(999)
  expect(rejected(await burst(call, 1))).toBe(1)
  await clock.advance(1)
  expect(rejected(await burst(call, 11))).toBe(1)
})

test('requests with a wrong token do not count against a rate limit', async () => {
  const { call } = started()
  for (let request = 0; request < 20; request++)
    await call('GET', '/v1/deployments', undefined, { authorization: 'token wrong' })
  expect(rejected(await burst(call, 10))).toBe(0)
})

describe('algorithms of the limits', () => {
  test('a fixed-window limit allows twice the limit around its end', async () => {
    const { call, clock } = started({ limits: { algorithm: 'fixed window' } })
    await clock.advance(999)
    expect(rejected(await burst(call, 10))).toBe(0)
    await clock.advance(1)
    expect(rejected(await burst(call, 10))).toBe(0)
  })

  test('a token-bucket limit refills evenly', async () => {
    const { call, clock } = started({ limits: { algorithm: 'token bucket' } })
    await burst(call, 10)
    await clock.advance(300)
    expect(rejected(await burst(call, 5))).toBe(2)
  })
})

describe('the Retry-After of a 429', () => {
  test('the Retry-After of a 429 is in seconds, rounded up', async () => {
    const { call, clock } = started()
    await burst(call, 10)
    await clock.advance(100)
    const { headers, body } = await call('GET', '/v1/deployments')
    expect(headers.get('retry-after')).toBe('1')
    expect(body).toEqual({ message: 'too many requests: listDeployments' })
  })

  test('the Retry-After of a 429 can be a date, which is not too early', async () => {
    const { call, clock } = started({ limits: { retryAfter: 'date' } })
    await clock.advance(500)
    await burst(call, 10)
    expect((await call('GET', '/v1/deployments')).headers.get('retry-after')).toBe('Thu, 01 Jan 2026 00:00:02 GMT')
  })

  test('the Retry-After of a 429 can be missing, with a body that is not JSON', async () => {
    const { call } = started({ limits: { retryAfter: false, body: 'text' } })
    await burst(call, 10)
    const { headers, body, status } = await call('GET', '/v1/deployments')
    expect([status, headers.get('retry-after'), body]).toEqual([429, null, 'Too Many Requests'])
  })
})
