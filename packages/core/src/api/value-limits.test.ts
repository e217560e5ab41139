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

const edges: readonly (readonly [
  field: string,
  settings: NonNullable<ClientOptions['settings']>['valueLimits'],
  call: (client: Client) => Promise<unknown>,
  wrong: string,
])[] = [
  [
    'name',
    { appName: { min: 1 } },
    (client) => client.applications.create({ name: 'x' }),
    'must have at least 3 characters, got "x"',
  ],
  [
    'name',
    { versionName: { max: 70 } },
    (client) => client.versions.create({ ...version, name: 'v'.repeat(70) }),
    'must have at most 64 characters',
  ],
  [
    'max_duration',
    { maxDuration: { max: 2880 } },
    (client) => client.versions.create({ ...version, max_duration: 2880 }),
    'must be at most 1440, got 2880',
  ],
  [
    'time_to_deploy',
    { timeToDeploy: { min: 1 } },
    (client) => client.versions.create({ ...version, time_to_deploy: 14 }),
    'must be at least 15, got 14',
  ],
  [
    'termination_grace_period_seconds',
    { terminationGrace: { min: 0 } },
    (client) => client.versions.create({ ...version, termination_grace_period_seconds: 0 }),
    'must be at least 5, got 0',
  ],
  [
    'req_cpu',
    { reqCpu: { min: 64 } },
    (client) => client.versions.create({ ...version, req_cpu: 64 }),
    'must be at least 100, got 64',
  ],
  [
    'req_memory',
    { reqMemory: { min: 64 } },
    (client) => client.versions.create({ ...version, req_memory: 64 }),
    'must be at least 100, got 64',
  ],
  [
    'ports.0.port',
    { port: { max: 65_535 } },
    (client) => client.versions.create({ ...version, ports: [{ port: 65_535, protocol: 'UDP' }] }),
    'must be at most 59999, got 65535',
  ],
  [
    'tags.0',
    { tagName: { max: Infinity } },
    (client) => client.deployments.create({ application: 'a', version: 'v', users, tags: ['t'.repeat(41)] }),
    'must have at most 40 characters',
  ],
  [
    'envs.0.value',
    { environmentValue: { max: 5000 } },
    (client) => client.versions.create({ ...version, envs: [{ key: 'K', value: 'x'.repeat(4097) }] }),
    'must be at most 4096 bytes of UTF-8',
  ],
]

test.each(edges)('%s is limited by default, and otherwise where %j is set', async (field, valueLimits, call, wrong) => {
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
})

test('every limit is covered by an example', () => {
  expect([...new Set(edges.flatMap(([, limits]) => Object.keys(limits ?? {})))].toSorted()).toEqual(
    Object.keys(defaultValueLimits).toSorted(),
  )
})

test('a limit may be narrower, too', async () => {
  const { client } = clientWith({ valueLimits: { tagName: { max: 8 } } })
  const create = client.deployments.create({ application: 'a', version: 'v', users, tags: ['123456789'] })
  await expect(create).rejects.toMatchObject({
    field: 'tags.0',
    message: expect.stringContaining('must have at most 8 characters'),
  })
})

test('a limit that is left out has its default, and a check that throws restores the limits', () => {
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
])('%j is refused', (settings, field, wrong) => {
  expect(() => clientWith(settings as ClientOptions['settings'])).toThrow(
    expect.objectContaining({ name: 'InvalidInput', field, message: expect.stringContaining(wrong) }),
  )
})
