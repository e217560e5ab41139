import { expect, test } from 'vitest'
import { started, version } from '../emulator.fixture.js'
import { places } from '../places.js'

test('locations are listed in pages, with coordinates as strings, as in samples of the service', async () => {
  const { call } = started()
  const { body } = await call('GET', '/v1/locations')
  expect(body).toMatchObject({
    total_count: places.length,
    messages: [],
    pagination: { number: 1, next_page_number: 2, paginator: { num_pages: Math.ceil(places.length / 10) } },
  })
  const { locations } = body as { locations: unknown[] }
  expect(locations).toHaveLength(10)
  expect(locations[0]).toEqual({
    city: 'Amsterdam',
    country: 'Netherlands',
    continent: 'Europe',
    administrative_division: 'North Holland',
    timezone: 'Europe/Amsterdam',
    latitude: '52.37',
    longitude: '4.9',
    type: 'standard',
  })
})

test('location tags are included on request, and locations can be filtered by type', async () => {
  const { call } = started()
  expect((await call('GET', '/v1/locations?limit=1&tags=true')).body).toMatchObject({
    locations: [{ tags: [{ key: 'region', value: 'eu-west' }] }],
  })
  expect((await call('GET', '/v1/locations?type=standard')).body).toMatchObject({ total_count: places.length })
  expect((await call('GET', '/v1/locations?type=other')).body).toMatchObject({ total_count: 0, locations: [] })
})

test('the location list of a version leaves out places without capacity, with a message', async () => {
  const { call } = started({ capacity: { amsterdam: 0, dublin: 0 } })
  await call('POST', '/v1/app', { name: 'arena' })
  await call('POST', '/v1/app/arena/version', version)
  const mainland = places.filter(({ mainlandChina }) => mainlandChina).length
  expect((await call('GET', '/v1/locations?app=arena&version=1.0')).body).toMatchObject({
    total_count: places.length - mainland - 2,
    locations: expect.not.arrayContaining([expect.objectContaining({ city: 'Dublin' })]),
    messages: [expect.stringContaining('without capacity')],
  })
  expect((await call('GET', '/v1/locations?app=arena')).body).toMatchObject({
    total_count: places.length,
    messages: ['capacity is only considered with both app and version'],
  })
  // An unknown name is answered by 400, because the document declares no 404 here.
  expect(await call('GET', '/v1/locations?app=arena&version=none')).toMatchObject({
    status: 400,
    body: { message: expect.stringContaining('"none"') },
  })
})

test('beacons are listed in pages, with the total count', async () => {
  const { call } = started()
  const { body } = await call('GET', '/v1/locations/beacons?page=2&limit=50')
  expect(body).toMatchObject({ count: places.length })
  expect((body as { locations: unknown[] }).locations).toHaveLength(places.length - 50)
  expect((body as { locations: unknown[] }).locations[0]).toMatchObject({
    host: '203.0.113.51',
    udp_port: 30_000,
    location: { latitude: expect.any(Number) },
  })
})
