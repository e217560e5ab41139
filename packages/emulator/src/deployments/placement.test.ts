import { greatCircleKm } from '@muster/core/internal'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { places } from '../places.js'
import { coordinatesOf, nearest } from './placement.js'
import { isProblem, placeFilter } from './filters.js'
import { berlin, studio } from './studio.fixture.js'

const at = (latitude: number, longitude: number) => ({
  user_type: 'geo_coordinates',
  user_data: { latitude, longitude },
})
const capacityOnlyAt = (open: Readonly<Record<string, number>>) => ({
  ...Object.fromEntries(places.map(({ id }) => [id, 0])),
  ...open,
})

test('the nearest place has the smallest mean distance to the users', () => {
  const coordinates = fc.record({
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  })
  fc.assert(
    fc.property(fc.array(coordinates, { minLength: 1, maxLength: 6 }), (users) => {
      const meanKm = (place: (typeof places)[number]) =>
        users.reduce((sum, user) => sum + greatCircleKm(user, place.location), 0) / users.length
      const chosen = nearest(places, users)
      expect(chosen && meanKm(chosen)).toBeCloseTo(Math.min(...places.map(meanKm)), 6)
    }),
  )
})

test('users on both sides of the date line get a place near it, not in Africa', () => {
  expect(
    nearest(
      places,
      [at(-36, 179), at(-36, -179)].map(({ user_data }) => user_data),
    )?.id,
  ).toBe('auckland')
  expect(nearest([], [])).toBeUndefined()
})

describe('addresses of users', () => {
  test('a user address is located by `locate`, else at a made-up place that is fixed per network', () => {
    const locate = (ip: string) => (ip === '192.0.2.1' ? { latitude: 1, longitude: 2 } : undefined)
    expect(coordinatesOf('192.0.2.1', locate)).toEqual({ latitude: 1, longitude: 2 })
    expect(coordinatesOf('192.0.2.2', locate)).toEqual(coordinatesOf('192.0.99.7', undefined))
    expect(coordinatesOf('::ffff:192.0.2.2', locate)).toEqual(coordinatesOf('192.0.2.2', locate))
    expect(coordinatesOf('2001:db8::1', locate)).toEqual(coordinatesOf('2001:0DB8:ffff::2', locate))
    expect(coordinatesOf('::1', locate)).toEqual(coordinatesOf('0:0:1::', locate))
  })

  test('made-up places of user addresses are spread over the world', () => {
    const cities = Array.from({ length: 200 }, (_, index) => JSON.stringify(coordinatesOf(`${index}.1.2.3`, undefined)))
    expect(new Set(cities).size).toBeGreaterThan(places.length / 2)
  })

  test('user addresses decide where deployments are placed', async () => {
    const { clock, deploy, status } = await studio({ locate: () => ({ latitude: -33.9, longitude: 151 }) })
    const id = await deploy({ users: [{ user_type: 'ip_address', user_data: { ip_address: '2001:db8::1' } }] })
    await clock.advance(11_000)
    expect(await status(id)).toMatchObject({ location: { city: 'Sydney' } })
  })
})

describe('filters of places', () => {
  const citiesFor = (field: string, filter_type: string, ...values: string[]) => {
    const passes = placeFilter([{ field, filter_type, values }])
    return isProblem(passes) ? passes.problem : places.filter(passes).map(({ id }) => id)
  }

  test.each([
    ['city', 'any', ['Paris', 'berlin', 'LYON'], ['paris']],
    ['city', 'all', ['paris'], ['paris']],
    ['city', 'all', ['Paris', 'Lagos'], []],
    ['administrative_division', 'any', ['Texas', 'California'], ['dallas', 'los-angeles', 'san-jose']],
    ['region', 'any', ['oc'], ['auckland', 'melbourne', 'perth', 'sydney']],
    ['location_tags', 'any', ['region:oc'], ['auckland', 'melbourne', 'perth', 'sydney']],
    ['location_tags', 'all', ['oc', 'region:oc'], ['auckland', 'melbourne', 'perth', 'sydney']],
  ])('place filters select by %s %s %j', (field, type, values, ids) => {
    expect(citiesFor(field, type, ...values)).toEqual(ids)
  })

  test('a place filter with `not` selects all places except those named, and several filters must all hold', () => {
    expect(citiesFor('continent', 'not', 'Europe', 'Asia', 'Africa', 'Oceania', 'North America')).toEqual(
      places.filter(({ location }) => location.continent === 'South America').map(({ id }) => id),
    )
    const passes = placeFilter([
      { field: 'country', filter_type: 'any', values: ['France'] },
      { field: 'city', filter_type: 'not', values: ['Paris'] },
    ])
    expect(!isProblem(passes) && places.filter(passes).map(({ id }) => id)).toEqual(['marseille'])
  })

  test('a wrong place filter is a problem that names its field', () => {
    expect(citiesFor('planet', 'any', 'Mars')).toMatch('filters[0].field: must be one of city, country')
    expect(citiesFor('toString', 'any', 'Mars')).toMatch('filters[0].field')
    expect(citiesFor('city', 'some', 'Paris')).toBe('filters[0].filter_type: must be one of any, all, not, not "some"')
  })
})

