import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { Agenda } from './agenda.js'
import { createColumns, SETTLED, type Columns } from './columns.js'
import { OUTDATED, Unsettled } from './unsettled.js'

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
  fc.assert(
    fc.property(
      fc.array(fc.option(fc.record({ slot: fc.nat(300), isNew: fc.boolean() }), { freq: 2 }), { maxLength: 1000 }),
      (steps) => {
        const unsettled = new Unsettled(columnsOf(301))
        const listed = new Set<number>()
        const takeNext = () => {
          for (;;) {
            const slot = unsettled.take()
            if (slot !== OUTDATED) return slot
          }
        }
        for (const step of steps) {
          if (step !== null) {
            if (step.isNew) {
              unsettled.addNew(step.slot)
              listed.delete(step.slot)
            } else unsettled.add(step.slot)
            listed.add(step.slot)
          } else if (listed.size > 0) {
            const [first] = listed
            expect(takeNext()).toBe(first)
            listed.delete(first as number)
          }
          expect(unsettled.count).toBeGreaterThanOrEqual(listed.size)
        }
        for (const slot of listed) expect(takeNext()).toBe(slot)
        while (unsettled.count > 0) expect(unsettled.take()).toBe(OUTDATED)
      },
    ),
    { numRuns: 50 },
  )
})

test('a slot that is listed anew again and again takes no more room', () => {
  const unsettled = new Unsettled(columnsOf(2))
  unsettled.add(1)
  for (let time = 0; time < 10_000; time += 1) {
    unsettled.addNew(0)
    expect(unsettled.count).toBeLessThanOrEqual(64)
  }
  while (unsettled.take() !== 1);
})
