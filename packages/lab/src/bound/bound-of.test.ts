import { defineQueue, type QueueDefinition } from '@muster/matchmaker'
import { describe, expect, test } from 'vitest'
import { boundOf } from './bound-of.js'
import { runOf, type Guest } from './run.fixture.js'

const queue = (definition: Partial<QueueDefinition> = {}) =>
  defineQueue({
    name: 'queue',
    matchSize: 2,
    rules: [{ kind: 'difference', attribute: 'skill', max: 10 }],
    deploy: { application: 'game', version: '1' },
    ...definition,
  })
const told = (guests: readonly Guest[], definition: Partial<QueueDefinition> = {}) => {
  const { crowd, outcome } = runOf(guests)
  return boundOf(crowd, outcome, queue(definition))
}
/** Creates a guest without a party, with a skill and the seconds between which the guest is in the queue. */
const guest = (skill: number, match?: number, from = 0, until = 1): Guest => ({ skills: [skill], from, until, match })

describe('the lower cost bound for pairs', () => {
  test('the lower cost bound for pairs is below the cost of crosswise pairs, in units of the strictest limit', () => {
    expect(told([guest(0, 0), guest(2, 1), guest(5, 0), guest(9, 1)])).toEqual({
      kind: 'optimum',
      units: [{ rule: 'difference skill', limit: 10, unit: '' }],
      players: 4,
      share: 1,
      cost: 0.6,
      withinRules: 0.3,
      anyRules: 0.3,
      ratio: 2,
      ratioAnyRules: 2,
    })
  })

  test('the lower cost bound for pairs covers the matched players only, without parties that play alone', () => {
    const party = { skills: [3, 3], from: 0, until: 1, match: 1 }
    expect(told([guest(0, 0), guest(8, 0), guest(1), party])).toMatchObject({ ratio: 1, players: 2, share: 1 })
  })

  test('the lower cost bound pairs only players who were queued at the same time, without longer waits', () => {
    const late = [guest(0, 0, 0, 1), guest(8, 0, 0, 1), guest(0, 1, 2, 3), guest(8, 1, 2, 3)]
    expect(told(late)).toMatchObject({ ratio: 1, ratioAnyRules: 1 })
  })

  test('the lower cost bound for pairs has a second ratio, to the cheapest pairs regardless of the rules', () => {
    const rules: QueueDefinition['rules'] = [
      { kind: 'difference', attribute: 'skill', max: 10 },
      { kind: 'different', attribute: 'side' },
    ]
    const guests = [guest(0, 0), guest(1, 1), guest(4, 0), guest(5, 1)].map((one, at) => ({
      ...one,
      side: at < 2 ? 'white' : 'black',
    }))
    expect(told(guests, { rules })).toMatchObject({ ratio: 1, ratioAnyRules: 4 })
  })

  test('the lower cost bound for pairs finds partners beyond the nearest dozen', () => {
    // Two groups of 15: one pair must join them. The cheapest such pair consists of the two that are nearest to the
    // other group.
    const low = Array.from({ length: 15 }, (_, at) => guest(at, at >> 1))
    const high = Array.from({ length: 15 }, (_, at) => guest(100 + at, at === 14 ? 0 : 8 + (at >> 1)))
    const made = [...low.with(0, guest(0, 0)).with(1, guest(1, 7)), ...high]
    const rules = [{ kind: 'difference', attribute: 'skill', max: { from: 10, to: 200, overMs: 1000 } }] as const
    // 14 is paired with 100, and the others with their neighbours.
    expect(told(made, { rules })).toMatchObject({ withinRules: 0.666667, anyRules: 0.666667 })
  })

  test('the lower cost bound for pairs applies limits as relaxed at the last moment of both tickets', () => {
    const max = [
      { afterMs: 0, value: 10 },
      { afterMs: 5000, value: 100 },
    ]
    const rules = [{ kind: 'difference', attribute: 'skill', max }] as const
    const guests = [guest(0, 0, 0, 6), guest(20, 1, 1.5, 6), guest(50, 0, 0, 6), guest(70, 1, 0, 6)]
    // At 4.5 s the rules do not let 20 meet 0 yet. They do half a second later.
    expect(told(guests, { rules })).toMatchObject({ cost: 5, withinRules: 5, anyRules: 2 })
    expect(told(guests.with(1, guest(20, 1, 1, 6)), { rules })).toMatchObject({ withinRules: 2, ratio: 2.5 })
  })
})

