import { expect, test } from 'vitest'
import { createPool } from '@muster/kernel'
import { compileQueue } from '../compile.js'
import { defineQueue } from '../queue.js'
import type { RuleDefinition } from './definition.js'

const deploy = { application: 'game', version: '1' }

/** True if the rule matches two players with these attributes. */
function meet(rule: RuleDefinition, ...players: readonly [object, object]): boolean {
  const compiled = compileQueue(defineQueue({ name: 'queue', matchSize: 2, rules: [rule], deploy }))
  const pool = createPool(compiled.model)
  for (const [at, attributes] of players.entries()) {
    const one = { id: `p${at}`, attributes: { ...attributes }, roles: [], latencies: {}, avoid: [] }
    const place = undefined
    pool.add(compiled.entryOf({ id: `t${at}`, createdAt: 0, priority: 0, players: [one], place, network: undefined }))
  }
  return pool.group(0).length > 0
}

const not = (rule: RuleDefinition): RuleDefinition => ({ kind: 'not', rule })
const missing = 'any'
const equal: RuleDefinition = { kind: 'equal', attribute: 'clan', missing }
const threat: RuleDefinition = {
  kind: 'compare',
  scope: 'match',
  aggregate: 'max',
  attribute: 'threat',
  operator: '>',
  value: 9,
  missing,
}

const saysNothing: readonly (readonly [string, RuleDefinition, object, object])[] = [
  ['equal, on a value that no player has', equal, {}, {}],
  ['equal, on a value that one player has', equal, { clan: 'x' }, {}],
  ['different, on a value that no player has', { kind: 'different', attribute: 'clan', missing }, {}, {}],
  ['difference, on a value that no player has', { kind: 'difference', attribute: 'skill', max: 5, missing }, {}, {}],
  ['overlap, on a list that one player has', { kind: 'overlap', attribute: 'bans', missing }, { bans: ['a'] }, {}],
  [
    'require, on a value that no player has',
    { kind: 'require', attribute: 'banned', operator: '=', value: true, missing },
    {},
    {},
  ],
  [
    'accepts, without the own list',
    { kind: 'accepts', attribute: 'clan', operator: 'in', own: 'rivals', missing },
    { clan: 'x' },
    {},
  ],
  ['compare, on a number that no player has', threat, {}, {}],
  ['latency, which no player has measured', { kind: 'latency', maxMs: 50, missing }, {}, {}],
  ['distance of players without a place', { kind: 'distance', maxKm: 50, missing }, {}, {}],
  ['balance of teams without a value', { kind: 'balance', attribute: 'skill', max: 5, missing }, {}, {}],
  ['any, of rules that do not apply', { kind: 'any', rules: [equal, threat] }, {}, {}],
  ['all, of rules of which one does not apply', { kind: 'all', rules: [equal, threat] }, { threat: 10 }, {}],
  ['not, of a rule that does not apply', not(equal), {}, {}],
]

test.each(saysNothing)(
  'a rule that does not apply to a match allows it, and so does its negation: %s',
  (_, rule, one, other) => {
    expect(meet(rule, one, other)).toBe(true)
    expect(meet(not(rule), one, other)).toBe(true)
  },
)

test('`not` refuses a match for which its rule holds, and allows a match for which its rule does not hold', () => {
  expect(meet(not(equal), { clan: 'x' }, { clan: 'x' })).toBe(false)
  expect(meet(not(equal), { clan: 'x' }, { clan: 'y' })).toBe(true)
  expect(meet(not(threat), { threat: 10 }, {})).toBe(false)
  expect(meet(not(threat), { threat: 9 }, {})).toBe(true)
})

test('`all` refuses a match if one of its rules fails, even if its other rules hold', () => {
  expect(meet({ kind: 'all', rules: [equal, threat] }, { threat: 1 }, {})).toBe(false)
  expect(meet(not({ kind: 'all', rules: [equal, threat] }), { threat: 1 }, {})).toBe(true)
})
