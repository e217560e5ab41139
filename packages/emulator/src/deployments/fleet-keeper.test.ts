import { beforeEach, describe, expect, test } from 'vitest'
import { version } from '../emulator.fixture.js'
import { studio } from './studio.fixture.js'

type Studio = Awaited<ReturnType<typeof studio>>

const link = '/v1/fleet/fleet/app/arena/version/1.0'
const seats = { session_config: { kind: 'Seat', sockets: 10 } }
const inCities = (...values: string[]) => ({ filters: [{ field: 'city', filter_type: 'any', values }] })

/** Creates a studio with an enabled fleet that has one policy and a link to the version. */
async function fleet(
  policy: object,
  options: Parameters<typeof studio>[0] = {},
  specification: Parameters<typeof studio>[1] = {},
) {
  const made = await studio(options, specification)
  await made.call('POST', '/v1/fleet', { name: 'fleet', enabled: true })
  await made.call('POST', '/v1/fleet/fleet/policies', { name: 'policy', ...policy })
  await made.call('PUT', link)
  const policyChanges = (changes: object) => made.call('PATCH', '/v1/fleet/fleet/policies/policy', changes)
  return { ...made, policyChanges }
}

/** Returns the fleet's deployments that run or are starting. */
const running = async ({ listedIds }: Studio) =>
  listedIds({ filters: [{ field: 'status', operator: 'nin', value: ['terminating', 'error'] }] })

const citiesOf = async ({ status, ...made }: Studio) =>
  (await Promise.all((await running({ status, ...made })).map(status)))
    .map(({ location }) => (location as { city: string }).city)
    .toSorted()

describe('the minimum of a fleet', () => {
  test('the minimum of a fleet is deployed for each policy and each linked version', async () => {
    const made = await fleet({ minimum: 2 })
    expect(await running(made)).toHaveLength(2)
    await made.call('POST', '/v1/fleet/fleet/policies', { name: 'other', minimum: 1 })
    expect(await running(made)).toHaveLength(3)
    await made.call('POST', '/v1/app/arena/version', { ...version, name: '2.0' })
    await made.call('PUT', '/v1/fleet/fleet/app/arena/version/2.0')
    expect(await running(made)).toHaveLength(6)
    expect(await made.listedIds({ filters: [{ field: 'version', operator: 'eq', value: '2.0' }] })).toHaveLength(3)
  })

  test('the minimum of a fleet is spread evenly over the places that its filters select', async () => {
    const made = await fleet({ minimum: 5, data: inCities('Paris', 'Tokyo') })
    await made.clock.advance(11_000)
    expect(await citiesOf(made)).toEqual(['Paris', 'Paris', 'Paris', 'Tokyo', 'Tokyo'])
  })

  test('the minimum of a fleet is deployed at places with the tag, or nearest to the coordinates', async () => {
    const tag = await fleet({
      type: 'Tag',
      minimum: 1,
      data: { filters: [{ field: 'location_tags', filter_type: 'any', values: ['region:oc'] }] },
    })
    await tag.clock.advance(11_000)
    expect(await citiesOf(tag)).toEqual(['Auckland'])
    const coordinates = [
      { field: 'latitude', filter_type: 'any', values: ['-33.9'] },
      { field: 'longitude', filter_type: 'any', values: ['18.4'] },
    ]
    const near = await fleet({ type: 'Coordinates', minimum: 2, data: { filters: coordinates } })
    await near.clock.advance(11_000)
    expect(await citiesOf(near)).toEqual(['Cape Town', 'Cape Town'])
  })

  test('the minimum of a fleet is restored when deployments are stopped, end or fail', async () => {
    const made = await fleet({ minimum: 2 }, {}, { max_duration: 1, time_to_deploy: 120 })
    const { clock, stop, status } = made
    const before = await running(made)
    await clock.advance(11_000)
    await stop(before[0] as string)
    await clock.advance(1000)
    const after = await running(made)
    expect(after).toHaveLength(2)
    expect(after).not.toContain(before[0])
    await clock.advance(55_000)
    const later = await running(made)
    expect(later).toHaveLength(2)
    expect(later).not.toContain(before[1])
    expect(await status(before[1] as string)).toMatchObject({ current_status: 'Status.TERMINATED' })
  })

  test('a fleet retries slowly if its deployments always fail, and stops each failed deployment', async () => {
    const settings = { valueLimits: { timeToDeploy: { min: 5 } } }
    const made = await fleet(
      { minimum: 1 },
      { deployments: { retentionMs: 3_600_000 }, settings },
      { time_to_deploy: 5 },
    )
    await made.clock.advance(61_000)
    const all = made.emulator.inspect().deployments
    expect(all.length).toBeGreaterThan(5)
    expect(all.length).toBeLessThan(20)
    expect(all.filter(({ current_status }) => current_status === 'Status.ERROR')).toEqual([])
    expect(await running(made)).toHaveLength(1)
  })

  test('a fleet waits for capacity where there is none', async () => {
    const made = await fleet({ minimum: 3, data: inCities('Paris') }, { capacity: { paris: 1 } })
    const first = await running(made)
    expect(first).toHaveLength(1)
    await made.stop(first[0] as string)
    await made.clock.advance(14_000)
    const second = await running(made)
    expect(second).toHaveLength(1)
    expect(second).not.toEqual(first)
  })
})

