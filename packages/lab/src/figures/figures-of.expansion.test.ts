import { expect, test } from 'vitest'
import type { RuleDefinition } from '@muster/matchmaker'
import { figuresOf } from './figures-of.js'
import { crowdOf, outcomeOf, queueOf } from './outcome.fixture.js'

const steps = [100, 200, 300].map((value, at) => ({ afterMs: at * 10_000, value }))
/** A party of three who waited 5 s, and a player who waited 25 s. */
const crowd = crowdOf([[{}, {}, {}], [{}]])
const fates = [5000, 25_000].map((waitMs) => ({ match: 0, waitMs }))
const sharesOf = (rule: RuleDefinition | undefined, more: object = {}) => {
  const queue = queueOf({ matchSize: 4, ...(rule && { rules: [rule] }), ...more })
  return figuresOf(crowd, outcomeOf(fates), { queues: [queue] }).queues['queue']?.expansion
}

const difference = { kind: 'difference', attribute: 'skill', max: steps, missing: 'any' } as const
test.each([
  ['of each ticket', difference, [0.75, 0, 0.25]],
  ['of the youngest ticket', { ...difference, by: 'youngest' }, [1, 0, 0]],
  ['of the oldest ticket', { ...difference, by: 'oldest' }, [0, 0, 1]],
  ['of the average ticket', { ...difference, by: 'average' }, [0, 1, 0]],
  ['of the youngest ticket, for a rule about the whole match', { ...difference, kind: 'balance' }, [1, 0, 0]],
  [
    'of the oldest ticket, for a rule within a rule',
    { kind: 'any', by: 'oldest', rules: [difference, { ...difference, attribute: 'rank' }] },
    [0, 0, 1],
  ],
] as const)('the relaxation statistics show the steps of a limit that relaxes by the wait %s', (_, rule, shares) => {
  expect(sharesOf(rule as RuleDefinition)?.[0]?.steps.map(({ share }) => share)).toEqual(shares)
})

test('the relaxation statistics show both limits of a latency rule, even a limit that never relaxes', () => {
  const told = sharesOf({ kind: 'latency', maxMs: steps, maxDifferenceMs: steps, by: 'oldest', missing: 'any' })
  expect(told?.map(({ rule, unit }) => [rule, unit])).toEqual([
    ['latency', 'ms'],
    ['latency difference', 'ms'],
  ])
  expect(told?.every(({ steps: [, , last] }) => last?.share === 1)).toBe(true)
  expect(sharesOf({ ...difference, max: 100 })).toEqual([])
})

test('the relaxation statistics show no limit in the last step of a rule that becomes optional', () => {
  const told = sharesOf({ ...difference, max: 100, optionalAfterMs: 20_000 })
  expect(told?.[0]?.steps).toEqual([
    { after: 0, limit: 100, share: 0.75 },
    { after: 20_000, limit: null, share: 0.25 },
  ])
})

test('the relaxation statistics show teams whose smallest size falls', () => {
  const smaller = [4, 3].map((value, at) => ({ afterMs: at * 20_000, value }))
  const told = sharesOf(undefined, { matchSize: undefined, teams: [{ name: 'team', size: { min: smaller, max: 4 } }] })
  expect(told).toMatchObject([
    { rule: 'smallest team', unit: 'players', steps: [{ share: 0 }, { limit: 3, share: 1 }] },
  ])
})

test('the relaxation statistics show no steps for a limit that follows the number of players', () => {
  const rules: readonly RuleDefinition[] = [{ ...difference, max: { strictest: 10, loosest: 500 } }]
  expect(sharesOf(undefined, { rules, targetWaitMs: 30_000 })).toEqual([])
})
