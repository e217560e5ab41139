import { expect, test } from 'vitest'
import { createEmulator } from './emulator.js'
import { started, version } from './emulator.fixture.js'
import type { EmulatorOptions } from './options.js'

test('the token of the emulator is configurable', async () => {
  const { call } = started({ token: 'other' })
  expect((await call('GET', '/v1/apps')).status).toBe(401)
  expect((await call('GET', '/v1/apps', undefined, { authorization: 'token other' })).status).toBe(200)
})

test('an emulator with launch requires a token of visible ASCII', () => {
  const launch = () => undefined
  expect(() => createEmulator({ launch })).toThrow(/^option token: is required with launch/)
  expect(() => createEmulator({ launch, token: 'one of ours' })).toThrow(/^option token: must be visible ASCII/)
  expect(() => createEmulator({ launch, token: 'of-ours' })).not.toThrow()
})

test('an unknown path is answered with 404, and an unknown method with 405 and the allowed methods', async () => {
  const { call, emulator } = started()
  expect(await call('GET', '/v1/nothing')).toMatchObject({ status: 404, body: { message: expect.any(String) } })
  const wrong = await call('PUT', '/v1/app/arena')
  expect(wrong.status).toBe(405)
  expect(wrong.headers.get('allow')).toBe('DELETE, GET, PATCH')
  expect(emulator.counters.unrouted).toBe(2)
})

test('a request body that is too large is answered with 413', async () => {
  const { call } = started({ maxBodyBytes: 100 })
  expect((await call('POST', '/v1/app', { name: 'arena', image: 'QUFB'.repeat(30) })).status).toBe(413)
  expect((await call('POST', '/v1/app', { name: 'arena', image: 'QUFB'.repeat(10) })).status).toBe(200)
})

test('emulator requests are counted by operation and status', async () => {
  const { call, emulator } = started()
  await call('GET', '/v1/apps')
  await call('GET', '/v1/apps')
  await call('GET', '/v1/app/none')
  expect(emulator.counters.requests).toEqual({ 'applications.list': { 200: 2 }, 'applications.get': { 404: 1 } })
})

test('an error in a handler is answered with 500 and passed to onError', async () => {
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

test('a value limit of the emulator is configurable, and a bound that is not given keeps its default', async () => {
  const { call } = started({ settings: { valueLimits: { appName: { min: 1 } } } })
  expect((await call('POST', '/v1/app', { name: 'x' })).status).toBe(200)
  expect(await call('POST', '/v1/app', { name: 'x'.repeat(65) })).toMatchObject({
    status: 400,
    body: { message: 'name: must have at most 64 characters, got a text of 65 characters' },
  })
})

test('paths and parameters that the API document leaves open are configurable', async () => {
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

test('the options latency and jitter delay every answer of the emulator, by the emulator’s clock', async () => {
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

test('a seed gives the same emulator with any jitter or faults', async () => {
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

test('a closed emulator answers no request and leaves no timer', async () => {
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

test('a port that opens while the emulator closes is closed too', async () => {
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
  [{ clock: 5 }, /^option clock: must have now, sleep, got 5$/],
  [{ random: 5 }, /^option random: must be a function, got 5$/],
  [
    { settings: { createDeploymentPath: 'deployments' } },
    /^option settings\.createDeploymentPath: .*got "deployments"$/,
  ],
  [{ pageSizes: { default: 0 } }, /^option pageSizes\.default: .*got 0$/],
  [{ deployTimes: { seekMS: 1 } }, /^option deployTimes\.seekMS: is not known; did you mean seekMs\?$/],
  [
    { deployments: { processPorts: { from: 2, to: 1 } } },
    /^option deployments\.processPorts\.to: must not be earlier than from, got 1$/,
  ],
  [{ relays: { revokeAnswers: 201 } }, /^option relays\.revokeAnswers: must be 200 or 204, got 201$/],
  [{ relayData: { host: 'localhost' } }, /^option relayData\.host: must be an IPv4 or IPv6 address, got "localhost"$/],
  [{ relayData: { authDelayMs: -1 } }, /^option relayData\.authDelayMs: .*got -1$/],
  [{ relayData: { userPacketsPerSecond: 0 } }, /^option relayData\.userPacketsPerSecond: .*got 0$/],
  [{ relayData: { port: 1 } }, /^option relayData\.port: is not known$/],
  [{ relayData: 'on' }, /^option relayData: must be .*, got a text$/],
  [{ sped: 2 }, /^option sped: is not known; did you mean speed\?$/],
])('createEmulator refuses the options %j by name', (options, message) => {
  expect(() => createEmulator(options as EmulatorOptions)).toThrow(message)
})
