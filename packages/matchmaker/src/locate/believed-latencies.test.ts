import { greatCircleKm } from '@muster/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { distancesFrom, estimatedMs, isImpossible, MOST_LATENCIES, readLatencies } from './believed-latencies.js'

const oslo = { latitude: 59.91, longitude: 10.75 }
const sydney = { latitude: -33.87, longitude: 151.21 }
const beacons = new Map([
  ['Oslo', oslo],
  ['Sydney', sydney],
  ['Nowhere', undefined],
])
const fromOslo = distancesFrom(oslo, beacons)

test('an impossible latency is replaced by an estimate from the distance, and a plausible one is kept', () => {
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
])('a reported latency of %s counts as missing', (_, ms) => {
  expect(readLatencies({ Oslo: ms }, beacons, fromOslo).latencies).toEqual({ Oslo: 10, Sydney: 329 })
  expect(readLatencies({ Oslo: ms }, undefined, undefined).latencies).toEqual({})
})

test('latencies are kept as sent without a place of the player, and for any name without beacons', () => {
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

test('only the nearest beacons are kept when a ticket names more than its limit', () => {
  const row = new Map(
    Array.from({ length: 200 }, (_, index) => [`b${index}`, { latitude: 0, longitude: (200 - index) / 10 }] as const),
  )
  const { latencies } = readLatencies({ b0: 50 }, row, distancesFrom({ latitude: 0, longitude: 0 }, row))
  expect(Object.keys(latencies)).toHaveLength(MOST_LATENCIES)
  expect(Object.keys(latencies).slice(0, 3)).toEqual(['b0', 'b199', 'b198'])
})

test('latencies may have beacons named like Object.prototype members', () => {
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

test('property: an honest latency or an estimate is never judged impossible', () => {
  fc.assert(
    fc.property(place, place, fc.double({ min: 1, max: 10, noNaN: true }), (player, beacon, slower) => {
      const km = greatCircleKm(player, beacon)
      expect(isImpossible(estimatedMs(km), km)).toBe(false)
      // The round trip of light in vacuum on a straight line, from an address whose location may be wrong by 200 km.
      const honestMs = Math.max(0.01, ((2 * Math.max(0, km - 200)) / 299.79) * slower)
      expect(isImpossible(honestMs, km)).toBe(false)
      expect(isImpossible(0.01, km)).toBe(km > 201.5)
    }),
    { examples: [[oslo, sydney, 1]] },
  )
})

const boston = { latitude: 42.36, longitude: -71.06 }
const seattle = { latitude: 47.61, longitude: -122.33 }
const coasts = new Map([
  ['Boston', boston],
  ['Seattle', seattle],
  ['Sydney', sydney],
])

test('a measurement overrides the place of the address, and only missing latencies are estimated', () => {
  const { latencies, impossible } = readLatencies({ Boston: 12 }, coasts, distancesFrom(seattle, coasts))
  expect(impossible).toBe(0)
  // 3,980 km from Boston, at 2 ms for every 100 km
  expect(latencies).toEqual({ Boston: 12, Seattle: 92, Sydney: 337 })
})

test('of latencies that contradict each other, the latency with most contradictions is dropped', () => {
  const measured = { Boston: 12, Seattle: 75, Sydney: 4 }
  for (const place of [undefined, boston, seattle]) {
    const distances = place && distancesFrom(place, coasts)
    const { latencies, impossible } = readLatencies(measured, coasts, distances, false)
    expect(latencies).toEqual({ Boston: 12, Seattle: 75 })
    expect(impossible).toBe(1)
  }
})

test('of two latencies that contradict each other, the latency that contradicts the address is dropped', () => {
  const both = { Boston: 12, Sydney: 10 }
  expect(readLatencies(both, coasts, distancesFrom(sydney, coasts), false).latencies).toEqual({ Sydney: 10 })
  expect(readLatencies(both, coasts, distancesFrom(boston, coasts), false).latencies).toEqual({ Boston: 12 })
  // Without a location, the lower latency is removed, because a lie about it would gain most.
  expect(readLatencies(both, coasts, undefined, false).latencies).toEqual({ Boston: 12 })
})

test('property: honest latencies of one player never contradict each other', () => {
  fc.assert(
    fc.property(place, fc.array(place, { minLength: 2, maxLength: 6 }), (player, places) => {
      const beaconsThere = new Map(places.map((at, index) => [`b${index}`, at]))
      const honest = Object.fromEntries(
        places.map((at, index) => [`b${index}`, Math.max(0.01, (2 * greatCircleKm(player, at)) / 299.79)]),
      )
      expect(readLatencies(honest, beaconsThere, undefined).impossible).toBe(0)
    }),
  )
})

test('checking contradictory latencies takes little more CPU time than checking true latencies', () => {
  const places = Array.from({ length: 64 }, (_, nth) => [
    `city-${nth}`,
    { latitude: -80 + ((nth * 37) % 160), longitude: -180 + ((nth * 101) % 360) },
  ]) as [string, { latitude: number; longitude: number }][]
  let looks = 0
  const beacons = new (class extends Map<string, { latitude: number; longitude: number }> {
    override get(name: string) {
      looks += 1
      return super.get(name)
    }
  })(places)
  const looksFor = (ms: number) => {
    looks = 0
    const { impossible } = readLatencies(Object.fromEntries(places.map(([name]) => [name, ms])), beacons, undefined)
    return { looks, impossible }
  }
  const honest = looksFor(500)
  const lie = looksFor(0.5)
  expect([honest.impossible, lie.impossible]).toEqual([0, expect.toSatisfy((count: number) => count > 50)])
  expect(lie.looks).toBeLessThanOrEqual(honest.looks * 2)
})
