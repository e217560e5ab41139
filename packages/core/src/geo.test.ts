import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Coordinates, greatCircleKm, isLatitude, isLongitude, middleOf } from './geo.js'

const degrees = (limit: number) => fc.double({ min: -limit, max: limit, noNaN: true })
const coordinates: fc.Arbitrary<Coordinates> = fc.record({ latitude: degrees(90), longitude: degrees(180) })
const HALF_WAY_ROUND = Math.PI * 6371

const london = { latitude: 51.5074, longitude: -0.1278 }
const sydney = { latitude: -33.8688, longitude: 151.2093 }
const northPole = { latitude: 90, longitude: 0 }

test('great-circle distances between known places are correct', () => {
  expect(greatCircleKm(london, { latitude: 48.8566, longitude: 2.3522 })).toBeCloseTo(343.6, 0)
  expect(greatCircleKm(london, sydney)).toBeCloseTo(16_994, -1)
  expect(greatCircleKm({ latitude: 0, longitude: 0 }, { latitude: 0, longitude: 1 })).toBeCloseTo(111.19, 2)
})

test('great-circle distances cross the date line and the poles', () => {
  expect(greatCircleKm({ latitude: 0, longitude: 179.5 }, { latitude: 0, longitude: -179.5 })).toBeCloseTo(111.19, 2)
  expect(greatCircleKm(northPole, { latitude: 90, longitude: 137 })).toBeCloseTo(0, 6)
  expect(greatCircleKm(northPole, { latitude: -90, longitude: 0 })).toBeCloseTo(HALF_WAY_ROUND, 6)
})

test('great-circle distances are symmetric, at most half the circumference, and no detour is shorter', () => {
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

test('antipodes are half of the Earth’s circumference apart', () => {
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

const place = (latitude: number, longitude: number): Coordinates => ({ latitude, longitude })

test('the midpoint is defined for no places, one place and opposite places', () => {
  expect(middleOf([])).toBeUndefined()
  expect(middleOf([place(1, 2)])).toEqual(place(1, 2))
  expect(middleOf([place(90, 0), place(-90, 0)])).toEqual(place(90, 0))
})

test('the midpoint of places on both sides of the date line lies near the date line', () => {
  const middle = middleOf([place(0, 179), place(0, -179)])
  expect(middle?.latitude).toBeCloseTo(0, 9)
  expect(Math.abs(middle?.longitude ?? 0)).toBeCloseTo(180, 9)
})

test('the midpoint of two places is equally far from both', () => {
  const anywhere = fc.record({
    latitude: fc.double({ min: -80, max: 80, noNaN: true }),
    longitude: fc.double({ min: -170, max: 170, noNaN: true }),
  })
  fc.assert(
    fc.property(anywhere, anywhere, (a, b) => {
      fc.pre(greatCircleKm(a, b) < 19_000)
      const middle = middleOf([a, b]) as Coordinates
      expect(Math.abs(greatCircleKm(a, middle) - greatCircleKm(b, middle))).toBeLessThan(0.01)
    }),
  )
})
