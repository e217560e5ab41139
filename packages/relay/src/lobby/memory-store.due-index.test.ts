import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDueIndex } from './memory-store.js'

const id = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h')
const dueAt = fc.oneof(fc.integer({ min: 0, max: 20 }), fc.constant(Infinity))
const change = fc.oneof(
  { weight: 3, arbitrary: fc.record({ id, dueAt }) },
  { weight: 1, arbitrary: fc.record({ id, dueAt: fc.constant(undefined) }) },
)
const someNow = fc.integer({ min: 0, max: 20 })
const someLimit = fc.integer({ min: 1, max: 9 })

test('after any changes it returns exactly the due ids, the earliest first', () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), someNow, someLimit, (changes, now, limit) => {
      const index = createDueIndex()
      const model = new Map<string, number>()
      for (const one of changes) {
        if (one.dueAt === undefined) {
          index.delete(one.id)
          model.delete(one.id)
        } else {
          index.set(one.id, one.dueAt)
          model.set(one.id, one.dueAt)
        }
      }
      const wanted = [...model].filter(([, at]) => at <= now)
      const times = (ids: readonly string[]) => ids.map((one) => model.get(one))
      const found = index.due(now, limit)
      expect(times(found)).toEqual(
        wanted
          .map(([, at]) => at)
          .toSorted((a, b) => a - b)
          .slice(0, limit),
      )
      expect(new Set(found).size).toBe(found.length)
      // Reading changes nothing.
      expect(index.due(now, limit)).toEqual(found)
      expect(index.due(Infinity, Infinity).toSorted()).toEqual([...model.keys()].toSorted())
    }),
  )
})

test('of 100,000 ids it reads only the due ones', () => {
  const index = createDueIndex()
  let reads = 0
  for (let number = 0; number < 100_000; number += 1) index.set(`${number}`, number)
  const now = {
    valueOf: () => {
      reads += 1
      return 4
    },
  }
  expect(index.due(now as unknown as number, 10)).toEqual(['0', '1', '2', '3', '4'])
  expect(reads).toBeLessThan(20)
})
