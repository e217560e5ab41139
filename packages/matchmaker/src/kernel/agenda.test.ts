import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Agenda } from './agenda.js'
import { createColumns, SETTLED, type Columns } from './columns.js'
import { Unsettled } from './unsettled.js'

function columnsOf(count: number): Columns {
  const columns = createColumns(0)
  const row = { since: 0, priority: 0, key: '', place: undefined, values: [] }
  for (let each = 0; each < count; each += 1) columns.put({ ...row, id: `t${each}` }, 0, -1, 1)
  columns.standing.fill(SETTLED)
  return columns
}

test('a slot is taken no later than the earliest time it was set for, and no entry is taken before its time', () => {
  const step = fc.record({ slot: fc.nat(30), after: fc.integer({ min: 1, max: 50 }), pass: fc.nat(20) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const agenda = new Agenda(columnsOf(31))
      const dueOf = new Map<number, number>()
      let now = 1
      for (const { slot, after, pass } of steps) {
        agenda.set(slot, now + after)
        dueOf.set(slot, Math.min(dueOf.get(slot) ?? Infinity, now + after))
        now += pass
        const taken = new Set<number>()
        for (let due = agenda.takeDue(now); due !== undefined; due = agenda.takeDue(now)) taken.add(due)
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

test('a slot that is due never is not taken', () => {
  const agenda = new Agenda(columnsOf(1))
  agenda.set(0, Infinity)
  expect(agenda.takeDue(1e15)).toBeUndefined()
})

test('unsettled slots are taken in the order in which they were listed, with new tickets at the end, each once', () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ slot: fc.nat(300), isNew: fc.boolean() }) },
    fc.record({ many: fc.integer({ min: 1, max: 9 }) }),
    fc.constant('read' as const),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1000 }), (steps) => {
      const unsettled = new Unsettled(columnsOf(301))
      const listed = new Set<number>()
      /** How many entries are still to be read, and which slots these are. */
      let left = 0
      let unread = new Set<number>()
      const into = new Int32Array(2048)
      const take = (many: number) => {
        const taken = into.subarray(0, unsettled.take(many, into))
        expect([...taken]).toEqual([...listed].slice(0, taken.length))
        for (const slot of taken) listed.delete(slot)
        for (const slot of taken.subarray(0, left > 0 ? taken.length : 0)) expect(unread.delete(slot)).toBe(true)
        left -= Math.min(left, many)
        if (left === 0) expect(unread.size).toBe(0)
      }
      for (const each of steps) {
        if (each === 'read') {
          unsettled.beginReading()
          left = unsettled.count
          unread = new Set(listed)
        } else if ('many' in each) {
          take(Math.min(each.many, left === 0 ? unsettled.count : left))
        } else {
          const { slot, isNew } = each
          if (isNew) {
            unsettled.addNew(slot)
            listed.delete(slot)
            unread.delete(slot)
          } else unsettled.add(slot)
          listed.add(slot)
        }
        expect(unsettled.count).toBeGreaterThanOrEqual(listed.size)
      }
      take(left)
      take(unsettled.count)
      expect([unsettled.count, listed.size]).toEqual([0, 0])
    }),
    { numRuns: 50 },
  )
})

test('a slot that is listed anew again and again takes no more room, unless the list is being read', () => {
  const unsettled = new Unsettled(columnsOf(2))
  const listAnew = () => {
    let most = 0
    for (let time = 0; time < 10_000; time += 1) {
      unsettled.addNew(0)
      most = Math.max(most, unsettled.count)
    }
    return most
  }
  unsettled.add(1)
  expect(listAnew()).toBeLessThanOrEqual(64)
  const into = new Int32Array(64)
  unsettled.beginReading()
  const { count } = unsettled
  expect(unsettled.take(1, into)).toBe(1)
  expect(listAnew()).toBeGreaterThan(10_000)
  unsettled.take(count - 1, into)
  expect(listAnew()).toBeLessThanOrEqual(16_384)
})
