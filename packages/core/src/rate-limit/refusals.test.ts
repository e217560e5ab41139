import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { seededRandom } from '../time.js'
import { createRefusals } from './learned-limit.js'

/** Returns how often refusals are mistaken for those of a limit, if a share of all requests is refused at random. */
function judged(perSecond: number, share: number, seconds: number, seed: number, isProbing = false): number {
  const refusals = createRefusals()
  const random = seededRandom(seed)
  let limits = 0
  for (let request = 0; request < perSecond * seconds; request += 1) {
    const now = (request * 1000) / perSecond
    if (random() >= share) refusals.accepted(now)
    else if (refusals.refused(now, isProbing)) limits += 1
  }
  return limits
}

describe('refusals of an operation', () => {
  test('one to four 429s of an operation do not indicate a limit', () => {
    const refusals = createRefusals()
    expect([0, 1, 2, 3].map((now) => refusals.refused(now, false))).toEqual([false, false, false, false])
  })

  test('an operation whose calls all get a 429 has a limit, until one call is accepted', () => {
    const refusals = createRefusals()
    for (let now = 0; now < 4; now += 1) refusals.refused(now, false)
    expect(refusals.refused(4, false)).toBe(true)
    expect(refusals.refused(9000, false)).toBe(true)
    refusals.accepted(9001)
    expect(refusals.refused(9002, false)).toBe(false)
  })

  test('429s that hit 3 in 100 calls at random hardly ever indicate a limit, at any rate', () => {
    for (const perSecond of [1, 3, 10, 30, 100]) {
      let limits = 0
      for (let seed = 1; seed <= 20; seed += 1) limits += judged(perSecond, 0.03, 600, seed)
      // 20 runs of ten minutes each
      expect(limits, `${perSecond} a second`).toBeLessThanOrEqual(6)
    }
  })

  test('429s reveal a limit exceeded by a tenth or more within 400 requests', () => {
    fc.assert(
      fc.property(fc.integer({ min: 20, max: 200 }), fc.double({ min: 1.1, max: 20, noNaN: true }), (limit, times) => {
        const refusals = createRefusals()
        const perSecond = Math.ceil(limit * times)
        for (let request = 0; request < 400 + perSecond; request += 1) {
          const now = Math.floor(request / perSecond) * 1000
          if (request % perSecond < limit) refusals.accepted(now)
          else if (refusals.refused(now, false)) return
        }
        expect.fail(`${perSecond} a second against ${limit}`)
      }),
    )
  })

  test('while a higher rate is tried, the second 429 ends that trial', () => {
    const refusals = createRefusals()
    for (let now = 0; now < 20; now += 1) refusals.accepted(now)
    expect([20, 21].map((now) => refusals.refused(now, true))).toEqual([false, true])
    refusals.accepted(22)
    refusals.restart()
    expect([23, 24].map((now) => refusals.refused(now, true))).toEqual([false, true])
  })

  test('old 429s do not count as a sign of a rate limit', () => {
    const refusals = createRefusals()
    for (let now = 0; now < 60_000; now += 10_000) expect(refusals.refused(now, false)).toBe(false)
  })
})
