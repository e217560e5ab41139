import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTimers } from './ticket-expiry.js'
import type { Timed } from './ticket-record.js'

const item = (): Timed => ({ dueAt: Infinity, timerIndex: -1 })

test('only due timers of tickets are returned, in order', () => {
  const timers = createTimers()
  const [one, other, never] = [item(), item(), item()]
  timers.set(one, 200)
  timers.set(other, 100)
  timers.set(never, Infinity)
  expect(timers.takeDue(99)).toEqual([])
  const due = timers.takeDue(200)
  expect(due[0]).toBe(other)
  expect(due[1]).toBe(one)
  expect(due).toHaveLength(2)
  expect(timers.takeDue(Number.MAX_VALUE)).toEqual([])
})

test('property: timers behave like a sorted list under any sets and removals', () => {
  const at = fc.oneof(fc.nat(50), fc.nat(5000))
  const step = fc.tuple(fc.nat(9), fc.constantFrom('set', 'set', 'never', 'remove', 'take'), at)
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const timers = createTimers()
      const items = Array.from({ length: 10 }, item)
      const due = new Map<Timed, number>()
      for (const [index, what, time] of steps) {
        const one = items[index] as Timed
        if (what === 'set') {
          timers.set(one, time)
          due.set(one, time)
        } else if (what === 'take') {
          const expected = [...due].filter(([, until]) => until <= time)
          const taken = timers.takeDue(time)
          expect(new Set(taken)).toEqual(new Set(expected.map(([late]) => late)))
          const inOrder = expected.map(([, until]) => until).toSorted((a, b) => a - b)
          expect(taken.map((late) => due.get(late))).toEqual(inOrder)
          for (const late of taken) due.delete(late)
        } else {
          if (what === 'never') timers.set(one, Infinity)
          else timers.remove(one)
          due.delete(one)
        }
      }
    }),
  )
})
