import { expect, test } from 'vitest'
import { createPool } from '@muster/kernel'
import { compileQueue } from '../compile.js'
import { defineQueue, type QueueDefinition } from '../queue.js'
import type { RuleDefinition } from './definition.js'

/** Tests matches of rare combinations, by rules about the whole match. docs/rules.md states how rare they may be. */

const NOW = 1_000_000_000_000
const TICK_MS = 250
const sumOf: RuleDefinition = { kind: 'compare', attribute: 'x', aggregate: 'sum', operator: '=', value: 2 }
const customSum = (wanted: number): RuleDefinition => ({
  kind: 'custom',
  name: 'sum',
  test: ({ teams }) => {
    const players = teams.flatMap(({ tickets }) => tickets).flatMap((ticket) => ticket.players)
    return players.reduce((sum, { attributes }) => sum + Number(attributes['x']), 0) === wanted
  },
})

/** Returns the round in which the first match of these values of `x` (one player each) is made, and its members. */
function firstMatch(queue: Partial<QueueDefinition>, values: readonly number[], mostRounds: number) {
  const deploy = { application: 'game', version: '1' }
  const compiled = compileQueue(defineQueue({ name: 'queue', matchSize: 2, deploy, ...queue }))
  const pool = createPool(compiled.model)
  for (const [at, x] of values.entries()) {
    const player = { id: `p${at}`, attributes: { x }, roles: [], latencies: {}, avoid: [] }
    const ticket = { id: `t${at}`, createdAt: NOW - at, priority: 0, place: undefined, network: undefined }
    pool.add(compiled.entryOf({ ...ticket, players: [player] }))
  }
  for (let round = 0; round < mostRounds; round += 1) {
    const [match] = pool.group(NOW + round * TICK_MS)
    if (match !== undefined) return { round, members: match.slots.map((slot) => pool.entryOf(slot).id) }
  }
  return undefined
}

test.each([
  ['compare', 1000, sumOf, 400, 700],
  ['custom', 400, customSum(2), 100, 300],
])(
  'the only two of many tickets that a %s rule allows together, among %i, match within 240 rounds (1 min)',
  (_, players, rule, one, other) => {
    const values = Array.from({ length: players }, (_value, at) => (at === one || at === other ? 1 : 5))
    const found = firstMatch({ rules: [rule] }, values, 240)
    expect(found?.members).toEqual([`t${other}`, `t${one}`])
  },
)

type Case = [name: string, queue: Partial<QueueDefinition>, players: number, hosts: number[], mostRounds: number]

test.each([
  ['one host of 200 in a match of ten', { matchSize: 10, rules: [{ ...sumOf, value: 1 }] }, 200, [150], 5],
  ['one host of 200 in a match of ten, by a custom rule', { matchSize: 10, rules: [customSum(1)] }, 200, [150], 5],
  [
    'a host for each of two teams, two of 100',
    {
      matchSize: undefined,
      teams: [{ name: 'team', count: 2, size: 5 }],
      rules: [{ ...sumOf, value: 1, team: 'team' }],
    },
    100,
    [20, 75],
    240,
  ],
] satisfies Case[])(
  'the rare tickets that a match needs are found within the given number of rounds: %s',
  (_, queue, players, hosts, most) => {
    const values = Array.from({ length: players }, (_value, at) => (hosts.includes(at) ? 1 : 0))
    const found = firstMatch(queue, values, most)
    expect(found?.members).toEqual(expect.arrayContaining(hosts.map((at) => `t${at}`)))
  },
)

const sameSkill: RuleDefinition = { kind: 'balance', attribute: 'x', max: 50 }
const teamsOf = (count: number, size: number | { readonly min: number; readonly max: number }) => ({
  matchSize: undefined,
  teams: [{ name: 'team', count, size }],
})

test.each([
  ['nine players for three teams of one to four', teamsOf(3, { min: 1, max: 4 }), 9, 1],
  ['nine players for four teams of one to three', teamsOf(4, { min: 1, max: 3 }), 9, 1],
  ['twelve players for five against five', teamsOf(2, 5), 12, 2],
  ['thirteen players for five against five', teamsOf(2, 5), 13, 3],
  ['fifteen players for three teams of four', teamsOf(3, 4), 15, 3],
] as const)('a few players whom no match can hold do not keep the others waiting: %s', (_, queue, players, misfits) => {
  const isMisfit = (at: number) => at >= 3 && at < 3 + misfits
  const values = Array.from({ length: players }, (_value, at) => (isMisfit(at) ? 10_000 + 5000 * at : 100 + (at % 3)))
  const found = firstMatch({ fillForMs: 0, rules: [sameSkill], ...queue }, values, 40)
  expect(found?.members.filter((id) => isMisfit(Number(id.slice(1))))).toEqual([])
})

test('patience postpones random sets of players, which cost more, until it searches for every match', () => {
  const values = Array.from({ length: 13 }, (_value, at) => (at === 3 ? 10_000 : 100 + (at % 3)))
  const queue = { ...teamsOf(3, 4), rules: [sameSkill], patience: { cost: 1, untilMs: 10_000 } }
  const found = firstMatch(queue, values, 120)
  expect(found?.round).toBeGreaterThanOrEqual(20_000 / TICK_MS - 1)
})