describe('the lower cost bound for larger matches', () => {
  test('the lower cost bound for larger matches is at least the cost of each player with their nearest players', () => {
    const guests = [guest(0, 0), guest(1, 1), guest(2, 0), guest(10, 1), guest(11, 0), guest(12, 1)]
    expect(told(guests, { matchSize: 3, rules: [{ kind: 'difference', attribute: 'skill', max: 20 }] })).toMatchObject({
      kind: 'lower bound',
      players: 6,
      share: 1,
      // 0, 2, 11 cost 6.5, 5.5 and 10; 1, 10, 12 cost 10, 5.5 and 6.5.
      cost: 0.366667,
      // For each of 0, 1 and 2 the nearest two are the other two, and likewise for 10, 11 and 12.
      withinRules: 0.066667,
    })
  })

  test('the lower cost bound for larger matches counts only players who could have filled a match together', () => {
    const rules = [{ kind: 'difference', attribute: 'skill', max: 10 }] as const
    const guests = [guest(0, 0), guest(9, 0), guest(10, 0), guest(-8, 1), guest(-17, 1), guest(-18, 1)]
    // 0 and -8 may meet, but there is no third player whom both may meet.
    expect(told(guests, { matchSize: 3, rules })).toMatchObject({ ratio: 1, cost: 0.666667, anyRules: 0.633333 })
  })

  test('the lower cost bound for larger matches counts a party once for each of its players', () => {
    const party = (skills: readonly number[], match: number): Guest => ({ skills, from: 0, until: 1, match })
    const guests = [party([0, 0], 0), party([6, 6], 0), party([1, 1], 1), party([7, 7], 1)]
    // Each player has a friend with the same skill. The two others differ by 6, but they would differ by only 1 if the
    // closest parties had met.
    expect(told(guests, { matchSize: 4 })).toMatchObject({ cost: 0.4, withinRules: 0.066667, players: 8 })
  })
})

test('the lower cost bound is undefined if no rule measures, or no player was matched', () => {
  expect(told([guest(0, 0), guest(2, 0)], { rules: [] })).toBeUndefined()
  expect(told([guest(0), guest(2)])).toBeUndefined()
  expect(told([])).toBeUndefined()
})

test('the ratio of real cost to lower cost bound is null if only the bound is 0', () => {
  expect(told([guest(0, 0), guest(2, 1), guest(2, 0), guest(0, 1)])).toMatchObject({ withinRules: 0, ratio: null })
  expect(told([guest(2, 0), guest(2, 0)])).toMatchObject({ cost: 0, ratio: 1 })
})

test('the lower cost bound counts distance and latency in units of their strictest limit', () => {
  const rules: QueueDefinition['rules'] = [
    { kind: 'distance', maxKm: 1000, missing: 'any' },
    { kind: 'latency', maxMs: 100, missing: 'any' },
  ]
  const guests = [
    { ...guest(0, 0), coordinates: { latitude: 0, longitude: 0 }, latencies: { a: 20, b: 90 } },
    { ...guest(0, 0), coordinates: { latitude: 0, longitude: 9 }, latencies: { a: 50, b: 30 } },
  ]
  // Nine degrees are 1000.75 km. The best beacon for both players is 50 ms away from one of them.
  const { cost } = told(guests, { rules }) ?? {}
  expect(cost).toBeCloseTo(1.50075, 4)
  expect(told([guest(0, 0), guest(0, 0)], { rules })).toMatchObject({ cost: 2 })
})
