import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createAllowance } from './read-budget.js'

test('status reads never exceed the rate, except for bursts of a quarter of a second', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 4, max: 40 }),
      fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 100 }),
      (rate, gaps) => {
        const allowance = createAllowance(rate, 0)
        let now = 0
        let used = 0
        for (const gap of gaps) {
          now += gap
          while (allowance.left(now) >= 1) {
            allowance.use(now)
            used += 1
          }
          expect(used).toBeLessThanOrEqual(rate / 4 + (now / 1000) * rate + 1e-6)
        }
      },
    ),
  )
})

test('the budget of status reads counts as sufficient while half of it is left', () => {
  const allowance = createAllowance(16, 0)
  for (const ample of [true, true, true, false]) {
    expect(allowance.isAmple(0)).toBe(ample)
    allowance.use(0)
  }
  expect(allowance.isAmple(125)).toBe(true)
})