describe('a fleet that must not deploy', () => {
  test.each([
    ['while it is disabled', '/v1/fleet/fleet', ['PATCH', { enabled: false }], ['PATCH', { enabled: true }]],
    [
      'while its policy is disabled',
      '/v1/fleet/fleet/policies/policy',
      ['PATCH', { enabled: false }],
      ['PATCH', { enabled: true }],
    ],
    ['while its version is not linked', link, ['DELETE', undefined], ['PUT', undefined]],
    [
      'while its version is not active',
      '/v1/app/arena/version/1.0',
      ['PATCH', { is_active: false }],
      ['PATCH', { is_active: true }],
    ],
    [
      'while its application is not active',
      '/v1/app/arena',
      ['PATCH', { is_active: false }],
      ['PATCH', { is_active: true }],
    ],
  ] as const)('a fleet deploys nothing %s, and leaves running deployments', async (_when, target, off, on) => {
    const made = await fleet({ minimum: 2 })
    const before = await running(made)
    await made.call(off[0], target, off[1])
    await made.clock.advance(11_000)
    expect(await running(made)).toEqual(before)
    await made.stop(before[0] as string)
    await made.clock.advance(10_000)
    expect(await running(made)).toEqual(before.slice(1))
    await made.call(on[0], target, on[1])
    expect(await running(made)).toHaveLength(2)
  })

  test('a fleet deploys nothing beyond its maximum, and stops nothing when the maximum is lowered', async () => {
    const made = await fleet({ minimum: 3, maximum: 3 })
    await made.policyChanges({ minimum: 1, maximum: 1 })
    await made.clock.advance(60_000)
    expect(await running(made)).toHaveLength(3)
  })

  test.each([
    ['once it is deleted', '/v1/fleet/fleet'],
    ['once its version is deleted', '/v1/app/arena/version/1.0'],
    ['once its application is deleted', '/v1/app/arena'],
  ])('a fleet deploys nothing %s', async (_when, target) => {
    const made = await fleet({ minimum: 1 })
    const [id] = await running(made)
    await made.call('DELETE', target)
    await made.stop(id as string)
    await made.clock.advance(60_000)
    expect(await running(made)).toEqual([])
  })
})

describe('sessions of fleet deployments', () => {
  let made: Awaited<ReturnType<typeof fleet>>
  beforeEach(async () => {
    made = await fleet({ minimum: 1, maximum: 3, threshold: 0.5 }, {}, seats)
    await made.clock.advance(11_000)
  })

  test('a fleet adds a deployment, up to its maximum, if all have more sessions than the threshold', async () => {
    const { clock, emulator } = made
    const fill = async (users: number) => {
      for (const id of await running(made)) emulator.setSessions(id, { one: users })
      await clock.advance(12_000)
      return (await running(made)).length
    }
    expect(await fill(4)).toBe(1)
    expect(await fill(5)).toBe(2)
    const [newest, oldest] = await running(made)
    emulator.setSessions(oldest as string, { one: 10 })
    await clock.advance(12_000)
    expect(await running(made)).toEqual([newest, oldest])
    expect(await fill(10)).toBe(3)
    expect(await fill(10)).toBe(3)
  })

  test('sessions of a fleet deployment are shown in the status, the list and its query', async () => {
    const { emulator, list, listedIds, status } = made
    const [id = ''] = await running(made)
    emulator.setSessions(id, { blue: 4, red: 3 })
    expect(await status(id)).toMatchObject({
      sockets: '10',
      sockets_usage: '7',
      sessions: [
        { session_id: 'blue', status: 'Status.READY', ready: true, linked: true, kind: 'SEATS', user_count: '4' },
        { session_id: 'red', user_count: '3' },
      ],
    })
    expect((await list()).body).toMatchObject({
      data: [{ sockets: '10', sockets_usage: '7', is_joinable_by_session: true }],
    })
    const withRoom = (value: number) =>
      listedIds({ filters: [{ field: 'available_session_sockets', operator: 'gte', value }] })
    expect([await withRoom(3), await withRoom(4)]).toEqual([[id], []])
    emulator.setSessions(id, { blue: 10 })
    expect((await list()).body).toMatchObject({ data: [{ sockets_usage: '10', is_joinable_by_session: false }] })
    emulator.setSessions(id, {})
    expect(await status(id)).toMatchObject({ sessions: [], sockets_usage: '0' })
  })

  test('setSessions refuses sessions beyond the free sockets', async () => {
    const { call, deploy, emulator } = made
    const [id = ''] = await running(made)
    expect(() => emulator.setSessions(id, { a: 6, b: 5 })).toThrow(
      `deployment ${id} has 10 sockets, too few for 11 users`,
    )
    expect(() => emulator.setSessions(id, { a: 0.5 })).toThrow('the users of session a must be a whole number, not 0.5')
    expect(() => emulator.setSessions('none', {})).toThrow('there is no deployment "none"')
    await call('POST', '/v1/app/arena/version', { ...version, name: 'plain' })
    const plain = await deploy({ version: 'plain' })
    expect(() => emulator.setSessions(plain, {})).toThrow(`the version of deployment ${plain} has no sessions`)
  })
})

test.each([
  [
    { data: { filters: [{ field: 'planet', filter_type: 'any', values: ['Mars'] }] } },
    'data.filters[0].field: must be one of city',
  ],
  [
    { type: 'Coordinates' },
    'data.filters: a Coordinates policy needs one value in degrees for each of latitude and longitude',
  ],
  [
    {
      type: 'Coordinates',
      data: {
        filters: [
          { field: 'latitude', filter_type: 'any', values: ['91'] },
          { field: 'longitude', filter_type: 'any', values: ['0'] },
        ],
      },
    },
    'data.filters: ',
  ],
])('a fleet policy with the places %j is answered with 400', async (policy, message) => {
  const { call } = await studio()
  await call('POST', '/v1/fleet', { name: 'fleet' })
  expect(await call('POST', '/v1/fleet/fleet/policies', { name: 'p', ...policy })).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining(message) },
  })
})
