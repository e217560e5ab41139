import { greatCircleKm } from '@muster/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { distancesFrom, estimatedMs, isImpossible, MOST_LATENCIES, readLatencies } from './latencies.js'

const oslo = { latitude: 59.91, longitude: 10.75 }
const sydney = { latitude: -33.87, longitude: 151.21 }
const beacons = new Map([
  ['Oslo', oslo],
  ['Sydney', sydney],
  ['Nowhere', undefined],
])
const fromOslo = distancesFrom(oslo, beacons)

test('a possible latency is believed; an impossible one is replaced by an estimate from the distance', () => {
  expect(readLatencies({ Oslo: 3, Sydney: 2, Atlantis: 20, Nowhere: 1 }, beacons, fromOslo)).toEqual({
    latencies: { Oslo: 3, Nowhere: 1, Sydney: 329 },
    impossible: 1,
    unknown: 1,
    estimated: 1,
  })
})

test.each([
  ['zero, which clients report for a failed ping,', 0],
  ['a negative number', -5],
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
])('%s counts as missing', (_, ms) => {
  expect(readLatencies({ Oslo: ms }, beacons, fromOslo).latencies).toEqual({ Oslo: 10, Sydney: 329 })
  expect(readLatencies({ Oslo: ms }, undefined, undefined).latencies).toEqual({})
})

test("without the player's place nothing is estimated or doubted; without beacons every name counts", () => {
  expect(readLatencies({ Sydney: 1, Atlantis: 1 }, beacons, undefined)).toMatchObject({
    latencies: { Sydney: 1 },
    unknown: 1,
    impossible: 0,
  })
  expect(readLatencies({ Sydney: 1, Atlantis: 1 }, undefined, undefined)).toMatchObject({
    latencies: { Sydney: 1, Atlantis: 1 },
    unknown: 0,
  })
})

test('the nearest beacons are taken where there are more than a ticket may have', () => {
  const row = new Map(
    Array.from({ length: 200 }, (_, index) => [`b${index}`, { latitude: 0, longitude: (200 - index) / 10 }] as const),
  )
  const { latencies } = readLatencies({ b0: 50 }, row, distancesFrom({ latitude: 0, longitude: 0 }, row))
  expect(Object.keys(latencies)).toHaveLength(MOST_LATENCIES)
  expect(Object.keys(latencies).slice(0, 3)).toEqual(['b0', 'b199', 'b198'])
})

test('names of members of Object.prototype are names like others', () => {
  const strange = new Map([
    ['__proto__', oslo],
    ['constructor', oslo],
  ])
  const { latencies } = readLatencies(
    JSON.parse('{"__proto__": 5}') as Record<string, number>,
    strange,
    distancesFrom(oslo, strange),
  )
  expect(Object.getPrototypeOf(latencies)).toBe(Object.prototype)
  expect(Object.entries(latencies)).toEqual([
    ['__proto__', 5],
    ['constructor', 10],
  ])
})

const place = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
})

test('no honest latency and no estimate counts as impossible', () => {
  fc.assert(
    fc.property(place, place, fc.double({ min: 1, max: 10, noNaN: true }), (player, beacon, slower) => {
      const km = greatCircleKm(player, beacon)
      expect(isImpossible(estimatedMs(km), km)).toBe(false)
      // Light through vacuum on a straight line, from an address whose place is wrong by 200 km.
      const honestMs = Math.max(0.01, ((2 * Math.max(0, km - 200)) / 299.79) * slower)
      expect(isImpossible(honestMs, km)).toBe(false)
      expect(isImpossible(0.01, km)).toBe(km > 201.5)
    }),
    { examples: [[oslo, sydney, 1]] },
  )
})
