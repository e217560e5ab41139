import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTimerHeap, type Timed } from './ticket-expiry.js'

const item = (): Timed => ({ dueAt: 0, heapIndex: -1 })

test('due timers are returned in order, and no others', () => {
  const deadlines = createTimerHeap()
  const [one, other, never] = [item(), item(), item()]
  deadlines.set(one, 200)
  deadlines.set(other, 100)
  deadlines.set(never, Infinity)
  expect(deadlines.takeDue(99)).toBeUndefined()
  expect(deadlines.takeDue(200)).toBe(other)
  expect(deadlines.takeDue(200)).toBe(one)
  expect(deadlines.takeDue(Number.MAX_VALUE)).toBeUndefined()
})

test('any sequence of sets and removals gives the results of a sorted list', () => {
  const step = fc.tuple(fc.nat(9), fc.constantFrom('set', 'never', 'remove', 'take'), fc.nat(50))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const deadlines = createTimerHeap()
      const items = Array.from({ length: 10 }, item)
      const due = new Map<Timed, number>()
      for (const [index, what, at] of steps) {
        const one = items[index] as Timed
        if (what === 'set') {
          deadlines.set(one, at)
          due.set(one, at)
        } else if (what === 'take') {
          const least = Math.min(...due.values())
          const taken = deadlines.takeDue(at)
          expect(taken === undefined).toBe(least > at)
          if (taken === undefined) continue
          expect(due.get(taken)).toBe(least)
          due.delete(taken)
        } else {
          if (what === 'never') deadlines.set(one, Infinity)
          else deadlines.remove(one)
          due.delete(one)
        }
      }
    }),
  )
})
