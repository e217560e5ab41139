import fc from 'fast-check'
import { expect, test } from 'vitest'
import { relaxingBetween } from './value-arbitraries.fixture.js'
import type { DifferenceRule } from './difference.js'
import { levelsOf, limitFieldsOf, type RuleDefinition } from './definition.js'
import { tableOf } from '../rule-parts/levels.js'
import { limitAfter } from './oracle-limits.fixture.js'

const teams = [{ name: 'team', size: 2 }]
const difference = (max: DifferenceRule['max'], more: Partial<DifferenceRule> = {}): DifferenceRule => ({
  kind: 'difference',
  attribute: 'skill',
  max,
  ...more,
})

test('a queue that never relaxes has one relaxation level', () => {
  expect([...levelsOf({ teams, rules: [difference(5)] }).at]).toEqual([0])
})

test('relaxation levels are all times at which any rule relaxes, in order, each once', () => {
  const rules = [
    difference([
      { afterMs: 0, value: 1 },
      { afterMs: 300, value: 2 },
      { afterMs: 900, value: 3 },
    ]),
    difference(5, { optionalAfterMs: 300 }),
    difference(5, { optionalAfterMs: 700 }),
  ]
  const size = {
    min: [
      { afterMs: 0, value: 4 },
      { afterMs: 500, value: 2 },
    ],
    max: 4,
  }
  expect([...levelsOf({ teams: [{ name: 'team', size }], rules }).at]).toEqual([0, 300, 500, 700, 900])
})

test('`lastResortMs` is the time of the last relaxation level', () => {
  const rules = [
    difference([
      { afterMs: 0, value: 1 },
      { afterMs: 300, value: 2 },
      { afterMs: 900, value: 3 },
    ]),
  ]
  const levels = levelsOf({ teams, rules, lastResortMs: 500 })
  expect({ ...levels, at: [...levels.at] }).toEqual({ at: [0, 300, 500], last: 2, lastResort: 2, steps: 16, spanMs: 0 })
  expect(levelsOf({ teams, rules }).lastResort).toBe(Infinity)
})

test('after `lastResortMs` only hard rules apply, with their loosest limits', () => {
  const max = [
    { afterMs: 0, value: 1 },
    { afterMs: 900, value: 3 },
  ]
  const levels = levelsOf({ teams, rules: [difference(max)], lastResortMs: 500 })
  expect([...tableOf(levels, max, Infinity, difference(max))]).toEqual([1, Infinity])
  expect([...tableOf(levels, max, Infinity, difference(max, { hard: true }))]).toEqual([1, 3])
  expect([...tableOf(levels, max, Infinity, difference(max, { hard: true, optionalAfterMs: 500 }))]).toEqual([
    1,
    Infinity,
  ])
})

test('a compiled limit follows its definition at all times', () => {
  const limit = fc.oneof(relaxingBetween(0, 9), relaxingBetween(9, 0))
  fc.assert(
    fc.property(limit, fc.integer({ min: 0, max: 6000 }), (max, waited) => {
      const rule = difference(max)
      const levels = levelsOf({ teams, rules: [rule] })
      const level = levels.at.findLastIndex((ms) => ms <= waited)
      expect(tableOf(levels, max, Infinity, rule)[level]).toBe(limitAfter(max, waited))
    }),
  )
})

test('a linear limit is compiled to steps that never exceed the line', () => {
  const line = { from: 100, to: 500, startMs: 1000, overMs: 777 }
  const levels = levelsOf({ teams, rules: [difference(line)] })
  const table = tableOf(levels, line, Infinity, difference(line))
  expect(table).toHaveLength(17)
  for (const [level, ms] of levels.at.entries()) {
    const onLine = 100 + (400 * Math.max(0, ms - 1000)) / 777
    expect(table[level]).toBeLessThanOrEqual(onLine + 1e-9)
    expect(table[level]).toBeGreaterThanOrEqual(onLine - 1e-9)
  }
})

test('a queue with many linear limits gets fewer steps for each', () => {
  const lines = Array.from({ length: 30 }, (_, at) => difference({ from: 0, to: 16, overMs: 1600 + at }))
  const levels = levelsOf({ teams, rules: lines })
  expect(levels.steps).toBe(8)
  expect(levels.at.length).toBe(1 + 30 * 8)
  const table = tableOf(levels, lines[0]?.max ?? 0, Infinity, difference(0))
  expect([...new Set(table)]).toEqual([0, 2, 4, 6, 8, 10, 12, 14, 16])
})

test.each<readonly [RuleDefinition, readonly string[]]>([
  [{ kind: 'distance', maxKm: 500 }, ['maxKm']],
  [{ kind: 'latency', maxMs: 80, maxDifferenceMs: { from: 20, to: 60, overMs: 5000 } }, ['maxMs', 'maxDifferenceMs']],
  [{ kind: 'latency', maxMs: 80 }, ['maxMs']],
  [difference({ strictest: 50, loosest: 800 }), ['max']],
  [{ kind: 'overlap', attribute: 'maps', atLeast: 2 }, ['atLeast']],
  [{ kind: 'overlap', attribute: 'maps' }, []],
  [{ kind: 'compare', aggregate: 'sum', attribute: 'level', operator: '<=', value: 9 }, ['value']],
  [{ kind: 'require', attribute: 'level', operator: '>=', value: [{ afterMs: 0, value: 9 }] }, ['value']],
  [{ kind: 'require', attribute: 'mode', operator: 'in', value: ['duel', 'arena'] }, []],
  [{ kind: 'require', attribute: 'mode', operator: '=', value: 'duel' }, []],
  [{ kind: 'all', rules: [{ kind: 'distance', maxKm: 5 }] }, []],
  [{ kind: 'equal', attribute: 'mode' }, []],
])('limitFieldsOf lists the fields that hold a limit, and no other fields, of the rule %j', (rule, fields) => {
  expect(limitFieldsOf(rule)).toEqual(fields.map((field) => [field, Reflect.get(rule, field)]))
})
