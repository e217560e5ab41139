import { InvalidInput } from '@muster/core'
import { describe, expect, test } from 'vitest'
import { InvalidQueue } from '../errors.js'
import { defineQueue, type QueueDefinition, queueFromJson } from './queue.js'

const deploy = { application: 'game', version: '1' }
const duel: QueueDefinition = { name: 'duel', matchSize: 2, deploy }

test('a queue gets its defaults, even if it was defined before or comes from JSON', () => {
  const queue = defineQueue(duel)
  expect(queue).toMatchObject({
    name: 'duel',
    teams: [{ name: 'team', count: 1, size: 2 }],
    rules: [],
    fillForMs: 5000,
    expireAfterMs: 300_000,
    maxAttempts: 3,
    playersMayWaitTwice: false,
    backfill: 'first',
    replaceLeavers: false,
    mode: 'tick',
    deploy,
  })
  expect(queue).not.toHaveProperty('matchSize')
  expect(defineQueue(queue)).toEqual(queue)
  expect(queueFromJson(JSON.stringify(queue))).toEqual(queue)
  expect(defineQueue({ ...duel, acceptance: { withinMs: 5 } }).acceptance).toEqual({ withinMs: 5, replace: false })
})

test('a rule without a name is named after its kind and attribute', () => {
  const { rules } = defineQueue({
    ...duel,
    matchSize: undefined,
    teams: [
      { name: 'hunters', size: 4 },
      { name: 'monster', size: 1 },
    ],
    rules: [
      { kind: 'difference', attribute: 'skill', max: 10 },
      { kind: 'difference', attribute: 'skill', max: 5, name: 'close', by: 'oldest', hard: true },
      { kind: 'compare', aggregate: 'avg', attribute: 'skill', team: 'monster', operator: '>', otherTeam: 'hunters' },
      { kind: 'compare', aggregate: 'count', operator: '>=', value: 1 },
      { kind: 'roles', roles: { healer: 1 }, team: 'hunters' },
      { kind: 'avoid' },
    ],
  })
  const names = ['difference skill', 'close', 'compare avg skill monster', 'compare count', 'roles hunters', 'avoid']
  expect(rules.map(({ name }) => name)).toEqual(names)
  expect(rules[0]).toEqual({
    kind: 'difference',
    attribute: 'skill',
    max: 10,
    name: 'difference skill',
    by: 'each',
    hard: false,
  })
  expect(rules[1]).toMatchObject({ by: 'oldest', hard: true })
})

const rule = (...rules: readonly object[]) => ({ ...duel, rules })
const teams = (...teams: readonly object[]) => ({ name: 'duel', deploy, teams })
const steps = (...steps: readonly (readonly [afterMs: number, value: number])[]) =>
  steps.map(([afterMs, value]) => ({ afterMs, value }))
const nineRoles = Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`role ${at}`, 1]))
const maxKm = (maxKm: unknown) => rule({ kind: 'distance', maxKm })
const require = (operator: string, value: unknown, more: object = {}) =>
  rule({ kind: 'require', attribute: 'skill', operator, value, ...more })
const compare = (more: object) =>
  rule({ kind: 'compare', aggregate: 'avg', attribute: 'skill', operator: '<', ...more })

const bounds = { strictest: 50, loosest: 800 }
const line = { from: 1, to: 2, overMs: 5 }
const target = (more: object, ...rules: readonly object[]) => ({
  ...duel,
  targetWaitMs: 30_000,
  rules: [{ kind: 'difference', attribute: 'skill', max: bounds }, ...rules],
  ...more,
})

