import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { defaultDeployTimes, drawWait } from './lifecycle.js'

const quantile = (sorted: readonly number[], q: number) => sorted[Math.floor(q * sorted.length)] as number

test.each([
  ['cached', defaultDeployTimes.cachedDeployMs, 1000, 3500],
  ['not cached', defaultDeployTimes.deployMs, 5000, 21_000],
] as const)(
  'deploy times with the image %s have the exact median, and nine of ten are in the usual range',
  (_what, deployMs, low, high) => {
    const random = seededRandom(7)
    const { seekMs, spread } = defaultDeployTimes
    const waits = Array.from(
      { length: 20_000 },
      () => drawWait(seekMs, spread, random) + drawWait(deployMs, spread, random),
    ).toSorted((a, b) => a - b)
    const median = seekMs + deployMs
    expect(quantile(waits, 0.5) / median).toBeGreaterThan(0.95)
    expect(quantile(waits, 0.5) / median).toBeLessThan(1.1)
    expect(quantile(waits, 0.05)).toBeGreaterThan(low)
    expect(quantile(waits, 0.95)).toBeLessThan(high)
    // The distribution has a long tail: the slowest durations are much farther from the median than the fastest.
    expect(quantile(waits, 0.999) - median).toBeGreaterThan(2 * (median - quantile(waits, 0.001)))
  },
)

test('deploy times without spread always equal the median, and zero stays zero', () => {
  expect(drawWait(1000, 0, seededRandom(1))).toBe(1000)
  expect(drawWait(0, 0.4, seededRandom(1))).toBe(0)
  expect(drawWait(1000, 0.4, () => 0)).toBe(1000)
  expect(drawWait(1000, 0.4, () => 1 - 2 ** -32)).toBeLessThan(Infinity)
})
