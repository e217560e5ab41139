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

/** A draft and the slots of the tickets, given by value and wait. */
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
  return { slots, draft: new Draft({ model, columns, levels, facts, present: () => ['present'], largest: 5 }) }
}

test('dropping a member also drops the restrictions it brought', () => {
  const { draft, slots } = drafting({ ...base, spans: [span('each')] }, [{ value: 0 }, { value: 8 }, { value: 12 }])
  const [first, second, third] = slots as [Slot, Slot, Slot]
  expect(draft.begin(second)).toBe(true)
  expect(draft.add(first)).toBe(true)
  expect(draft.add(third)).toBe(false)
  draft.drop()
  expect(draft.add(third)).toBe(true)
  expect([...draft.members.subarray(0, draft.count)]).toEqual([second, third])
})

test('tickets of different keys are never matched', () => {
  const { draft, slots } = drafting(base, [{ value: 0 }, { value: 0, key: 1 }])
  expect(draft.begin(slots[0] as Slot)).toBe(true)
  expect(draft.admits(slots[1] as Slot)).toBe(false)
})

test.each(['oldest', 'average'] as const)(
  'rule by the %s: two tickets too far apart stay in the draft, as a third may loosen the limit',
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

test('rule by the oldest: two tickets too far apart are refused if no candidate can loosen the limit', () => {
  const { draft, slots } = drafting({ ...base, spans: [span('oldest')] }, [{ value: 0 }, { value: 50 }, { value: 5 }])
  draft.begin(slots[0] as Slot)
  const young = draft.invite(slots[2] as Slot)
  const other = draft.invite(slots[1] as Slot)
  draft.expect(Int32Array.of(young as number), 1)
  expect(draft.join(other as number)).toBe(false)
  expect(draft.join(young as number)).toBe(true)
})

test("with a member at the last-resort level, the other members' limits do not count", () => {
  const model = { ...base, lastResortLevel: 1, spans: [{ by: 'each' as const, limit: Float64Array.of(10, Infinity) }] }
  const { draft, slots } = drafting(model, [{ value: 0, waited: 10_000 }, { value: 900 }])
  draft.begin(slots[0] as Slot)
  expect(draft.add(slots[1] as Slot)).toBe(true)
  expect(draft.levels()).toEqual({ youngest: 1, oldest: 1, average: 1, now: NOW })
})

test('in an opening, differences among the present players do not count against a candidate', () => {
  const { draft, slots } = drafting({ ...base, spans: [span('each')] }, [
    { value: 5, size: 0 },
    { value: 14 },
    { value: 16 },
  ])
  expect(draft.begin(slots[0] as Slot)).toBe(true)
  expect(draft.admits(slots[1] as Slot)).toBe(true)
  expect(draft.admits(slots[2] as Slot)).toBe(false)
})

test('a forbidden pair is never matched, also with a player present in an opening', () => {
  const checks = {
    pair: (one: string, other: string) => one !== 'present' || other !== '2',
    part: undefined,
    whole: undefined,
    unevenness: undefined,
  }
  const { draft, slots } = drafting({ ...base, checks }, [{ value: 0, size: 0 }, { value: 1 }, { value: 2 }])
  draft.begin(slots[0] as Slot)
  expect(draft.admits(slots[1] as Slot)).toBe(true)
  expect(draft.admits(slots[2] as Slot)).toBe(false)
})

test('a match may be small once its oldest ticket has waited long enough', () => {
  const { draft, slots } = drafting(base, [{ value: 0 }, { value: 0, waited: 5000 }])
  draft.begin(slots[0] as Slot)
  expect(draft.mayBeSmall()).toBe(false)
  const old = draft.invite(slots[1] as Slot) as number
  expect(draft.mayBecomeSmall(Int32Array.of(old), 1)).toBe(true)
  draft.join(old)
  expect(draft.mayBeSmall()).toBe(true)
})
