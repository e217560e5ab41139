import { operations } from '@muster/core/api'
import { expect, test } from 'vitest'
import { createEmulator } from './emulator.js'
import { started, version } from './emulator.fixture.js'
import type { EmulatorOptions } from './options.js'

test('every operation requires a token', async () => {
  const { emulator } = started()
  for (const [id, { method, path }] of operations) {
    const target = `http://emulator.invalid${path.replaceAll(/\{\w+\}/g, 'x')}`
    const missing = await emulator.fetch(new Request(target, { method }))
    expect([id, missing.status, await missing.json()]).toEqual([
      id,
      401,
      { message: 'the Authorization header is missing' },
    ])
  }
})

test.each(['token wrong', 'Bearer dev', 'dev', 'token  dev', 'Token dev'])(
  '%j is not the token',
  async (authorization) => {
    const { call } = started()
    const { status, body } = await call('GET', '/v1/apps', undefined, { authorization })
    expect(status).toBe(401)
    expect(JSON.stringify(body)).not.toContain('wrong')
  },
)

test('the token is an option', async () => {
  const { call } = started({ token: 'other' })
  expect((await call('GET', '/v1/apps')).status).toBe(401)
  expect((await call('GET', '/v1/apps', undefined, { authorization: 'token other' })).status).toBe(200)
})

test('there is no default token with launch', () => {
  const launch = () => undefined
  expect(() => createEmulator({ launch })).toThrow(/^option token: is required with launch/)
  expect(() => createEmulator({ launch, token: 'one of ours' })).toThrow(/^option token: must be visible ASCII/)
  expect(() => createEmulator({ launch, token: 'of-ours' })).not.toThrow()
})

test('an unknown path is 404, and an unknown method 405 with the allowed methods', async () => {
  const { call, emulator } = started()
  expect(await call('GET', '/v1/nothing')).toMatchObject({ status: 404, body: { message: expect.any(String) } })
  const wrong = await call('PUT', '/v1/app/arena')
  expect(wrong.status).toBe(405)
  expect(wrong.headers.get('allow')).toBe('DELETE, GET, PATCH')
  expect(emulator.counters.unrouted).toBe(2)
})

test('input that does not fit the description is 400, naming the field', async () => {
  const { call } = started()
  expect(await call('POST', '/v1/app', { name: 'ab' })).toMatchObject({
    status: 400,
    body: { message: 'name: must have at least 3 characters, got "ab"' },
  })
  expect((await call('POST', '/v1/app', 'not JSON')).status).toBe(400)
})

test('a body that is too large is 413', async () => {
  const { call } = started({ maxBodyBytes: 100 })
  expect((await call('POST', '/v1/app', { name: 'arena', image: 'QUFB'.repeat(30) })).status).toBe(413)
  expect((await call('POST', '/v1/app', { name: 'arena', image: 'QUFB'.repeat(10) })).status).toBe(200)
})

test('requests are counted by operation and status', async () => {
  const { call, emulator } = started()
  await call('GET', '/v1/apps')
  await call('GET', '/v1/apps')
  await call('GET', '/v1/app/none')
  expect(emulator.counters.requests).toEqual({ 'applications.list': { 200: 2 }, 'applications.get': { 404: 1 } })
})

test('an error of a handler is 500 and is passed to onError', async () => {
  const errors: unknown[] = []
  const broken = new Error('broken')
  const { call } = started({
    canPull: () => {
      throw broken
    },
    onError: (...told) => errors.push(told),
  })
  await call('POST', '/v1/app', { name: 'arena' })
  expect(await call('POST', '/v1/app/arena/version', { ...version, verify_image: true })).toMatchObject({
    status: 500,
    body: { message: 'Internal error. The server log has the cause.' },
  })
  expect(errors).toEqual([[broken, 'versions.create']])
})

test('limits known only from public material are settings', async () => {
  const { call } = started({ settings: { valueLimits: { appName: { min: 1 } } } })
  expect((await call('POST', '/v1/app', { name: 'x' })).status).toBe(200)
  expect(await call('POST', '/v1/app', { name: 'x'.repeat(65) })).toMatchObject({
    status: 400,
    body: { message: 'name: must have at most 64 characters, got a text of 65 characters' },
  })
})

test('paths and parameters that the document leaves open are settings', async () => {
  const { call } = started({
    settings: { createDeploymentPath: '/v2/deployments', locationTagsParameter: 'with_tags' },
  })
  expect((await call('POST', '/deployments', {})).status).toBe(404)
  expect(await call('POST', '/v2/deployments', {})).toMatchObject({
    status: 400,
    body: { message: 'application: is missing' },
  })
  expect((await call('GET', '/v1/locations?with_tags=true&limit=1')).body).toMatchObject({
    locations: [{ tags: expect.any(Array) }],
  })
})

