import { describe, expect, test } from 'vitest'
import { type BucketOptions, createBucket } from './token-bucket.js'
import type { Permit } from './limiter-types.js'

function setUp(options: Partial<BucketOptions> = {}) {
  const bucket = createBucket({ limit: 1, windowMs: 1000, ...options })
  /** Takes a permit at `now`. The test fails if there is none. */
  const take = (now: number): Permit => {
    const answer = bucket.reserve(now)
    if (typeof answer === 'number' || answer instanceof Promise)
      throw new Error(`no permit at ${now}: ${String(answer)}`)
    return answer
  }
  /** Takes the next permit, if necessary after a wait. Returns the time at which it was taken. */
  const nextFrom = (now: number): number => {
    const answer = bucket.reserve(now)
    if (typeof answer !== 'number') return now
    expect(answer).toBeGreaterThan(now)
    return nextFrom(answer)
  }
  return { bucket, take, nextFrom }
}

describe('a token returned to the bucket', () => {
  test('a token returns to the bucket one window after the answer', () => {
    const { take, nextFrom } = setUp()
    const permit = take(0)
    permit.written(3)
    permit.answered(20)
    expect(nextFrom(20)).toBe(1020)
  })

  test('a token does not return to the bucket before one window after the answer', () => {
    const { bucket, take } = setUp()
    const permit = take(0)
    permit.written(0)
    permit.answered(20)
    expect(bucket.reserve(1019.999)).toBe(1020)
    expect(bucket.reserve(1020)).not.toBeTypeOf('number')
  })

  test('a token returns to the bucket one window after even a very late answer', () => {
    const { bucket, take, nextFrom } = setUp()
    const permit = take(0)
    permit.written(5)
    expect(bucket.reserve(30_000)).toBe(31_000)
    permit.answered(30_000)
    expect(nextFrom(30_000)).toBe(31_000)
  })

  test('a token returns to the bucket 250 ms and a window after its request ended without an answer', () => {
    const { take, nextFrom } = setUp()
    const permit = take(0)
    permit.written(5)
    permit.release(700)
    expect(nextFrom(700)).toBe(700 + 250 + 1000)
  })

  test('a token returns to the bucket at once if the request was never written', () => {
    const { take, nextFrom } = setUp()
    take(0).release(400)
    expect(nextFrom(400)).toBe(400)
  })

  test('a token returns to the bucket only once its request can no longer be written', () => {
    const { bucket, take, nextFrom } = setUp()
    const permit = take(0)
    expect(bucket.reserve(5000)).toBe(6000)
    permit.written(5500)
    permit.answered(5550)
    expect(nextFrom(5550)).toBe(6550)
  })

  test('a token returns to the bucket once, even if an outcome is reported twice', () => {
    const { bucket, take } = setUp({ limit: 2 })
    const permit = take(0)
    permit.release(0)
    permit.release(0)
    permit.written(0)
    permit.answered(0)
    expect(bucket.inspect(0).tokens).toBe(2)

    const other = take(0)
    other.written(0)
    other.written(900)
    other.answered(10)
    other.answered(20)
    other.release(20)
    expect(bucket.inspect(1009).tokens).toBe(1)
    expect(bucket.inspect(1010).tokens).toBe(2)
  })

  test('tokens return to the bucket in the order of the answers, not in that of the written requests', () => {
    const { take, nextFrom } = setUp({ limit: 2 })
    const slow = take(0)
    const fast = take(0)
    slow.written(0)
    fast.written(1)
    fast.answered(10)
    slow.answered(40)
    expect(nextFrom(40)).toBe(1010) // takes the token too
    expect(nextFrom(1010)).toBe(1040)
  })
})

