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
  ['without rules, all', {}, [...NAMES]],
  [
    'without `playerMayState`, those that no rule compares',
    { rules: [skill] },
    ['map', 'clan', 'name', 'roles', 'avoid', 'latencies'],
  ],
  ['with rules of all kinds, those that none compares', { rules: every }, ['name']],
  ['with a custom rule, only `avoid` and latencies', { rules: [custom] }, ['avoid', 'latencies']],
  [
    'with nested rules, those that no rule within compares',
    { rules: [{ kind: 'any', rules: [skill, { kind: 'not', rule: { kind: 'roles', roles: { tank: 1 } } }] }] },
    ['map', 'clan', 'name', 'avoid', 'latencies'],
  ],
  [
    'with a nested custom rule, only `avoid` and latencies',
    { rules: [{ kind: 'not', rule: custom }] },
    ['avoid', 'latencies'],
  ],
  [
    'with a rating rule, those other than mean and uncertainty',
    {
      matchSize: undefined,
      teams: [{ name: 'side', count: 2, size: 1 }],
      rules: [{ kind: 'balance', measure: 'predictedWin', mean: 'skill', uncertainty: 'map', max: 0.6 }],
    },
    ['clan', 'name', 'roles', 'avoid', 'latencies'],
  ],
  [
    'with an accepts rule, those other than its two sides',
    { rules: [{ kind: 'accepts', attribute: 'skill', operator: '<', own: 'clan' }] },
    ['map', 'name', 'roles', 'avoid', 'latencies'],
  ],
  [
    'with `playerMayState`, those listed and latencies',
    { rules: [skill], playerMayState: ['map', 'roles'] },
    ['map', 'roles', 'latencies'],
  ],
  ['with an empty `playerMayState`, only latencies that no rule compares', { playerMayState: [] }, ['latencies']],
  [
    'with `playerMayState`, those listed even if a rule compares them',
    { rules: every, playerMayState: ['skill', 'latencies'] },
    ['skill', 'latencies'],
  ],
  [
    'with a rule about the number of players, all',
    { rules: [{ kind: 'compare', aggregate: 'count', operator: '<', value: 3 }] },
    [...NAMES],
  ],
] as const)('the attributes that players may set in a queue are: %s', (_, more, names) => {
  expect(believed(more as Partial<QueueDefinition>)).toEqual(names)
})

test('a defined queue with `playerMayState` can be defined again with the same result', () => {
  const queue = defineQueue({
    name: 'duel',
    matchSize: 2,
    deploy: { application: 'game', version: '1' },
    playerMayState: ['map'],
  })
  expect(defineQueue(queue)).toEqual(queue)
})
