import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import { createAnswerCache, deepFreeze, fingerprint } from './cache.js'

test('the answer cache keeps a limited number of answers and drops the oldest', () => {
  const cache = createAnswerCache(1000, createManualClock())
  for (let page = 0; page < 1000; page += 1) cache.set(`${page}`, {})
  expect(cache.get('0')).toBeUndefined()
  expect(cache.get('999')).toBeDefined()
})

test('two values have the same cache fingerprint exactly if they are equal', () => {
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
])('the values %j and %j have different cache fingerprints', (one, other) =>
  expect(fingerprint(one)).not.toBe(fingerprint(other)),
)

test('a cache fingerprint is computed even for values that are nested deeper than the call stack', () => {
  const deep = (levels: number) => JSON.parse('['.repeat(levels) + ']'.repeat(levels)) as unknown
  expect(fingerprint(deep(200_000))).toBe(fingerprint(deep(200_000)))
  expect(fingerprint(deep(200_000))).not.toBe(fingerprint(deep(199_999)))
})

/** Returns a value and all values in it. */
function parts(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(parts)] : [value]
}

test('deepFreeze freezes a value at every depth without changing it', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      const value = JSON.parse(text) as unknown
      expect(deepFreeze(value)).toBe(value)
      expect(parts(value).filter((part) => !Object.isFrozen(part))).toEqual([])
      expect(value).toEqual(JSON.parse(text))
    }),
  )
})

test('deepFreeze freezes values that are nested deeper than the call stack', () => {
  const depth = 100_000
  let part = deepFreeze(JSON.parse(`${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}`) as unknown)
  let frozen = 0
  while (typeof part === 'object' && part !== null) {
    if (Object.isFrozen(part)) frozen += 1
    part = Object.values(part)[0]
  }
  expect(frozen).toBe(2 * depth)
})
