import { expect, test } from 'vitest'
import type { Curve } from '../../wire.js'
import { curveLine, endOfCurves, endOfRule } from './curves.js'

const curve = (shape: Curve['shape'], ...points: readonly [after: number, limit: number | null][]): Curve => ({
  rule: 'distance',
  unit: 'km',
  shape,
  points: points.map(([after, limit]) => ({ after, limit })),
})

test('a step curve of a rule is constant until the next step, and the last step until the end', () => {
  expect(curveLine(curve('steps', [0, 500], [10_000, 2000]), 15)).toEqual({
    xs: [0, 10, 10, 15],
    ys: [500, 500, 2000, 2000],
  })
})

test('a linear curve of a rule rises evenly, and stays constant after its last point', () => {
  expect(curveLine(curve('linear', [0, 50], [20_000, 100]), 25)).toEqual({ xs: [0, 20, 25], ys: [50, 100, 100] })
})

test('the curve of a rule has a gap once the rule no longer applies', () => {
  const steps = curve('steps', [0, 500], [60_000, null])
  expect(curveLine(steps, 75)).toEqual({ xs: [0, 60, 60], ys: [500, 500, null] })
  expect(curveLine(curve('linear', [0, 5], [60_000, null]), 75)).toEqual({ xs: [0, 60, 60], ys: [5, 5, null] })
  expect([endOfRule(steps), endOfRule(curve('steps', [0, 1]))]).toEqual([60_000, undefined])
})

test('plots of rules end after the last change, and not before 10 s', () => {
  expect(endOfCurves([])).toBe(10)
  expect(endOfCurves([curve('steps', [0, 1], [60_000, 2]), curve('steps', [0, 1])])).toBe(75)
})
