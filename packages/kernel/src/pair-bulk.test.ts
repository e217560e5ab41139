import { describe, expect, test } from 'vitest'
import type { BulkInput } from './bulk-input.js'
import { createColumns } from './columns.js'
import { crowd, models } from './greedy.fixture.js'
import type { Entry, Model } from './model.js'
import { createPairBulk } from './pair-bulk.js'

/** How many of the tickets the bulk leaves unpaired. All tickets are at the strictest level. */
function leftOf(model: Model<undefined>, entries: readonly Entry<undefined>[]): number {
  const columns = createColumns(2)
  const slots = Int32Array.from(entries, (entry) => columns.put(entry, 0, -1, 1))
  const matched = new Set<number>()
  const input: Partial<BulkInput> & Record<string, unknown> = {
    model,
    columns,
    levels: { of: () => 0 } as unknown as BulkInput['levels'],
    group: (paired, at, count) => {
      for (const slot of paired.subarray(at, at + count)) {
        expect(matched.has(slot)).toBe(false)
        matched.add(slot)
      }
    },
    // oxlint-disable-next-line require-yield
    *settle() {
      return 0
    },
    free: (slot) => !matched.has(slot),
    disturbed: () => false,
  }
  const bulk = createPairBulk(input as BulkInput)
  const work = bulk.run(slots, slots.length)
  for (;;) {
    const { done, value } = work.next()
    if (done !== true) continue
    expect(value + matched.size).toBe(entries.length)
    return value
  }
}

const SIZE = 4000

describe('tickets that are all equally good for each other are paired at once', () => {
  const alike = (places: number, values: number): Entry<undefined>[] => {
    const all = crowd(SIZE, 1)
    return all.map((entry, at) => {
      const value = 1500 + 200 * (at % values)
      return { ...entry, place: (all[at % places] as Entry<undefined>).place, values: [value, value, 0, 0] }
    })
  }

  test.each([
    { rules: 'both', places: 1, values: 1 },
    { rules: 'both', places: 20, values: 1 },
    { rules: 'both', places: 20, values: 7 },
    { rules: 'places', places: 3, values: 1 },
    { rules: 'values', places: 1, values: 10 },
    { rules: 'both and a second value', places: 10, values: 3 },
  ] as const)('$places places, $values values, by $rules', ({ rules, places, values }) => {
    // At most one of each kind is left alone, and the bulk ends when fewer than 64 are left.
    expect(leftOf(models[rules], alike(places, values))).toBeLessThan(Math.max(64, places * values))
  })

  test('without any rule', () => {
    const model: Model<undefined> = { ...models.values, spans: [] }
    expect(leftOf(model, crowd(SIZE, 2))).toBeLessThan(64)
  })
})
