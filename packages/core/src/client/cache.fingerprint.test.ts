import fc from 'fast-check'
import { expect, test } from 'vitest'
import { fingerprint } from './cache.js'

test('is equal exactly for equal values', () => {
  const value = fc.jsonValue({ maxDepth: 3 })
  fc.assert(
    fc.property(value, value, (one, other) => {
      expect(fingerprint(one)).toBe(fingerprint(structuredClone(one)))
      expect(fingerprint(one) === fingerprint(other)).toBe(JSON.stringify(one) === JSON.stringify(other))
    }),
    { numRuns: 500 },
  )
})

test.each([
  [['a', 'b'], ['a,b']],
  [[[], []], [[[]]]],
  [{ a: 1 }, { a: '1' }],
  [{ a: { b: 1 } }, { a: {}, b: 1 }],
  [null, 'null'],
  [[null], [undefined]],
])('tells %j from %j', (one, other) => expect(fingerprint(one)).not.toBe(fingerprint(other)))

test('is made of values that are nested deeper than the call stack', () => {
  const deep = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown
  expect(fingerprint(deep(200_000))).toBe(fingerprint(deep(200_000)))
  expect(fingerprint(deep(200_000))).not.toBe(fingerprint(deep(199_999)))
})