describe('an invalid queue', () => {
  const requireSkill = { kind: 'require', attribute: 'skill' }
  const cases: [unknown, string][] = [
    [target({ targetWaitMs: 999 }), 'targetWaitMs: must be at least 1000, got 999'],
    [target({ expireAfterMs: 30_000 }), 'targetWaitMs: must be less than expireAfterMs, 30000'],
    [target({ lastResortMs: 150_000 }), 'lastResortMs: must be more than 5 times targetWaitMs, 150000'],
    [target({ rules: [] }), 'targetWaitMs: needs a limit { strictest, loosest } that it can relax'],
    [target({ rules: [{ kind: 'distance', maxKm: { strictest: 5, loosest: 5 } }] }), 'targetWaitMs: needs a limit'],
    [
      target({}, { kind: 'distance', maxKm: steps([0, 1], [1000, 2]) }),
      'rules.1.maxKm: must be a number or { strictest, loosest }: a queue with targetWaitMs has no timed limits',
    ],
    [target({}, { kind: 'not', rule: { kind: 'distance', maxKm: bounds } }), 'rules.1.rule: must not relax within not'],
    [
      target({}, { kind: 'all', rules: [{ kind: 'avoid' }, { kind: 'distance', maxKm: line }] }),
      'rules.1.rules.1.maxKm: must be a number or { strictest, loosest }',
    ],
    [
      target({}, { kind: 'avoid', optionalAfterMs: 5 }),
      'rules.1.optionalAfterMs: is only allowed without targetWaitMs',
    ],
    [
      target({ matchSize: undefined, teams: [{ name: 'a', size: { min: steps([0, 2], [9, 1]), max: 2 } }] }),
      'teams.0.size.min',
    ],
    [maxKm(bounds), 'rules.0.maxKm: has bounds, which need targetWaitMs in the queue'],
    [maxKm({ strictest: 5 }), 'rules.0.maxKm.loosest: '],
    [maxKm({ strictest: 5, loosest: 4 }), 'rules.0.maxKm.loosest: must not be less than strictest, 5, got 4'],
    [maxKm({ strictest: 5, loosest: Infinity }), 'rules.0.maxKm.loosest: '],
    [maxKm({ ...bounds, overMs: 5 }), 'rules.0.maxKm.overMs: is not known'],
    [require('>=', { strictest: 5, loosest: 9 }), 'rules.0.value.loosest: must not be more than strictest, 5'],
    [require('=', bounds), 'rules.0.value: '],
    [null, 'queue: '],
    ['duel', 'queue: '],
    [{ ...duel, name: '' }, 'queue "": name: '],
    [{ ...duel, name: 'du\nel' }, 'queue "du\\nel": name: must have no control, direction, zero-width or filler'],
    [{ ...duel, name: '\u001b[31mduel' }, 'name: must have no control, direction, zero-width or filler characters'],
    [{ ...duel, cooldown: { name: 'a\u0007' } }, 'cooldown.name: must have no control, '],
    [{ ...duel, matchSize: undefined, teams: [{ name: 'r\ted', size: 1 }] }, 'teams.0.name: must have no control, '],
    [rule({ kind: 'avoid', name: 'a\u202eb' }), 'rules.0.name: must have no control, '],
    [rule({ kind: 'custom', name: 'a\u0000', test: () => true }), 'rules.0.name: must have no control, '],
    [{ ...duel, maxAttempts: 0.5 }, 'maxAttempts: '],
    [{ ...duel, expireAfterMs: 0 }, 'expireAfterMs: '],
    [{ ...duel, size: 2 }, 'queue "duel": size: is not known'],
    [{ ...duel, deploy: { ...deploy, region: 'eu' } }, 'deploy.region: is not known'],
    [{ ...duel, prefer: { skill: 2 } }, 'prefer.skill: is neither distance, waiting or parties, nor the attribute of'],
    [{ ...duel, prefer: { distance: 2 } }, 'prefer.distance: needs a distance rule'],
    [
      { ...duel, rules: [{ name: 'far', kind: 'difference', attribute: 'distance', max: 5 }], prefer: { distance: 2 } },
      'prefer.distance: is also the attribute of a difference rule: rename that attribute',
    ],
    [{ ...duel, prefer: { waiting: -1 } }, 'prefer.waiting: must be'],
    [{ ...duel, patience: { cost: 0, untilMs: 1000 } }, 'patience.cost: must be'],
    [
      { ...duel, patience: { cost: 1, untilMs: 300_000 } },
      'patience.untilMs: must be less than expireAfterMs, 300000, got 300000',
    ],
    [{ ...duel, lastResortMs: 300_000 }, 'lastResortMs: must be less than expireAfterMs, 300000, got 300000'],
    [{ ...duel, acceptance: { withinMs: 0 } }, 'acceptance.withinMs: '],
    [{ ...duel, presence: { withinMs: 9999 } }, 'presence.withinMs: '],
    [{ ...duel, presence: {} }, 'presence.withinMs: is missing'],
    [{ ...duel, presence: { within: 10_000 } }, 'presence.within: is not known'],
    // Teams
    [{ ...duel, matchSize: 0 }, 'queue "duel": matchSize: '],
    [{ ...duel, matchSize: 501 }, ', got 501'],
    [{ name: 'duel', deploy }, 'queue "duel": teams: is required unless matchSize is given'],
    [{ ...duel, teams: [{ name: 'a', size: 1 }] }, 'teams: cannot be given together with matchSize'],
    [teams(), 'teams: '],
    [teams({ name: 'a', size: 0 }), 'teams.0.size: '],
    [teams({ name: 'a', size: { min: 1 } }), 'teams.0.size.max: '],
    [teams({ name: 'a', size: { min: 1, max: 2, most: 3 } }), 'teams.0.size.most: is not known'],
    [teams({ name: 'a', size: { min: 3, max: 2 } }), 'teams.0.size.min: must not be more than max, 2, got 3'],
    [
      teams({ name: 'a', size: { min: { from: 3, to: 1, overMs: 9 }, max: 2 } }),
      'teams.0.size.min: must not be more than max, 2',
    ],
    [
      teams({ name: 'a', size: { min: steps([0, 1], [9, 2]), max: 2 } }),
      'teams.0.size.min.1.value: must not be more than 1',
    ],
    [teams({ name: 'a', size: { min: 0, max: 2 } }), 'teams: must take at least one player in all'],
    [teams({ name: 'a', size: 1 }, { name: 'a', size: 1 }), 'teams.1.name: there are two teams called "a"'],
    [
      teams({ name: 'a-2', size: 1 }, { name: 'a', count: 2, size: 1 }),
      'teams.1.name: there are two teams called "a-2"',
    ],
    [teams({ name: 'a', count: 251, size: 2 }), 'teams: must take at most 500 players in all'],
    // Limits
    [rule({ kind: 'distance' }), 'rules.0.maxKm: must be given'],
    [maxKm(0), 'rules.0.maxKm: '],
    [maxKm('far'), 'rules.0.maxKm: '],
    [maxKm([]), 'rules.0.maxKm: '],
    [maxKm(steps([5, 1])), 'rules.0.maxKm.0.afterMs: must be 0 in the first step, got 5'],
    [maxKm(steps([0, 1], [0, 2])), 'rules.0.maxKm.1.afterMs: must be more than 0, the value of the step before, got 0'],
    [
      maxKm(steps([0, 2], [9, 1])),
      'rules.0.maxKm.1.value: must not be less than 2, the value of the step before, got 1',
    ],
    [maxKm([{ afterMs: 0, km: 2 }]), 'rules.0.maxKm.0.value: '],
    [maxKm([{ afterMs: 0, value: 2, km: 2 }]), 'rules.0.maxKm.0.km: is not known'],
    [maxKm({ from: 5, to: 4, overMs: 1 }), 'rules.0.maxKm.to: must not be less than from, 5, got 4'],
    [maxKm({ from: 5, to: Infinity, overMs: 1 }), 'rules.0.maxKm.to: '],
    [maxKm({ from: 5, to: 6, overMs: 0 }), 'rules.0.maxKm.overMs: '],
    [require('>=', { from: 3, to: 4, overMs: 1 }), 'rules.0.value.to: must not be more than from, 3, got 4'],
    [require('<', { from: 4, to: 3, overMs: 1 }), 'rules.0.value.to: must not be less than from, 4'],
    [require('<', undefined), 'rules.0.value: must be given'],
    [require('=', [{ afterMs: 0, value: 1 }]), 'rules.0.value: '],
    [require('in', []), 'rules.0.value: '],
    [require('in', 'a'), 'rules.0.value: '],
    [require('contains', ['a']), 'rules.0.value: '],
    [require('~', 1), 'rules.0.operator: '],
    [
      require('<', 1, { missing: { value: 'x' } }),
      'rules.0.missing.value: must be a number, the type that the rule compares, got a text',
    ],
    [
      require('contains', 'x', { missing: { value: 'x' } }),
      'rules.0.missing.value: must be a list, the type that the rule compares',
    ],
    [require('in', ['x'], { party: 'avg' }), 'rules.0.party: is only allowed for comparisons of numbers'],
    [
      require('<', 1, { missing: 'ignore' }),
      "rules.0.missing: must be 'refuse', 'any' or { value } of the attribute's type",
    ],
    [{ ...duel, matchsize: 2, matchSize: undefined }, 'queue "duel": matchsize: is not known; did you mean matchSize?'],
    // Rules
    [rule({ kind: 'odd' }), 'rules.0.kind: must be one of distance, latency, difference, '],
    [rule({ kind: 'avoid', by: 'all' }), 'rules.0.by: '],
    [rule({ kind: 'avoid', max: 1 }), 'rules.0.max: is not known'],
    [rule({ kind: 'latency' }), 'rules.0: must have maxMs, maxDifferenceMs or both'],
    [
      rule({ kind: 'avoid', name: 'x' }, { kind: 'avoid', name: 'x' }),
      'rules.1.name: is the name of another rule too, "x"',
    ],
    [rule({ kind: 'any', rules: [{ kind: 'avoid' }] }), 'rules.0.rules: '],
    [
      rule({ kind: 'any', rules: [{ kind: 'avoid' }, { kind: 'avoid', hard: true }] }),
      'rules.0.rules.1.hard: must be left out: set it on the enclosing rule',
    ],
    [rule({ kind: 'any', rules: [{ kind: 'avoid' }, { kind: 'equal' }] }), 'rules.0.rules.1.attribute: '],
    [
      rule({ kind: 'not', rule: { kind: 'difference', attribute: 'skill', max: { from: 1, to: 2, overMs: 10 } } }),
      'rules.0.rule: must not relax within not: that would make it stricter',
    ],
    [
      rule({
        kind: 'not',
        rule: { kind: 'not', rule: { kind: 'not', rule: { kind: 'not', rule: { kind: 'avoid' } } } },
      }),
      'rules.0: must not be deeper than 3 rules within one another',
    ],
    [
      rule({ kind: 'any', rules: [{ kind: 'avoid' }, { kind: 'roles', roles: { tank: 1 }, team: 'nobody' }] }),
      'rules.0.rules.1.team: is not the name of a team',
    ],
    [
      rule({ kind: 'compare', scope: 'match', aggregate: 'count', team: 'team', operator: '<', value: 2 }),
      "rules.0.team: is not used where scope is 'match'",
    ],
    [
      rule(
        { kind: 'accepts', attribute: 'skill', operator: 'in', own: 'wanted' },
        { kind: 'difference', attribute: 'wanted', max: 1 },
      ),
      'rules.1.attribute: is a number here, and a list for rule "accepts skill"',
    ],
    [
      rule({ kind: 'distance', maxKm: 1 }, { kind: 'distance', maxKm: 2, name: 'x' }),
      'rules.1: is a second distance rule: a queue may have only one',
    ],
    [rule({ kind: 'roles', roles: {} }), 'rules.0.roles: must be 1 to 8 roles'],
    [rule({ kind: 'roles', roles: nineRoles }), 'rules.0.roles: must be 1 to 8 roles'],
    [rule({ kind: 'roles', roles: { tank: -1 } }), 'rules.0.roles.tank: '],
    [
      rule({ kind: 'roles', roles: { tank: { min: 2, max: 1 } } }),
      'rules.0.roles.tank: must be a whole number from 0, or {',
    ],
    [rule({ kind: 'roles', roles: { tank: 3 } }), 'rules.0.roles: require 3 players, but team "team" has at most 2'],
    [rule({ kind: 'roles', roles: { tank: 1 }, team: 'red' }), 'rules.0.team: is not the name of a team, got "red"'],
    [compare({}), 'rules.0: must have either value or otherTeam'],
    [compare({ value: 1, otherTeam: 'team' }), 'rules.0: must have either value or otherTeam'],
    [compare({ value: { from: 2, to: 1, overMs: 1 } }), 'rules.0.value.to: must not be less than from, 2'],
    [compare({ otherTeam: 'red' }), 'rules.0.otherTeam: is not the name of a team, got "red"'],
    [compare({ value: 1, attribute: undefined }), 'rules.0.attribute: must be given'],
    [compare({ value: 1, aggregate: 'count' }), 'rules.0.attribute: is not used for count, got "skill"'],
    [
      rule({ kind: 'difference', attribute: 'skill', max: 1 }, { kind: 'overlap', attribute: 'skill' }),
      'rules.1.attribute: is a list here, and a number for rule "difference skill"',
    ],
    [
      rule({ kind: 'difference', attribute: 'skill', max: 1 }, { ...requireSkill, operator: 'in', value: ['high'] }),
      'rules.1.attribute: is a text here, and a number for rule "difference skill"',
    ],
    [
      rule({ kind: 'overlap', attribute: 'skill' }, { kind: 'equal', attribute: 'skill' }),
      'rules.1.attribute: is a number or text or boolean here, and a list for rule "overlap skill"',
    ],
    [
      rule({ ...requireSkill, attribute: '$partySize', operator: '=', value: '2' }),
      'rules.0.attribute: is a text here, and a number always',
    ],
    [
      rule({ kind: 'accepts', attribute: 'map', operator: 'in', own: '$partySize' }),
      'rules.0.own: is a list here, and a number always',
    ],
    [
      rule(...Array.from({ length: 33 }, (_, at) => ({ kind: 'avoid', name: `${at}` }))),
      'rules: must have at most 32 entries',
    ],
    [rule(...lines(15, 20)), 'queue "duel": rules: must not relax at more than 254 different times'],
  ]
  test.each(cases.map(([definition, message]) => [message, definition] as const))(
    'an invalid queue is refused with the error “%s”',
    (message, definition) => {
      const define = () => defineQueue(definition as QueueDefinition)
      expect(define).toThrow(InvalidQueue)
      expect(define).toThrow(InvalidInput)
      expect(define).toThrow(message)
    },
  )

  test('an invalid queue is refused without showing a value that may be a secret', () => {
    const hiddenEnvironment = { KEY: 'swordfish'.repeat(500) }
    const define = () => defineQueue({ ...duel, deploy: { ...deploy, hiddenEnvironment } })
    expect(define).toThrow('deploy.hiddenEnvironment.KEY: must be at most 4096 bytes of UTF-8')
    expect(define).not.toThrow('swordfish')
  })

  test('an invalid queue is refused with the field as a member of the error', () => {
    const define = () => defineQueue(maxKm(0) as QueueDefinition)
    expect(define).toThrow(expect.objectContaining({ field: 'rules.0.maxKm', name: 'InvalidQueue' }))
  })
})

