import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createNewestFirst } from './list-sweep.js'

test('entries are read from the newest on, whatever was removed between them', () => {
  const steps = fc.array(fc.tuple(fc.boolean(), fc.nat(30)), { maxLength: 400 })
  fc.assert(
    fc.property(steps, (all) => {
      const things = Array.from({ length: 31 }, (_, id) => ({ id }))
      const set = createNewestFirst<{ id: number }>()
      const model = new Set<{ id: number }>()
      for (const [isAdded, id] of all) {
        const thing = things[id] as { id: number }
        if (isAdded) set.add(thing)
        else set.delete(thing)
        if (isAdded) model.add(thing)
        else model.delete(thing)
      }
      expect([...set.newestFirst()]).toEqual([...model].toReversed())
      expect(set.size()).toBe(model.size)
    }),
  )
})
