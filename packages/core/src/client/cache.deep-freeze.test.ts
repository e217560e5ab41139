import fc from 'fast-check'
import { expect, test } from 'vitest'
import { deepFreeze } from './cache.js'

/** A value and all values in it. */
function parts(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? [value, ...Object.values(value).flatMap(parts)] : [value]
}

test('freezes a value at every depth without changing it', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (text) => {
      const value = JSON.parse(text) as unknown
      expect(deepFreeze(value)).toBe(value)
      expect(parts(value).filter((part) => !Object.isFrozen(part))).toEqual([])
      expect(value).toEqual(JSON.parse(text))
    }),
  )
})

test('freezes values that are nested deeper than the call stack', () => {
  const depth = 100_000
  let part = deepFreeze(JSON.parse(`${'[{"a":'.repeat(depth)}1${'}]'.repeat(depth)}`) as unknown)
  let frozen = 0
  while (typeof part === 'object' && part !== null) {
    if (Object.isFrozen(part)) frozen += 1
    part = Object.values(part)[0]
  }
  expect(frozen).toBe(2 * depth)
})
