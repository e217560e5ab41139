import { expect, test } from 'vitest'
import { roundTripMs } from './beacons.js'

test.each([
  [0, 4],
  [1000, 20],
  [6200, 103.2],
])('the simulated round trip over %i km takes %f ms', (km, ms) => {
  expect(roundTripMs(km)).toBeCloseTo(ms)
})
