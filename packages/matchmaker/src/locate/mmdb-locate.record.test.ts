import { expect, test } from 'vitest'
import { locatedIn } from './mmdb-locate.js'

const place = { latitude: 51.5, longitude: -0.12 }

test('GeoLite2 and DB-IP City have the coordinates under location', () => {
  const city = { geoname_id: 2643743, names: { en: 'London' } }
  expect(locatedIn({ city, location: { accuracy_radius: 20, ...place, time_zone: 'Europe/London' } })).toEqual({
    ...place,
    accuracyKm: 20,
  })
  expect(locatedIn({ city, location: place })).toEqual(place)
})

test('flattened databases have them at the top', () => {
  expect(locatedIn({ city: 'London', country_code: 'GB', ...place, timezone: '' })).toEqual(place)
})

test('coordinates of zero count', () => {
  expect(locatedIn({ latitude: 0, longitude: 9.45 })).toEqual({ latitude: 0, longitude: 9.45 })
})

test.each([
  ['no record', undefined],
  ['no record of this kind', 'London'],
  ['a country record', { country: { iso_code: 'GB' } }],
  ['a location without coordinates', { location: { time_zone: 'Europe/London' } }],
  ['half a place', { latitude: 51.5 }],
  ['numbers as text', { latitude: '51.5', longitude: '-0.12' }],
  ['off the map', { latitude: 91, longitude: 0 }],
  ['not a number', { location: { latitude: Number.NaN, longitude: 0 } }],
])('%s has no coordinates', (_, record) => {
  expect(locatedIn(record)).toBeUndefined()
})
