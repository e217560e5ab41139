import { isIPv4 } from 'node:net'
import { expect, test } from 'vitest'
import { beacons, places, type Place } from './places.js'

const each = (check: (place: Place) => boolean) => places.filter((place) => !check(place)).map((place) => place.id)

test('the emulator has about sixty places with distinct names that fit a host name', () => {
  expect(places.length).toBeGreaterThanOrEqual(60)
  expect(places.length).toBeLessThanOrEqual(70)
  expect(new Set(places.map(({ id }) => id)).size).toBe(places.length)
  expect(each(({ id }) => /^[a-z]+(-[a-z]+)*$/.test(id))).toEqual([])
  expect(places.map(({ id }) => id)).toEqual(expect.arrayContaining(['sao-paulo', 'bogota', 'new-york', 'frankfurt']))
})

test('the emulator has several places on every inhabited continent', () => {
  const counts = new Map<string, number>()
  for (const { location } of places) counts.set(location.continent, (counts.get(location.continent) ?? 0) + 1)
  expect([...counts.keys()].toSorted()).toEqual([
    'Africa',
    'Asia',
    'Europe',
    'North America',
    'Oceania',
    'South America',
  ])
  expect(Math.min(...counts.values())).toBeGreaterThanOrEqual(4)
})

test('places in mainland China are flagged, and those in Hong Kong and Taiwan are not', () => {
  expect(places.filter(({ mainlandChina }) => mainlandChina).map(({ id }) => id)).toEqual([
    'beijing',
    'guangzhou',
    'shanghai',
  ])
  expect(each(({ mainlandChina, location }) => mainlandChina === (location.country === 'China'))).toEqual([])
})

test('no field of an emulator place is empty, and every place has the documented type and a region tag', () => {
  expect(each(({ location }) => Object.values(location).every((value) => value !== ''))).toEqual([])
  expect(
    each(({ type, tags }) => type === 'standard' && tags.some(({ key, value }) => key === 'region' && value !== '')),
  ).toEqual([])
})

/** Returns the time zone's offset from UTC in minutes, in January 2026. */
function offsetMinutes(timeZone: string) {
  const at = new Date(Date.UTC(2026, 0, 15, 12))
  const parts = new Intl.DateTimeFormat('en', { timeZone, timeZoneName: 'longOffset' }).formatToParts(at)
  const [, sign = '+', hours = '0', minutes = '0'] =
    /GMT([+-])?(\d+)?:?(\d+)?/.exec(parts.find(({ type }) => type === 'timeZoneName')?.value ?? '') ?? []
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes))
}

test('the coordinates of every emulator place fit its time zone, so no latitude and longitude are swapped', () => {
  const hoursFromSun = ({ location }: Place) =>
    Math.abs(offsetMinutes(location.timezone) / 60 - location.longitude / 15)
  expect(each((place) => hoursFromSun(place) < 2)).toEqual([])
  // In January the clocks of the northern hemisphere are on standard time; summer time is a sign of the south.
  const southern = new Set(['Santiago', 'Melbourne', 'Sydney', 'Auckland'])
  expect(each(({ location }) => !southern.has(location.city) || location.latitude < -30)).toEqual([])
  expect(each(({ location }) => Math.abs(location.latitude) < 66)).toEqual([])
})

test('every place of the emulator has one beacon, at a reserved address', () => {
  expect(beacons.map(({ location }) => location)).toEqual(places.map(({ location }) => location))
  expect(beacons.every(({ host }) => isIPv4(host) && host.startsWith('203.0.113.'))).toBe(true)
  expect(new Set(beacons.map(({ host }) => host)).size).toBe(beacons.length)
  expect(beacons.every(({ udp_port, tcp_port }) => udp_port <= 59_999 && tcp_port <= 59_999)).toBe(true)
  expect(beacons.find(({ location }) => location.city === 'Frankfurt')?.fqdn).toBe('beacon-frankfurt.emulator.invalid')
})
