import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createColumns } from './columns.js'
import { createCurveOrder } from './curve-order.js'
import { crowd, models } from './greedy.fixture.js'
import { RECORD, SLOT } from './pair-records.js'

/** Runs to the end what may pause. */
function finished<Result>(work: Generator<number, Result>): Result {
  for (;;) {
    const { done, value } = work.next()
    if (done === true) return value
  }
}

test('each ticket is in one block in each pass, and those that wait again are those that were kept', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 3000 }),
      fc.integer(),
      fc.constantFrom('both', 'places', 'values'),
      fc.integer({ min: 2, max: 5 }),
      (count, seed, rules, every) => {
        const columns = createColumns(2)
        const slots = Int32Array.from(crowd(count, seed), (entry, at) =>
          columns.put(at % 7 === 6 ? { ...entry, place: undefined } : entry, 0, -1, at % 11 === 10 ? 2 : 1),
        )
        const takesPart = (slot: number) =>
          columns.size[slot] === 1 && (rules === 'values' || columns.placeOf(slot) !== undefined)
        const order = createCurveOrder(models[rules], columns)
        const left: number[] = []
        const all = [...slots]
        finished(order.begin(slots, count, (slot) => left.push(slot)))
        expect(left).toEqual(all.filter((slot) => !takesPart(slot)))
        let waiting = all.filter(takesPart)
        for (let pass = 0; pass < 4; pass++) {
          const total = finished(order.sortAlong(pass))
          const seen: number[] = []
          const kept: number[] = []
          for (let first = 0, end = 0; first < total; first = end) {
            end = order.open(first)
            expect(end).toBeGreaterThan(first)
            for (let at = 0; at < end - first; at++) {
              const slot = order.sorted.integers[RECORD * (order.order[at] as number) + SLOT] as number
              seen.push(slot)
              if (slot % every !== 0) continue
              kept.push(slot)
              order.keep(order.order, at, at + 1)
            }
          }
          expect(seen.toSorted((one, other) => one - other)).toEqual(waiting)
          waiting = kept.toSorted((one, other) => one - other)
        }
        const told: number[] = []
        order.each((slot) => told.push(slot))
        expect(told.toSorted((one, other) => one - other)).toEqual(waiting)
      },
    ),
    { numRuns: 20 },
  )
})
