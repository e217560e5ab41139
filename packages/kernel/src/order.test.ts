import { seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createColumns } from './columns.js'
import { createOrder } from './order.js'

const OTHER = {
  id: 'other',
  size: 1,
  since: 0,
  priority: 0,
  key: '',
  place: undefined,
  network: undefined,
  values: [],
  facts: undefined,
}

test('slots are in the order in which they are served, whatever order they came in', () => {
  fc.assert(
    fc.property(
      fc.constantFrom(0, 1, 2, 50, 70, 4096, 4097, 9000),
      fc.integer(),
      fc.constantFrom('one time', 'few times', 'any time', 'in order', 'in order but for the last'),
      fc.constantFrom(1, 1, 3),
      fc.boolean(),
      (count, seed, times, priorities, isShuffled) => {
        const random = seededRandom(seed)
        const columns = createColumns(0)
        const sinceOf = () =>
          times === 'one time' ? 7 : times === 'few times' ? Math.floor(10 * random()) : 1e5 * random()
        const since = Array.from({ length: count }, sinceOf)
        if (times.startsWith('in order')) since.sort((one, other) => one - other)
        if (times === 'in order but for the last') since.push(since.shift() ?? 0)
        const entries = since.slice(0, count).map((time, at) => ({
          id: `t${Math.floor(1e9 * random())}-${at}`,
          size: 1,
          since: time,
          priority: Math.floor(priorities * random()),
          key: '',
          place: undefined,
          network: undefined,
          values: [],
          facts: undefined,
        }))
        // Slots that were used before are in no order of their own.
        const before = Array.from({ length: Math.floor(count * random()) }, () => columns.put(OTHER, 0, -1, 1))
        for (const slot of before.toSorted(() => random() - 0.5)) columns.reuse(slot)
        const slots = Int32Array.from(entries, (entry) => columns.put(entry, 0, -1, 1))
        const entryOf = new Map(Array.from(slots, (slot, at) => [slot, entries[at] as (typeof entries)[number]]))
        if (isShuffled) slots.sort((one, other) => one - other)
        const work = createOrder(columns).sortInSteps(slots)
        while (work.next().done !== true);
        // Of the same time, those that came first are first: sorting keeps their order.
        const expected = entries.toSorted((one, other) => other.priority - one.priority || one.since - other.since)
        expect(Array.from(slots, (slot) => entryOf.get(slot)?.id)).toEqual(expected.map(({ id }) => id))
      },
    ),
    { numRuns: 60 },
  )
})
