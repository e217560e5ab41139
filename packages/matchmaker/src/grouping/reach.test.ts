import { describe, expect, test } from 'vitest'
import { chordLimit, chordOf, levelAt, searchRadii, type DistanceStep } from './reach.js'

const steps: readonly DistanceStep[] = [
  { afterMs: 0, km: 500 },
  { afterMs: 5000, km: 1000 },
  { afterMs: 20_000, km: 'any' },
]

test('a step is in force from its time on', () => {
  expect([-1, 0, 4999, 5000, 19_999, 20_000, 1e9].map((waited) => levelAt(steps, waited))).toEqual([0, 0, 0, 1, 1, 2, 2])
})

test('the straight line through the earth', () => {
  expect(chordOf(0)).toBe(0)
  expect(chordOf((6371 * Math.PI) / 2)).toBeCloseTo(Math.SQRT2, 12)
  expect(chordOf(6371 * Math.PI)).toBe(2)
  expect(chordOf(1e9)).toBe(2)
  expect(chordLimit({ afterMs: 0, km: 'any' })).toBe(Infinity)
})

describe('radii to search', () => {
  test('grow up to each step, and never beyond what its level allows', () => {
    const rungs = searchRadii(steps)
    expect(rungs).toEqual(rungs.toSorted((a, b) => a.km - b.km || a.level - b.level))
    for (const { km, level } of rungs) {
      const limit = steps[level]?.km
      expect(limit === 'any' || km <= (limit ?? 0)).toBe(true)
    }
    expect(rungs.filter(({ km }) => km === 500 || km === 1000)).toEqual([
      { km: 500, level: 0 },
      { km: 1000, level: 1 },
    ])
  })

  test('a step below the finest radius has one of its own', () => {
    expect(searchRadii([{ afterMs: 0, km: 1 }])).toEqual([{ km: 1, level: 0 }])
  })
})
