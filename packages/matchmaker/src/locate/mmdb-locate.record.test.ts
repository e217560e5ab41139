import { expect, test } from 'vitest'
import { locatedIn } from './mmdb-locate.js'

const place = { latitude: 51.5, longitude: -0.12 }

test('MMDB coordinates are read from `location`, as in GeoLite2 and DB-IP City', () => {
  const city = { geoname_id: 2643743, names: { en: 'London' } }
  expect(locatedIn({ city, location: { accuracy_radius: 20, ...place, time_zone: 'Europe/London' } })).toEqual({
    ...place,
    accuracyKm: 20,
  })
  expect(locatedIn({ city, location: place })).toEqual(place)
})

test('MMDB coordinates are read from the top level, as in flattened databases', () => {
  expect(locatedIn({ city: 'London', country_code: 'GB', ...place, timezone: '' })).toEqual(place)
})

test('an MMDB coordinate of zero is valid', () => {
  expect(locatedIn({ latitude: 0, longitude: 9.45 })).toEqual({ latitude: 0, longitude: 9.45 })
})

test.each([
  ['no record', undefined],
  ['a record that is a string', 'London'],
  ['a country record', { country: { iso_code: 'GB' } }],
  ['a location without coordinates', { location: { time_zone: 'Europe/London' } }],
  ['a latitude without a longitude', { latitude: 51.5 }],
  ['coordinates given as strings', { latitude: '51.5', longitude: '-0.12' }],
  ['a latitude above 90°', { latitude: 91, longitude: 0 }],
  ['a latitude of NaN', { location: { latitude: Number.NaN, longitude: 0 } }],
])('an MMDB lookup returns no coordinates for %s', (_, record) => {
  expect(locatedIn(record)).toBeUndefined()
})
