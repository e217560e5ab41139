import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Player } from '@muster/hosting/internal'
import { percentilesOf, qualityOf } from './replay-outcomes.js'

const player = (id: string, attributes: Player['attributes'], longitude = 0): Player => ({
  id,
  attributes,
  coordinates: { latitude: 0, longitude },
})

test('percentiles of replayed waits are values of the input and do not decrease', () => {
  expect(percentilesOf([])).toEqual({ p50: 0, p90: 0, p99: 0, max: 0 })
  expect(percentilesOf([7])).toEqual({ p50: 7, p90: 7, p99: 7, max: 7 })
  expect(percentilesOf(Array.from({ length: 100 }, (_, index) => 100 - index))).toEqual({
    p50: 50,
    p90: 90,
    p99: 99,
    max: 100,
  })
  fc.assert(
    fc.property(fc.array(fc.integer(), { minLength: 1 }), (values) => {
      const { p50, p90, p99, max } = percentilesOf(values)
      expect([p50, p90, p99, max].every((value) => values.includes(value))).toBe(true)
      expect([p50, p90, p99, max]).toEqual([p50, p90, p99, max].toSorted((a, b) => a - b))
      expect(max).toBe(Math.max(...values))
      expect(values.filter((value) => value <= p50).length).toBeGreaterThanOrEqual(values.length / 2)
    }),
  )
})

test('the quality of a replayed match measures distances to the centre, differences and uneven teams', () => {
  const { distanceKm, difference, imbalance } = qualityOf([
    [
      { team: 'team-1', players: [player('a', { skill: 10, mode: 'ranked' }, 1), player('b', { skill: 30 }, -1)] },
      { team: 'team-2', players: [player('c', { skill: 40 }), { id: 'd' }] },
    ],
    [{ team: 'team', players: [player('e', { level: 3 })] }],
  ])
  // Two players are one degree of longitude apart at the equator, and one is in the middle. Another match has a single
  // player.
  expect(distanceKm.max).toBeCloseTo(111.19, 1)
  expect(distanceKm.p50).toBeCloseTo(0, 6)
  expect(Object.keys(difference)).toEqual(['skill', 'level'])
  expect(difference['skill']).toEqual(percentilesOf([30]))
  expect(difference['level']).toEqual(percentilesOf([0]))
  // 40 compared with the average of 10 and 30
  expect(imbalance).toEqual({ skill: percentilesOf([20]) })
})

test('the quality of a replayed match compares no teams if only one team has the attribute', () => {
  const match = [
    { team: 'team-1', players: [player('a', { skill: 10 })] },
    { team: 'team-2', players: [player('b', {})] },
  ]
  expect(qualityOf([match]).imbalance).toEqual({})
})

test('the quality of a replayed match can use attributes of any name', () => {
  const named = (value: number) => JSON.parse(`{"__proto__":${value}}`) as Record<string, number>
  const match = [{ team: 'team', players: [player('a', named(1)), player('b', named(4))] }]
  expect(Object.entries(qualityOf([match]).difference)).toEqual([['__proto__', percentilesOf([3])]])
})
