import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createHeap } from './heap.js'

test('the heap returns its entries in ascending order', () => {
  fc.assert(
    fc.property(fc.array(fc.integer()), fc.array(fc.integer()), (first, second) => {
      const heap = createHeap<number>((a, b) => a < b)
      for (const item of first) heap.add(item)
      const sorted = first.toSorted((a, b) => a - b)
      const half = sorted.slice(0, first.length >> 1)
      expect(half.map(() => heap.shift())).toEqual(half)
      for (const item of second) heap.add(item)
      const rest = [...sorted.slice(half.length), ...second].toSorted((a, b) => a - b)
      expect(heap.first()).toBe(rest[0])
      expect(rest.map(() => heap.shift())).toEqual(rest)
      expect(heap.shift()).toBeUndefined()
    }),
  )
})