describe('capacity of places', () => {
  test('a place without free capacity sends a deployment to the next nearest place', async () => {
    const { clock, deploy, status, stop } = await studio({ capacity: { copenhagen: 1 } })
    const [first, second] = [await deploy(), await deploy()]
    await clock.advance(11_000)
    expect(await status(first)).toMatchObject({ location: { city: 'Copenhagen' } })
    expect((await status(second))['location']).toMatchObject({ city: expect.not.stringMatching('Copenhagen') })
    // The location has capacity again only once the container has ended.
    await stop(first)
    const third = await deploy()
    await clock.advance(11_000)
    expect((await status(third))['location']).toMatchObject({ city: expect.not.stringMatching('Copenhagen') })
    const fourth = await deploy()
    await clock.advance(11_000)
    expect(await status(fourth)).toMatchObject({ location: { city: 'Copenhagen' } })
  })

  test('a create without capacity anywhere is a 422, with a deployment in ERROR until it is stopped', async () => {
    const { clock, create, deploy, status, stop, listedIds } = await studio({ capacity: capacityOnlyAt({ tokyo: 1 }) })
    await deploy()
    const refused = await create()
    expect(refused).toMatchObject({
      status: 422,
      body: { request_id: expect.any(String), message: "Couldn't Allocate Server" },
    })
    const { request_id } = refused.body as { request_id: string }
    expect(await status(request_id)).toMatchObject({
      current_status: 'Status.ERROR',
      error_detail: "Couldn't Allocate Server",
      public_ip: null,
      ports: {},
    })
    expect(await listedIds({ filters: [{ field: 'status', operator: 'eq', value: 'error' }] })).toEqual([request_id])
    expect((await stop(request_id)).status).toBe(200)
    await clock.advance(0)
    expect(await status(request_id)).toMatchObject({ current_status: 'Status.TERMINATED' })
  })

  test('a create with the declared fault `no capacity` is answered with 422 and creates no server', async () => {
    const { create } = await studio({
      faults: [{ operation: 'deployments.create', deployment: 'no capacity', count: 1 }],
    })
    expect(await create()).toMatchObject({ status: 422, body: { message: "Couldn't Allocate Server" } })
    expect((await create()).status).toBe(202)
  })

  test('a place without capacity for an application version is not in the location list of that version', async () => {
    const { call, deploy } = await studio({ capacity: capacityOnlyAt({ tokyo: 1, paris: 1, beijing: 1 }) })
    const cities = async () => {
      const { body } = await call('GET', '/v1/locations?app=arena&version=1.0&limit=100')
      return (body as { locations: { city: string }[] }).locations.map(({ city }) => city)
    }
    expect(await cities()).toEqual(['Paris', 'Tokyo'])
    await deploy()
    expect(await cities()).toEqual(['Tokyo'])
  })
})

describe('placement in mainland China', () => {
  const guangzhou = at(23.1, 113.3)

  test.each([
    [false, 'Hong Kong'],
    [true, 'Guangzhou'],
  ])(
    'with will_deploy_in_mainland_china %j, users in Guangzhou get a server in %s',
    async (will_deploy_in_mainland_china, city) => {
      const { clock, deploy, status } = await studio({}, { will_deploy_in_mainland_china })
      const id = await deploy({ users: [guangzhou] })
      await clock.advance(11_000)
      expect(await status(id)).toMatchObject({ location: { city } })
    },
  )
})

describe('cached images', () => {
  test('cached images make a version deploy faster where it has run, and only there if required', async () => {
    const { clock, create, deploy, status } = await studio()
    expect((await create({ require_cached_locations: true })).status).toBe(422)
    const first = await deploy()
    await clock.advance(10_999)
    expect(await status(first)).toMatchObject({ current_status: 'Status.DEPLOYING' })
    await clock.advance(1)
    const second = await deploy()
    const third = await deploy({ require_cached_locations: true, users: [at(35, 139)] })
    await clock.advance(2000)
    expect(await status(second)).toMatchObject({ current_status: 'Status.READY' })
    expect(await status(third)).toMatchObject({ current_status: 'Status.READY', location: { city: 'Copenhagen' } })
  })

  test('cached images exist everywhere some time after force_cache, except for a new image', async () => {
    const { clock, call, create } = await studio({ deployments: { forceCacheMs: 30_000 } }, { force_cache: true })
    expect((await create({ require_cached_locations: true })).status).toBe(422)
    await clock.advance(30_000)
    expect((await create({ require_cached_locations: true, users: [berlin] })).status).toBe(202)
    await call('PATCH', '/v1/app/arena/version/1.0', { docker_tag: 'v2' })
    expect((await create({ require_cached_locations: true })).status).toBe(422)
  })
})
