import { expect, test } from 'vitest'
import { createColumns } from './columns.js'
import { Draft } from './draft.js'
import { createLevels } from './levels.js'
import type { Model, Slot } from './model.js'

const NOW = 100_000
const base: Model<string> = {
  levels: Float64Array.of(0, 10_000),
  lastResortLevel: Infinity,
  teams: [{ name: 'team', max: 4, min: Uint16Array.of(4, 2) }],
  fillForMs: 5000,
  radius: undefined,
  spans: [],
  checks: undefined,
}
const span = (by: 'each' | 'youngest' | 'oldest' | 'average') => ({ by, limit: Float64Array.of(10, 100) })

/** A draft, and tickets by their value and wait. */
function drafting(
  model: Model<string>,
  tickets: readonly { value: number; waited?: number; size?: number; key?: number }[],
) {
  const columns = createColumns(model.spans.length)
  const levels = createLevels(model as unknown as Model<never>, columns)
  levels.renew(NOW)
  const facts: string[] = []
  const slots = tickets.map(({ value, waited = 0, size = 1, key = 0 }, at): Slot => {
    const row = {
      id: `t${at}`,
      since: NOW - waited,
      priority: 0,
      key: String(key),
      place: undefined,
      values: [value, value],
    }
    const slot = columns.put(row, key, -1, size)
    facts[slot] = String(value)
    return slot
  })
  return { slots, draft: new Draft({ model, columns, levels, facts, present: () => ['there'], largest: 5 }) }
}

test('members come and go, and what holds for them comes and goes with them', () => {
  const { draft, slots } = drafting({ ...base, spans: [span('each')] }, [{ value: 0 }, { value: 8 }, { value: 12 }])
  const [first, second, third] = slots as [Slot, Slot, Slot]
  expect(draft.begin(second)).toBe(true)
  expect(draft.add(first)).toBe(true)
  expect(draft.add(third)).toBe(false)
  draft.drop()
  expect(draft.add(third)).toBe(true)
  expect([...draft.members.subarray(0, draft.count)]).toEqual([second, third])
})

test('tickets of different keys do not meet', () => {
  const { draft, slots } = drafting(base, [{ value: 0 }, { value: 0, key: 1 }])
  expect(draft.begin(slots[0] as Slot)).toBe(true)
  expect(draft.admits(slots[1] as Slot)).toBe(false)
})

test.each(['oldest', 'average'] as const)(
  'by the %s: two who are too far apart are kept until a third decides',
  (by) => {
    const { draft, slots } = drafting({ ...base, spans: [span(by)] }, [
      { value: 0 },
      { value: 50 },
      { value: 20, waited: 60_000 },
    ])
    draft.begin(slots[0] as Slot)
    expect(draft.add(slots[1] as Slot)).toBe(true)
    expect(draft.isSound()).toBe(false)
    expect(draft.add(slots[2] as Slot)).toBe(true)
    expect(draft.isSound()).toBe(true)
  },
)

test('by the oldest: they are not, if nobody who may still join is old enough', () => {
  const { draft, slots } = drafting({ ...base, spans: [span('oldest')] }, [{ value: 0 }, { value: 50 }, { value: 5 }])
  draft.begin(slots[0] as Slot)
  const young = draft.invite(slots[2] as Slot)
  const other = draft.invite(slots[1] as Slot)
  draft.expect(Int32Array.of(young as number), 1)
  expect(draft.join(other as number)).toBe(false)
  expect(draft.join(young as number)).toBe(true)
})

test("of last resort, the others' limits do not count", () => {
  const model = { ...base, lastResortLevel: 1, spans: [{ by: 'each' as const, limit: Float64Array.of(10, Infinity) }] }
  const { draft, slots } = drafting(model, [{ value: 0, waited: 10_000 }, { value: 900 }])
  draft.begin(slots[0] as Slot)
  expect(draft.add(slots[1] as Slot)).toBe(true)
  expect(draft.levels()).toEqual({ youngest: 1, oldest: 1, average: 1, now: NOW })
})

test('with an opening, how those who play differ is no fault of who joins', () => {
  const { draft, slots } = drafting({ ...base, spans: [span('each')] }, [
    { value: 5, size: 0 },
    { value: 14 },
    { value: 16 },
  ])
  expect(draft.begin(slots[0] as Slot)).toBe(true)
  expect(draft.admits(slots[1] as Slot)).toBe(true)
  expect(draft.admits(slots[2] as Slot)).toBe(false)
})

test('pairs that a check forbids do not meet, those who play in an opening included', () => {
  const checks = {
    pair: (one: string, other: string) => one !== 'there' || other !== '2',
    part: undefined,
    whole: undefined,
    unevenness: undefined,
  }
  const { draft, slots } = drafting({ ...base, checks }, [{ value: 0, size: 0 }, { value: 1 }, { value: 2 }])
  draft.begin(slots[0] as Slot)
  expect(draft.admits(slots[1] as Slot)).toBe(true)
  expect(draft.admits(slots[2] as Slot)).toBe(false)
})

test('a match may be small when its oldest has waited for long enough', () => {
  const { draft, slots } = drafting(base, [{ value: 0 }, { value: 0, waited: 5000 }])
  draft.begin(slots[0] as Slot)
  expect(draft.mayBeSmall()).toBe(false)
  const old = draft.invite(slots[1] as Slot) as number
  expect(draft.mayBecomeSmall(Int32Array.of(old), 1)).toBe(true)
  draft.join(old)
  expect(draft.mayBeSmall()).toBe(true)
})