describe('the share of a bucket', () => {
  test.each([
    [40, 1, 40],
    [40, 0.5, 20],
    [40, 1 / 3, 13],
    [40, 0.025, 1],
    [100, 0.29, 29], // 100 × 0.29 is 28.999999999999996
    [10, 0.15, 1],
  ])('a bucket with limit %d and share %d has %d tokens', (limit, share, tokens) => {
    expect(setUp({ limit, share }).bucket.inspect(0)).toMatchObject({ tokens, rate: tokens })
  })

  test('a bucket share below one request per window is refused', () => {
    expect(() => createBucket({ limit: 40, windowMs: 1000, share: 0.02 })).toThrow(
      new RangeError(
        'share must be at least 1/40, one request of the limit (smaller parts need a shared limiter), not 0.02',
      ),
    )
  })
})

describe('the burst of a bucket', () => {
  test('a bucket with a burst of n starts n requests together, and then one at a time at the rate', () => {
    const { bucket, take, nextFrom } = setUp({ limit: 10, burst: 3 })
    expect(bucket.inspect(0).tokens).toBe(3)
    for (let n = 0; n < 3; n += 1) take(0)
    expect(bucket.inspect(0).tokens).toBe(0)
    expect(nextFrom(0)).toBeCloseTo(100)
    expect(nextFrom(150)).toBeCloseTo(200)
  })

  test('a token that is released unused can be taken again at once, within the burst of the bucket', () => {
    const { bucket, take } = setUp({ limit: 10, burst: 1 })
    take(0).release(20)
    expect(bucket.reserve(20)).not.toBeTypeOf('number')
    expect(bucket.reserve(20)).toBeTypeOf('number')
  })

  test('the burst of a bucket is at most the share of the bucket in the limit', () => {
    expect(setUp({ limit: 4, share: 0.5, burst: 4 }).bucket.inspect(0).tokens).toBe(2)
  })
})

describe('a bucket after a 429', () => {
  test('a bucket after a 429 gives out fewer tokens', () => {
    const { bucket } = setUp({ limit: 10 })
    bucket.throttled(0, 1000)
    expect(bucket.inspect(1000)).toMatchObject({ tokens: 7, rate: 7 })
    expect(bucket.inspect(1500)).toMatchObject({ tokens: 7, rate: 7.25 })
    expect(bucket.inspect(2000).rate).toBe(7.5)
    expect(bucket.inspect(7000)).toMatchObject({ tokens: 10, rate: 10 })
  })

  test('a bucket after a 429 subtracts the tokens in use from the reduced number', () => {
    const { bucket, take } = setUp({ limit: 10 })
    for (let n = 0; n < 8; n += 1) take(0)
    bucket.throttled(0, 0)
    expect(bucket.inspect(0).tokens).toBe(0)
  })

  test('a bucket after a 429 stretches the window if one start per window is already too many', () => {
    const { bucket, take, nextFrom } = setUp()
    bucket.throttled(0, 100_000)
    for (let at = 1000; at < 100_000; at += 1000) bucket.throttled(at, 100_000)
    const permit = take(0)
    permit.answered(0)
    expect(bucket.inspect(0).rate).toBe(0.7)
    expect(nextFrom(0)).toBeCloseTo(1000 / 0.7)
  })
})

test.each<[Partial<BucketOptions>, string]>([
  [{ limit: 0 }, 'limit must be a whole number from 1, not 0'],
  [{ limit: 2.5 }, 'limit must be a whole number from 1, not 2.5'],
  [{ windowMs: 0 }, 'windowMs must be a number above 0, not 0'],
  [{ windowMs: Number.POSITIVE_INFINITY }, 'windowMs must be a number above 0, not Infinity'],
  [{ share: 0 }, 'share must be a number above 0 and up to 1, not 0'],
  [{ share: 1.1 }, 'share must be a number above 0 and up to 1, not 1.1'],
  [{ share: Number.NaN }, 'share must be a number above 0 and up to 1, not NaN'],
  [{ burst: 0 }, 'burst must be a whole number from 1, not 0'],
  [{ jitterMs: -1 }, 'jitterMs must be a number from 0, not -1'],
])('the bucket refuses the options %o', (options, message) =>
  expect(() => setUp(options)).toThrow(new RangeError(message)),
)
