import { expect, test } from 'vitest'
import { createClient } from '../client/client.js'
import { inProcess } from '../client/transport.js'
import type { ClientOptions } from '../client/config.js'
import { createManualClock } from '../time.js'
import { settingsWith } from './settings.js'
import { defaultValueLimits, withValueLimits } from './value-limits.js'

const version = {
  app_name: 'game',
  name: 'v1',
  docker_repository: 'r',
  docker_image: 'i',
  docker_tag: 't',
  req_cpu: 100,
  req_memory: 100,
}
const users = [{ user_type: 'geo_coordinates', user_data: { latitude: 1, longitude: 2 } }] as const

function clientWith(settings?: ClientOptions['settings']) {
  const clock = createManualClock()
  const bodies: unknown[] = []
  const dispatcher = inProcess(async (request) => {
    bodies.push(await request.json())
    return Response.json({ name: 'x', request_id: 'r', version: { name: 'v' } }, { status: 200 })
  })
  return {
    clock,
    bodies,
    client: createClient({ baseUrl: 'http://service.invalid', token: 't', clock, dispatcher, settings }),
  }
}
type Client = ReturnType<typeof createClient>

type Limits = NonNullable<ClientOptions['settings']>['valueLimits']
type Edge = readonly [field: string, limits: Limits, call: (client: Client) => Promise<unknown>, wrong: string]

const ofVersion = (limits: Limits, fields: object, wrong: string, [field = ''] = Object.keys(fields)): Edge => [
  field,
  limits,
  (client) => client.versions.create({ ...version, ...fields }),
  wrong,
]
const ports = [{ port: 65_535, protocol: 'UDP' }]
const envs = [{ key: 'K', value: 'x'.repeat(4097) }]
const tagged = { application: 'a', version: 'v', users, tags: ['t'.repeat(41)] }
const named = { name: 'v'.repeat(70) }
const grace = { termination_grace_period_seconds: 0 }

const edges: readonly Edge[] = [
  [
    'name',
    { appName: { min: 1 } },
    (client) => client.applications.create({ name: 'x' }),
    'must have at least 3 characters, got "x"',
  ],
  [
    'tags.0',
    { tagName: { max: Infinity } },
    (client) => client.deployments.create(tagged),
    'must have at most 40 characters',
  ],
  ofVersion({ versionName: { max: 70 } }, named, 'must have at most 64 characters'),
  ofVersion({ maxDuration: { max: 2880 } }, { max_duration: 2880 }, 'must be at most 1440, got 2880'),
  ofVersion({ timeToDeploy: { min: 1 } }, { time_to_deploy: 14 }, 'must be at least 15, got 14'),
  ofVersion({ terminationGrace: { min: 0 } }, grace, 'must be at least 5, got 0'),
  ofVersion({ reqCpu: { min: 64 } }, { req_cpu: 64 }, 'must be at least 100, got 64'),
  ofVersion({ reqMemory: { min: 64 } }, { req_memory: 64 }, 'must be at least 100, got 64'),
  ofVersion({ port: { max: 65_535 } }, { ports }, 'must be at most 59999, got 65535', ['ports.0.port']),
  ofVersion({ environmentValue: { max: 5000 } }, { envs }, 'must be at most 4096 bytes of UTF-8', ['envs.0.value']),
]

test.each(edges)(
  '%s outside its default limits is refused, and accepted with valueLimits %j',
  async (field, valueLimits, call, wrong) => {
    const usual = clientWith()
    await expect(call(usual.client)).rejects.toMatchObject({
      name: 'InvalidInput',
      field,
      message: expect.stringContaining(`${field}: ${wrong}`),
    })
    expect(usual.bodies).toEqual([])
    const { client, clock, bodies } = clientWith({ valueLimits })
    await clock.until(call(client))
    expect(bodies).toHaveLength(1)
  },
)

test('every value limit has an example in this test', () => {
  expect([...new Set(edges.flatMap(([, limits]) => Object.keys(limits ?? {})))].toSorted()).toEqual(
    Object.keys(defaultValueLimits).toSorted(),
  )
})

test('valueLimits can be stricter than the defaults', async () => {
  const { client } = clientWith({ valueLimits: { tagName: { max: 8 } } })
  const create = client.deployments.create({ application: 'a', version: 'v', users, tags: ['123456789'] })
  await expect(create).rejects.toMatchObject({
    field: 'tags.0',
    message: expect.stringContaining('must have at most 8 characters'),
  })
})

test('a limit left out of valueLimits keeps its default, and a check that throws restores the limits', () => {
  expect(settingsWith({ valueLimits: { appName: { min: 1 } } }).valueLimits).toEqual({
    ...defaultValueLimits,
    appName: { min: 1, max: 64 },
  })
  const crash = () =>
    withValueLimits(settingsWith({ valueLimits: { appName: { min: 1 } } }).valueLimits, () =>
      expect.unreachable('crash'),
    )
  expect(crash).toThrow('crash')
  const { client } = clientWith()
  return expect(client.applications.create({ name: 'x' })).rejects.toMatchObject({ field: 'name' })
})

test.each([
  [{ valueLimits: { appNames: {} } }, 'settings.valueLimits.appNames', 'is not known; did you mean appName?'],
  [{ valueLimits: { appName: { least: 1 } } }, 'settings.valueLimits.appName.least', 'is not known'],
  [{ valueLimits: { appName: { min: 70 } } }, 'settings.valueLimits.appName.max', 'not below min'],
  [{ valueLimits: { appName: 5 } }, 'settings.valueLimits.appName', '{ min, max }'],
  [{ valueLimits: { appName: { min: Number.NaN } } }, 'settings.valueLimits.appName.min', 'a number'],
  [{ valueLimits: 5 }, 'settings.valueLimits', 'an object'],
])('createClient refuses the settings %j, naming the wrong field', (settings, field, wrong) => {
  expect(() => clientWith(settings as ClientOptions['settings'])).toThrow(
    expect.objectContaining({ name: 'InvalidInput', field, message: expect.stringContaining(wrong) }),
  )
})
