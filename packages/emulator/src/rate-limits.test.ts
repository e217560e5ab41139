import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fixedWindow, type Limiter, slidingLog, tokenBucket } from './rate-limits.js'

const limit = { name: 'test', limit: 4, windowMs: 1000 }
const start = Date.UTC(2026, 0, 1)

/** Returns those of the given times at which a request passes. */
function passing(limiter: Limiter, instants: readonly number[]): number[] {
  return instants.filter((instant) => limiter.take(start + instant) === 0)
}

const arrivals = fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 80 }).map((gaps) => {
  let now = 0
  return gaps.map((gap) => (now += gap))
})

describe('the sliding log', () => {
  test('the sliding-log limit never admits more requests than the limit in any window', () => {
    fc.assert(
      fc.property(arrivals, (instants) => {
        const passed = passing(slidingLog(limit), instants)
        for (const from of passed) {
          expect(
            passed.filter((instant) => instant >= from && instant < from + limit.windowMs).length,
          ).toBeLessThanOrEqual(limit.limit)
        }
      }),
    )
  })

  test('the sliding-log limit has a free slot exactly one window after its request', () => {
    const log = slidingLog(limit)
    expect(passing(log, [0, 100, 200, 300])).toHaveLength(4)
    expect(log.take(start + 400)).toBe(600)
    expect(log.take(start + 999)).toBe(1)
    expect(log.take(start + 1000)).toBe(0)
    expect(log.take(start + 1000)).toBe(100)
  })
})

describe('the fixed window', () => {
  test('each window of the fixed-window limit begins with the full number of requests', () => {
    const windows = fixedWindow(limit)
    expect(passing(windows, [990, 991, 992, 993])).toHaveLength(4)
    expect(windows.take(start + 994)).toBe(6)
    expect(passing(windows, [1000, 1001, 1002, 1003, 1004])).toHaveLength(4)
  })
})

describe('the token bucket', () => {
  test('the token-bucket limit admits a full burst after a pause, then one request per token', () => {
    const bucket = tokenBucket(limit)
    expect(passing(bucket, [0, 0, 0, 0, 0])).toHaveLength(4)
    expect(bucket.take(start + 100)).toBeCloseTo(150, 6)
    expect(bucket.take(start + 250)).toBe(0)
    expect(bucket.take(start + 250)).toBeCloseTo(250, 6)
    expect(passing(bucket, [5000, 5000, 5000, 5000, 5000])).toHaveLength(4)
  })

  test('the token-bucket limit does not refuse a request that is exactly on time by rounding', () => {
    const bucket = tokenBucket({ name: 'test', limit: 3, windowMs: 1000 })
    const onTime = Array.from({ length: 300 }, (_, index) => (index * 1000) / 3)
    expect(passing(bucket, onTime)).toHaveLength(300)
  })
})

test.each(Object.entries({ slidingLog, fixedWindow, tokenBucket }))(
  'the rate limit %s admits a request after the advised wait, and not before',
  (_name, create) => {
    fc.assert(
      fc.property(arrivals, (instants) => {
        const limiter = create(limit)
        let now = start
        for (const instant of instants) {
          now = Math.max(now, start + instant)
          const wait = limiter.take(now)
          if (wait === 0) continue
          expect(limiter.take(now + wait / 2)).toBeGreaterThan(0)
          now += wait
          expect(limiter.take(now)).toBe(0)
        }
      }),
    )
  },
)
