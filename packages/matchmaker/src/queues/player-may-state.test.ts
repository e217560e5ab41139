import { expect, test } from 'vitest'
import { defineQueue, playerMayState, type QueueDefinition } from './queue.js'

const NAMES = ['skill', 'map', 'clan', 'name', 'roles', 'avoid', 'latencies'] as const
const believed = (more: Partial<QueueDefinition>) => {
  const queue = defineQueue({ name: 'duel', matchSize: 2, deploy: { application: 'game', version: '1' }, ...more })
  return NAMES.filter(playerMayState(queue))
}
const skill = { kind: 'difference', attribute: 'skill', max: 100 } as const
const every = [
  skill,
  { kind: 'equal', attribute: 'clan' },
  { kind: 'overlap', attribute: 'map' },
  { kind: 'roles', roles: { tank: 1 } },
  { kind: 'avoid' },
  { kind: 'latency', maxMs: 100 },
] as const
const custom = { kind: 'custom', name: 'mine', test: () => true } as const

test.each([
  ['without rules, every attribute', {}, [...NAMES]],
  ['without a list, what no rule compares', { rules: [skill] }, ['map', 'clan', 'name', 'roles', 'avoid', 'latencies']],
  ['of all kinds', { rules: every }, ['name']],
  ['a custom rule may look at all that it is given', { rules: [custom] }, ['avoid', 'latencies']],
  [
    'what a rule within a rule compares',
    { rules: [{ kind: 'any', rules: [skill, { kind: 'not', rule: { kind: 'roles', roles: { tank: 1 } } }] }] },
    ['map', 'clan', 'name', 'avoid', 'latencies'],
  ],
  ['a custom rule within another one', { rules: [{ kind: 'not', rule: custom }] }, ['avoid', 'latencies']],
  [
    'both attributes of a rating',
    {
      matchSize: undefined,
      teams: [{ name: 'side', count: 2, size: 1 }],
      rules: [{ kind: 'balance', measure: 'predictedWin', mean: 'skill', uncertainty: 'map', max: 0.6 }],
    },
    ['clan', 'name', 'roles', 'avoid', 'latencies'],
  ],
  [
    'both sides of what tickets accept',
    { rules: [{ kind: 'accepts', attribute: 'skill', operator: '<', own: 'clan' }] },
    ['map', 'name', 'roles', 'avoid', 'latencies'],
  ],
  ['with a list, what it names', { rules: [skill], playerMayState: ['map', 'roles'] }, ['map', 'roles', 'latencies']],
  ['with an empty list, nothing but latencies that nothing compares', { playerMayState: [] }, ['latencies']],
  [
    'what a rule compares, if it is listed',
    { rules: every, playerMayState: ['skill', 'latencies'] },
    ['skill', 'latencies'],
  ],
  [
    'a number of players compares no attribute',
    { rules: [{ kind: 'compare', aggregate: 'count', operator: '<', value: 3 }] },
    [...NAMES],
  ],
] as const)('what players may state, %s', (_, more, names) => {
  expect(believed(more as Partial<QueueDefinition>)).toEqual(names)
})

test('a queue that was defined may be defined again', () => {
  const queue = defineQueue({
    name: 'duel',
    matchSize: 2,
    deploy: { application: 'game', version: '1' },
    playerMayState: ['map'],
  })
  expect(defineQueue(queue)).toEqual(queue)
})
