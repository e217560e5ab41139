import fc from 'fast-check'
import { expect, test } from 'vitest'
import { chanceAt, leadAt, leadOf, predictedWin } from './predicted-win.js'

test.each([
  [0, 0.5],
  // Abramowitz and Stegun, Handbook of Mathematical Functions, table 26.1
  [0.5, 0.691462461274013],
  [1, 0.841344746068543],
  [2, 0.977249868051821],
  [3, 0.99865010196837],
  [5, 0.999999713348428],
  [9, 1],
  [1e300, 1],
  [Infinity, 1],
])('the standard normal distribution function Φ(%d) is %d', (lead, chance) => {
  expect(chanceAt(lead)).toBeCloseTo(chance, 14)
  expect(chanceAt(-lead)).toBeCloseTo(1 - chance, 14)
})

test('a lead in rating and its win probability convert into each other', () => {
  expect([leadAt(0.5), leadAt(1), leadAt(Infinity)]).toEqual([0, Infinity, Infinity])
  fc.assert(
    fc.property(fc.double({ min: 0.5, max: 0.999, noNaN: true }), (chance) => {
      expect(chanceAt(leadAt(chance))).toBeCloseTo(chance, 14)
    }),
  )
})

test('a win probability is never outside 0..1 through rounding', () => {
  for (let lead = -9.5; lead <= 9.5; lead += 0.001) {
    const chance = chanceAt(lead)
    expect(chance).toBeGreaterThanOrEqual(0)
    expect(chance).toBeLessThanOrEqual(1)
  }
})

test('property: the win probability rises with the lead and stays within 0..1', () => {
  const lead = fc.double({ noNaN: true })
  fc.assert(
    fc.property(lead, lead, (one, other) => {
      const [low, high] = one < other ? [chanceAt(one), chanceAt(other)] : [chanceAt(other), chanceAt(one)]
      expect(low).toBeGreaterThanOrEqual(0)
      expect(high).toBeLessThanOrEqual(1)
      expect(high - low).toBeGreaterThanOrEqual(-1e-15)
    }),
  )
})

test('teams with the same sum of ratings are even, however small their uncertainty', () => {
  expect(leadOf(0, 0, 0)).toBe(0)
  expect(leadOf(1e-300, 0, 1e-300)).toBe(Infinity)
  const team = [{ mean: 5, uncertainty: 1e-200 }]
  expect(predictedWin(team, team, 1e-200)).toBe(0.5)
  expect(predictedWin([], [])).toBe(0.5)
})