test('latency and jitter delay every answer by the clock', async () => {
  const { call, clock } = started({ latencyMs: 40, jitterMs: 20 })
  const times: number[] = []
  for (let request = 0; request < 20; request++) {
    const from = clock.now()
    const answer = call('GET', '/v1/apps')
    while (await clock.next());
    await answer
    times.push(clock.now() - from)
  }
  expect(Math.min(...times)).toBeGreaterThanOrEqual(40)
  expect(Math.max(...times)).toBeLessThan(60)
  expect(new Set(times).size).toBeGreaterThan(10)
})

test('the seed makes the same service, whatever the jitter', async () => {
  const run = async (options: EmulatorOptions) => {
    const { call, clock, emulator } = started(options)
    await call('POST', '/v1/app', { name: 'arena' })
    await call('POST', '/v1/app/arena/version', version)
    const users = [{ user_type: 'geo_coordinates', user_data: { latitude: 48.9, longitude: 2.4 } }]
    const created = call('POST', '/deployments', { application: 'arena', version: '1.0', users })
    await clock.advance(1)
    await created
    await clock.advance(60_000)
    const { request_id, public_ip, ports } = emulator.inspect().deployments[0] ?? {}
    return { request_id, public_ip, ports }
  }
  const first = await run({})
  expect(first.request_id).toBeDefined()
  expect(await run({})).toEqual(first)
  expect(await run({ faults: [{ operation: '*', probability: 0, status: 500 }] })).toEqual(first)
})

test('after close nothing is answered and no timer is left', async () => {
  const { call, clock, emulator } = started({ latencyMs: 1000 })
  const waiting = call('GET', '/v1/apps')
  await Promise.resolve()
  await emulator.close()
  await expect(waiting).rejects.toThrow('the emulator is closed')
  await expect(call('GET', '/v1/apps')).rejects.toThrow('the emulator is closed')
  await expect(emulator.listen()).rejects.toThrow('the emulator is closed')
  expect(clock.sleepers).toBe(0)
  await emulator.close()
})

test('a port that opens during close is closed too', async () => {
  const { emulator } = started()
  const [opening, ending] = await Promise.allSettled([emulator.listen(), emulator.close()])
  expect(opening).toMatchObject({ status: 'rejected', reason: { message: 'the emulator is closed' } })
  expect(ending.status).toBe('fulfilled')
})

test.each([
  [{ speed: 0 }, /^option speed: .*got 0$/],
  [{ token: 'two words' }, /^option token: must be visible ASCII characters without spaces$/],
  [{ token: '' }, /^option token: /],
  [{ limits: { algorithm: 'leaky' } }, /^option limits/],
  [{ limits: true }, /^option limits/],
  [{ faults: [{ operation: 'nothing', status: 500 }] }, /^option faults\.0\.operation: .*got "nothing"$/],
  [{ capacity: { atlantis: 1 } }, /^option capacity/],
  [{ capacity: -1 }, /^option capacity/],
  [{ clock: 5 }, /^option clock: must be a Clock, got 5$/],
  [{ random: 5 }, /^option random: must be a function, got 5$/],
  [
    { settings: { createDeploymentPath: 'deployments' } },
    /^option settings\.createDeploymentPath: .*got "deployments"$/,
  ],
  [{ pageSizes: { default: 0 } }, /^option pageSizes\.default: .*got 0$/],
  [{ deployTimes: { seekMS: 1 } }, /^option deployTimes\.seekMS: is not known; did you mean seekMs\?$/],
  [
    { deployments: { processPorts: { from: 2, to: 1 } } },
    /^option deployments\.processPorts\.to: must not be before from, got 1$/,
  ],
  [{ relays: { revokeAnswers: 201 } }, /^option relays\.revokeAnswers: must be 200 or 204, got 201$/],
  [{ relayData: { host: 'localhost' } }, /^option relayData\.host: must be an IPv4 or IPv6 address, got "localhost"$/],
  [{ relayData: { authDelayMs: -1 } }, /^option relayData\.authDelayMs: .*got -1$/],
  [{ relayData: { userPacketsPerSecond: 0 } }, /^option relayData\.userPacketsPerSecond: .*got 0$/],
  [{ relayData: { port: 1 } }, /^option relayData\.port: is not known$/],
  [{ relayData: 'on' }, /^option relayData: must be .*, got a text$/],
  [{ sped: 2 }, /^option sped: is not known; did you mean speed\?$/],
])('option %j is refused by name', (options, message) => {
  expect(() => createEmulator(options as EmulatorOptions)).toThrow(message)
})
