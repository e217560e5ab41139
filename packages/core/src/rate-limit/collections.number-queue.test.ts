import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createNumberQueue } from './collections.js'

test('returns numbers in the order in which they were added', () => {
  // A number is pushed; undefined takes one out.
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.double({ noNaN: true }), { nil: undefined, freq: 3 }), { maxLength: 300 }),
      (steps) => {
        const queue = createNumberQueue()
        const model: number[] = []
        for (const step of steps) {
          if (step === undefined) {
            queue.shift()
            model.shift()
          } else {
            queue.push(step)
            model.push(step)
          }
          expect([queue.first(), queue.size()]).toEqual([model[0], model.length])
        }
      },
    ),
  )
})
