import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { AWAKE, createColumns, SETTLED, type Columns } from './columns.js'
import { Unsettled } from './unsettled.js'

function columnsOf(count: number): Columns {
  const columns = createColumns(0)
  const row = { since: 0, priority: 0, key: '', place: undefined, values: [] }
  for (let each = 0; each < count; each += 1) columns.put({ ...row, id: `t${each}` }, 0, -1, 1)
  return columns
}

test('unsettled slots are read in the order in which they were listed, with new tickets at the end, each once', () => {
  const slot = fc.oneof(fc.nat(8), fc.nat(300))
  const step = fc.oneof(
    { weight: 6, arbitrary: fc.record({ add: slot, isNew: fc.boolean() }) },
    { weight: 2, arbitrary: fc.record({ settle: slot }) },
    { weight: 2, arbitrary: fc.record({ read: fc.integer({ min: 1, max: 9 }) }) },
    fc.constant('begin' as const),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 1000, size: 'max' }), (steps) => {
      const columns = columnsOf(301)
      const unsettled = new Unsettled(columns)
      const into = new Int32Array(2048)
      const listed = new Set<number>()
      /** Entries that are still to be read, and the slots that may be among them. */
      let left = 0
      let unread: number[] = []
      const read = (many: number) => {
        const found = into.subarray(0, unsettled.read(many, into))
        left -= Math.min(left, many)
        const last = found.length === 0 ? 0 : unread.indexOf(found.at(-1) as number) + 1
        // After the last that was found, others may have been read that have settled.
        const passed = left === 0 ? unread.splice(0) : unread.splice(0, last)
        expect([...found]).toEqual(passed.filter((one) => columns.standing[one] !== SETTLED))
        for (const one of passed) if (columns.standing[one] === SETTLED) listed.delete(one)
      }
      const begin = () => {
        left = unsettled.beginReading()
        unread = [...listed]
      }
      // The list does not tell which of the next it has read if they have settled, so these stay as they are.
      const isInDoubt = (one: number) => unread.includes(one) && columns.standing[one] === SETTLED
      for (const each of steps) {
        if (each === 'begin') begin()
        else if ('read' in each) read(each.read)
        else if ('settle' in each) {
          if (!unread.includes(each.settle)) columns.standing[each.settle] = SETTLED
        } else if (!isInDoubt(each.add)) {
          columns.standing[each.add] = AWAKE
          if (each.isNew) {
            unsettled.addNew(each.add)
            listed.delete(each.add)
            unread = unread.filter((one) => one !== each.add)
          } else unsettled.add(each.add)
          listed.add(each.add)
        }
        const waiting = [...listed].filter((one) => columns.standing[one] !== SETTLED)
        expect(unsettled.count).toBeGreaterThanOrEqual(waiting.length)
      }
      begin()
      read(left)
      expect(unsettled.count).toBe(listed.size)
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
  const count = unsettled.beginReading()
  expect(unsettled.read(1, into)).toBe(1)
  expect(listAnew()).toBeGreaterThan(10_000)
  unsettled.read(count - 1, into)
  expect(listAnew()).toBeLessThanOrEqual(16_384)
})
