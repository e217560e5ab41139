import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Coordinates, greatCircleKm, isLatitude, isLongitude } from './geo.js'

const degrees = (limit: number) => fc.double({ min: -limit, max: limit, noNaN: true })
const coordinates: fc.Arbitrary<Coordinates> = fc.record({ latitude: degrees(90), longitude: degrees(180) })
const HALF_WAY_ROUND = Math.PI * 6371

const london = { latitude: 51.5074, longitude: -0.1278 }
const sydney = { latitude: -33.8688, longitude: 151.2093 }
const northPole = { latitude: 90, longitude: 0 }

test('distances between known places are right', () => {
  expect(greatCircleKm(london, { latitude: 48.8566, longitude: 2.3522 })).toBeCloseTo(343.6, 0)
  expect(greatCircleKm(london, sydney)).toBeCloseTo(16_994, -1)
  expect(greatCircleKm({ latitude: 0, longitude: 0 }, { latitude: 0, longitude: 1 })).toBeCloseTo(111.19, 2)
})

test('distances cross the date line and the poles', () => {
  expect(greatCircleKm({ latitude: 0, longitude: 179.5 }, { latitude: 0, longitude: -179.5 })).toBeCloseTo(111.19, 2)
  expect(greatCircleKm(northPole, { latitude: 90, longitude: 137 })).toBeCloseTo(0, 6)
  expect(greatCircleKm(northPole, { latitude: -90, longitude: 0 })).toBeCloseTo(HALF_WAY_ROUND, 6)
})

test('distances are symmetric, zero to themselves, at most half the circumference, and no detour is shorter', () => {
  fc.assert(
    fc.property(coordinates, coordinates, coordinates, (a, b, c) => {
      const direct = greatCircleKm(a, b)
      expect(greatCircleKm(a, a)).toBe(0)
      expect(greatCircleKm(b, a)).toBeCloseTo(direct, 6)
      expect(direct).toBeGreaterThanOrEqual(0)
      expect(direct).toBeLessThanOrEqual(HALF_WAY_ROUND)
      expect(direct).toBeLessThanOrEqual(greatCircleKm(a, c) + greatCircleKm(c, b) + 1e-3)
    }),
  )
})

test('opposite points are half the circumference apart', () => {
  fc.assert(
    fc.property(coordinates, (a) => {
      const opposite = { latitude: -a.latitude, longitude: a.longitude > 0 ? a.longitude - 180 : a.longitude + 180 }
      expect(greatCircleKm(a, opposite)).toBeCloseTo(HALF_WAY_ROUND, 2)
    }),
  )
})

test('latitudes and longitudes must be numbers within their range', () => {
  expect([-90, 0, 90].every(isLatitude)).toBe(true)
  expect([-180, 0, 180].every(isLongitude)).toBe(true)
  expect([90.001, -91, Number.NaN, Infinity, '45', undefined, null].some(isLatitude)).toBe(false)
  expect([180.001, -181, Number.NaN, -Infinity, '45', undefined, null].some(isLongitude)).toBe(false)
})