/** Creates `many` rules with `steps` steps each, all at different times. */
function lines(many: number, steps: number): object[] {
  return Array.from({ length: many }, (_, at) => ({
    kind: 'difference',
    attribute: 'skill',
    name: `line ${at}`,
    max: Array.from({ length: steps }, (_, step) => ({ afterMs: step === 0 ? 0 : step * 1000 + at, value: step })),
  }))
}

describe('a queue from JSON', () => {
  test('a queue in invalid JSON is refused with the position and the cause, without showing the text', () => {
    expect(() => queueFromJson('{\n  "name": "duel",\n}')).toThrow(
      'queue: is not JSON: line 3, column 1: a comma before the closing bracket',
    )
    expect(() => queueFromJson('{"hiddenEnvironment":"swordfish')).toThrow(InvalidQueue)
    expect(() => queueFromJson('{"hiddenEnvironment":"swordfish')).not.toThrow('swordfish')
  })

  test('a queue from JSON is refused if it has a custom rule', () => {
    const text = JSON.stringify(rule({ kind: 'custom', name: 'mine', test: 'return true' }))
    expect(() => queueFromJson(text)).toThrow('rules.0.test: must be a function')
  })

  test('a queue from JSON may use names of Object.prototype members as names', () => {
    const roles = { kind: 'roles', roles: { constructor: 1, toString: 2 } }
    const { rules } = queueFromJson(JSON.stringify({ ...duel, matchSize: 3, rules: [roles] }))
    expect(rules[0]).toMatchObject({ roles: { constructor: 1, toString: 2 } })
  })
})
