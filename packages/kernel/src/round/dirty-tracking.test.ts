import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { SlotTimers } from './dirty-tracking.js'
import { Columns } from '../data/columns.js'

function columnsOf(count: number): Columns {
  const columns = new Columns(0)
  const row = { since: 0, priority: 0, key: '', place: undefined, values: [] }
  for (let each = 0; each < count; each += 1) columns.put({ ...row, id: `t${each}` }, 0, -1, 1)
  return columns
}

test('a timer slot is due no later than its earliest set time, and no entry is due before its time', () => {
  const step = fc.record({ slot: fc.nat(30), after: fc.integer({ min: 1, max: 5000 }), pass: fc.nat(2000) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const timers = new SlotTimers(columnsOf(31))
      const dueOf = new Map<number, number>()
      let now = -3000
      for (const { slot, after, pass } of steps) {
        timers.set(slot, now + after)
        dueOf.set(slot, Math.min(dueOf.get(slot) ?? Infinity, now + after))
        now += pass
        const taken = timers.takeDue(now)
        for (const one of taken) expect(dueOf.get(one)).toBeLessThanOrEqual(now)
        for (const [one, due] of dueOf) {
          if (due > now) continue
          expect(taken).toContain(one)
          dueOf.delete(one)
        }
      }
    }),
    { numRuns: 50 },
  )
})

test('a timer slot that is never due is not returned', () => {
  const timers = new SlotTimers(columnsOf(1))
  timers.set(0, Infinity)
  expect(timers.takeDue(1e15)).toEqual([])
})

test('a timer slot can be due at any time, even at 0', () => {
  const timers = new SlotTimers(columnsOf(2))
  timers.set(0, 0)
  timers.set(1, -1500)
  expect(timers.takeDue(-1)).toEqual([1])
  expect(timers.takeDue(0)).toEqual([0])
  expect(timers.takeDue(1e15)).toEqual([])
})
