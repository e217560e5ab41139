import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createDeadlines, type Timed } from './ticket-expiry.js'

const item = (): Timed => ({ dueAt: 0, heapIndex: -1 })

test('each item is due in the first advance from its deadline on, whatever happened before, and only then', () => {
  const step = fc.tuple(fc.nat(9), fc.constantFrom('set', 'set', 'never', 'remove', 'new', 'advance'), fc.nat(50))
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
      const deadlines = createDeadlines()
      const items = Array.from({ length: 10 }, item)
      const due = new Map<Timed, number>()
      for (const [index, what, at] of steps) {
        const one = items[index] as Timed
        if (what === 'set') {
          deadlines.set(one, at)
          due.set(one, at)
        } else if (what === 'advance') {
          const told: Timed[] = []
          deadlines.advance(at, (late) => void told.push(late))
          const expected = [...due].filter(([, until]) => until <= at)
          const inOrder = expected.map(([, until]) => until).toSorted((a, b) => a - b)
          expect(told.map((late) => due.get(late))).toEqual(inOrder)
          expect(new Set(told)).toEqual(new Set(expected.map(([late]) => late)))
          for (const late of told) due.delete(late)
        } else {
          if (what === 'never') deadlines.set(one, Infinity)
          else deadlines.remove(one)
          due.delete(one)
          if (what === 'new') items[index] = item()
        }
      }
    }),
  )
})

test('an item may be given its next deadline, or lose it, while another is due', () => {
  const deadlines = createDeadlines()
  const [again, other, gone] = [item(), item(), item()]
  for (const one of [again, other, gone]) deadlines.set(one, 100)
  const told: Timed[] = []
  deadlines.advance(100, (one) => {
    told.push(one)
    if (one === again) deadlines.set(again, 300)
    deadlines.remove(gone)
  })
  expect(told.filter((one) => one !== gone)).toHaveLength(2)
  deadlines.advance(299, (one) => void told.push(one))
  deadlines.advance(300, (one) => void told.push(one))
  expect(told.filter((one) => one === again)).toHaveLength(2)
})

test('many items that are removed without an advance take no deadline with them', () => {
  const deadlines = createDeadlines()
  const kept = item()
  const some = Array.from({ length: 5000 }, item)
  deadlines.set(kept, 7)
  for (const one of some) deadlines.set(one, 8)
  for (const one of some) deadlines.remove(one)
  const told: Timed[] = []
  deadlines.advance(8, (one) => void told.push(one))
  expect(told).toEqual([kept])
})

test('of many items none is late, though only a part enters the heap at once', () => {
  const deadlines = createDeadlines()
  const many = Array.from({ length: 20_000 }, item)
  for (const [at, one] of many.entries()) deadlines.set(one, 1000 + (at % 7))
  const told: Timed[] = []
  const advance = (now: number) => deadlines.advance(now, (one) => void told.push(one))
  for (const now of [1, 2, 3, 4]) {
    advance(now)
    for (let each = 0; each < 3000; each++) deadlines.set(item(), 5000)
  }
  deadlines.set(many[19_999] as Timed, 500)
  deadlines.remove(many[19_998] as Timed)
  advance(499)
  expect(told).toEqual([])
  advance(500)
  expect(told).toEqual([many[19_999]])
  for (let now = 1000; now < 1007; now++) advance(now)
  expect(new Set(told)).toEqual(new Set(many.filter((_, at) => at !== 19_998)))
  expect(told).toHaveLength(19_999)
})
