import { describe, expect, test } from 'vitest'
import { InvalidTicket } from '../../errors.js'
import { defineQueue, type QueueDefinition } from '../queue.js'
import { compileQueue } from '../compile.js'
import type { RuleDefinition } from './definition.js'
import type { RuleOpening, RulePlayer, RuleTicket } from '../rule-parts/rule-types.js'
import { modelAllows } from './judge.fixture.js'
import { brokenRules } from './oracle.fixture.js'

const teams = [{ name: 'team', count: 2, size: 2 }]
const deploy = { application: 'a', version: '1' }
const queueOf = (rules: readonly RuleDefinition[], more: Partial<QueueDefinition> = {}) =>
  compileQueue(defineQueue({ name: 'q', teams, rules, deploy, ...more }))

const player = (more: Partial<RulePlayer> = {}): RulePlayer => ({
  id: 'p',
  attributes: {},
  roles: [],
  latencies: {},
  avoid: [],
  ...more,
})
const party = (...players: readonly Partial<RulePlayer>[]): RuleTicket => ({
  id: 't',
  createdAt: 7,
  priority: 2,
  players: players.map(player),
  place: undefined,
  network: undefined,
})
const skilled = (...skills: readonly number[]) => party(...skills.map((skill) => ({ attributes: { skill } })))
const skill = { kind: 'difference', attribute: 'skill', max: 10 } as const

describe('a compiled ticket', () => {
  test('a compiled ticket has a point on the unit sphere, an equality key, and its values', () => {
    const compiled = queueOf([
      { kind: 'equal', attribute: 'mode' },
      { kind: 'difference', attribute: 'skill', max: 10 },
      { kind: 'difference', attribute: 'rank', max: 10, party: 'each', missing: 'any' },
    ])
    const two = party({ attributes: { mode: 'ctf', skill: 1 } }, { attributes: { mode: 'ctf', skill: 4 } })
    const ticket = { ...two, place: { latitude: 0, longitude: 90 }, network: 'n' }
    const entry = compiled.entryOf(ticket)
    expect(entry).toMatchObject({ id: 't', size: 2, since: 7, priority: 2, key: '["ctf"]', network: 'n' })
    expect(entry.values).toEqual([2.5, 2.5, Number.NaN, Number.NaN])
    expect(entry.place?.map((one) => Math.round(one * 1e9))).toEqual([0, 1e9, 0])
    expect(compiled.entryOf({ ...ticket, place: undefined }).place).toBeUndefined()
  })

  test('a ticket compiled without rules has no key, no values and no checks', () => {
    const compiled = queueOf([])
    expect(compiled.entryOf(party({}))).toMatchObject({ key: '', values: [] })
    expect(compiled.model).toMatchObject({ checks: undefined, radius: undefined, spans: [] })
  })

  test('a compiled key distinguishes numbers from strings', () => {
    const compiled = queueOf([{ kind: 'equal', attribute: 'mode' }])
    const keyOf = (mode: string | number) => compiled.entryOf(party({ attributes: { mode } })).key
    expect(keyOf(1)).not.toBe(keyOf('1'))
  })

  test.each<[string, readonly [number, number]]>([
    ['avg', [4, 4]],
    ['min', [2, 2]],
    ['max', [6, 6]],
    ['each', [2, 6]],
  ])('a compiled party has one range of values, combined by %s', (how, values) => {
    expect(queueOf([{ ...skill, party: how as 'avg' }]).entryOf(skilled(2, 6)).values).toEqual(values)
  })

  test('a compiled ticket uses the rule’s `missing` value for a player without the attribute', () => {
    const one = party({ attributes: { skill: 2 } }, {})
    expect(queueOf([{ ...skill, missing: { value: 6 } }]).entryOf(one).values).toEqual([4, 4])
    expect(queueOf([{ ...skill, missing: 'any' }]).entryOf(one).values).toEqual([2, 2])
  })
})

test('the average of a party is finite even if the sum of its values overflows', () => {
  for (const value of [1e308, -1e308]) {
    const { values } = queueOf([skill]).entryOf(skilled(value, value))
    expect((values[0] as number) / value).toBeCloseTo(1)
    expect(values).toEqual([values[0], values[0]])
  }
})

describe('an equality rule compiled to a key', () => {
  const isKey = (rule: object, more: Partial<QueueDefinition> = {}) => {
    const { model } = queueOf([{ kind: 'equal', attribute: 'mode', ...rule }], more)
    return model.checks === undefined
  }
  test.each<[object, object, string]>([
    [{}, {}, 'a key'],
    [{ missing: { value: 'x' } }, {}, 'a key'],
    [{ missing: 'any' }, {}, 'a check'],
    [{ optionalAfterMs: 9 }, {}, 'a check'],
    [{}, { lastResortMs: 9 }, 'a check'],
    [{ hard: true }, { lastResortMs: 9 }, 'a key'],
  ])('an equality rule with options %j in a queue with options %j is compiled to %s', (rule, queue, form) =>
    expect(isKey(rule, queue)).toBe(form === 'a key'),
  )
})

describe('a ticket that violates a rule of its queue', () => {
  const having = (...all: readonly RulePlayer['attributes'][]) => party(...all.map((attributes) => ({ attributes })))
  const seeing = (...all: readonly RulePlayer['latencies'][]) => party(...all.map((latencies) => ({ latencies })))
  const equal: RuleDefinition = { kind: 'equal', attribute: 'mode' }
  const overlap: RuleDefinition = { kind: 'overlap', attribute: 'maps' }
  const falling = (from: number, to: number): RuleDefinition => ({
    kind: 'require',
    attribute: 'skill',
    operator: '>=',
    value: { from, to, overMs: 9 },
  })
  const among: RuleDefinition = { kind: 'require', attribute: 'mode', operator: 'in', value: ['a'] }
  const roles: RuleDefinition = { kind: 'roles', roles: { tank: 1, healer: 1 } }
  const nearer: RuleDefinition = {
    kind: 'latency',
    maxMs: [
      { afterMs: 0, value: 20 },
      { afterMs: 9, value: 50 },
    ],
  }
  const cases: [RuleDefinition, RuleTicket, string, string][] = [
    [skill, party({}), 'players.0.attributes.skill', 'is missing: rule "difference skill" requires a number'],
    [
      skill,
      having({ skill: 1 }, { skill: 'x' }),
      'players.1.attributes.skill',
      'is not a number: rule "difference skill" requires',
    ],
    [overlap, having({ maps: 'x' }), 'players.0.attributes.maps', 'is not a list of texts'],
    [equal, having({ mode: ['x'] }), 'players.0.attributes.mode', 'is not a number, a text or a boolean'],
    [{ kind: 'equal', attribute: 'toString' }, party({}), 'players.0.attributes.toString', 'is missing'],
    [nearer, seeing({ ams: 5 }, {}), 'players.1.latencies', 'must be given'],
    [{ kind: 'distance', maxKm: 9, missing: 'refuse' }, party({}), 'players', 'must have a location'],
    [{ kind: 'avoid' }, party({}, {}, {}), 'players', 'a party of 3 is too big: a team takes at most 2'],
    // Tickets that could never be matched with any other.
    [
      equal,
      having({ mode: 'a' }, { mode: 'b' }),
      'players',
      'rule "equal mode" requires the same `mode` for all of them',
    ],
    [
      { ...skill, party: 'each' },
      skilled(1, 12),
      'players',
      'differ by 11 in skill, and rule "difference skill" never allows',
    ],
    [nearer, seeing({ ams: 51 }), 'players', 'no beacon satisfies rule "latency" for all of them, even at its loosest'],
    [nearer, seeing({ ams: 5 }, { nyc: 5 }), 'players', 'no beacon satisfies rule'],
    [
      overlap,
      having({ maps: ['a'] }, { maps: ['b'] }),
      'players',
      'list 0 in maps, and rule "overlap maps" never takes fewer',
    ],
    [falling(9, 5), skilled(4), 'players', 'can never satisfy rule "require skill", which requires skill >= 5'],
    [among, having({ mode: 'b' }), 'players', 'which requires mode in ["a"]'],
    [
      roles,
      party({ roles: ['tank'] }, { roles: ['tank'] }),
      'players',
      'can never be matched, because of rule "roles"',
    ],
    [
      { kind: 'compare', aggregate: 'max', attribute: 'skill', operator: '<', value: 5 },
      skilled(5),
      'players',
      'can never be matched, because of rule "compare max skill"',
    ],
  ]
  test.each(cases)(
    'a ticket that violates a rule of its queue is refused with the path: %j',
    (rule, ticket, field, message) => {
      const enter = () => queueOf([rule]).entryOf(ticket)
      expect(enter).toThrow(InvalidTicket)
      expect(enter).toThrow(`ticket: ${field}: `)
      expect(enter).toThrow(message)
      expect(enter).toThrow(expect.objectContaining({ field }))
    },
  )

  test('a ticket that can never be matched is refused, unless the rule relaxes in time', () => {
    const never = { kind: 'require', attribute: 'skill', operator: '>', value: 5 } as const
    expect(() => queueOf([never]).entryOf(skilled(1))).toThrow('can never satisfy')
    expect(queueOf([{ ...never, optionalAfterMs: 9 }]).entryOf(skilled(1)).size).toBe(1)
    expect(queueOf([never], { lastResortMs: 9 }).entryOf(skilled(1)).size).toBe(1)
    expect(() => queueOf([{ ...never, hard: true }], { lastResortMs: 9 }).entryOf(skilled(1))).toThrow(
      'can never satisfy',
    )
  })

  test('a ticket that fits only one team is checked against the rules of this team', () => {
    const teams = [
      { name: 'boss', size: 1 },
      { name: 'hunters', size: 2 },
    ]
    const rules = [{ kind: 'roles', roles: { healer: 1 }, team: 'hunters' }] as const
    expect(() => queueOf(rules, { teams }).entryOf(party({}, {}))).toThrow(
      'can never be matched, because of rule "roles hunters"',
    )
    expect(queueOf(rules, { teams }).entryOf(party({})).size).toBe(1)
  })
})

describe('a compiled backfill', () => {
  const compiled = queueOf([{ kind: 'equal', attribute: 'mode' }, skill, { kind: 'avoid' }])
  const there = (skill: number): RuleTicket => party({ attributes: { mode: 'a', skill } })
  const opening: RuleOpening = { ...there(0), rooms: [1, 0], present: [[there(4)], [there(6), there(9)]] }

  test('a compiled backfill has the equality key of the present players and the range of their values', () => {
    const { key, values, rooms, present } = compiled.openingOf(opening)
    expect({ key, values, rooms }).toEqual({ key: '["a"]', values: [4, 9], rooms: [1, 0] })
    expect(present.map((team) => team.map(({ ticket }) => ticket))).toEqual(opening.present)
  })

  test('a compiled backfill has an open range when no player is present', () => {
    const { key, values } = queueOf([skill]).openingOf({ ...opening, present: [[], []] })
    expect({ key, values }).toEqual({ key: '', values: [Number.NaN, Number.NaN] })
  })

  test('a backfill is refused if its data does not determine who may join', () => {
    const refused = (present: RuleOpening['present']) => () => compiled.openingOf({ ...opening, present })
    expect(refused([[], []])).toThrow(expect.objectContaining({ name: 'InvalidTicket', field: 'present' }))
    expect(refused([[], [party({ attributes: { mode: 'a' } })]])).toThrow(
      expect.objectContaining({ name: 'InvalidTicket', field: 'present.1.0.players.0.attributes.skill' }),
    )
  })
})

test('compiled teams with a `count` get numbered names, and their falling minimum sizes are rounded up', () => {
  const teams = [
    { name: 'boss', size: 1 },
    { name: 'hunters', count: 2, size: { min: { from: 4, to: 2, overMs: 1600 }, max: 5 } },
  ]
  const { model } = queueOf([], { teams, lastResortMs: 800 })
  expect(model.teams.map(({ name, max }) => ({ name, max }))).toEqual([
    { name: 'boss', max: 1 },
    { name: 'hunters-1', max: 5 },
    { name: 'hunters-2', max: 5 },
  ])
  // 4, 3.875 … 3.125, and the level of last resort
  expect([...(model.teams[1]?.min ?? [])]).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 2])
})

test('a custom rule that throws refuses the match, and its error is reported once', () => {
  const told: string[] = []
  let message = 'odd'
  const test = () => {
    throw new TypeError(message)
  }
  const queue = defineQueue({ name: 'q', matchSize: 2, rules: [{ kind: 'custom', name: 'mine', test }], deploy })
  const { model, entryOf } = compileQueue(queue, ({ message, cause }) =>
    told.push(`${message} (${(cause as Error).name})`),
  )
  const allowed = () =>
    model.checks?.whole?.([[entryOf(party({})).facts]], { youngest: 0, oldest: 0, average: 0, now: 7 })
  expect([allowed(), allowed()]).toEqual([false, false])
  message = 'even odder'
  expect(allowed()).toBe(false)
  expect(told).toEqual([
    'rule "mine" of queue "q" failed: TypeError: odd (TypeError)',
    'rule "mine" of queue "q" failed: TypeError: even odder (TypeError)',
  ])
})

test('a rule within teams relaxes by the youngest ticket of the whole match', () => {
  const rules = [{ kind: 'equal', attribute: 'mode', scope: 'team', optionalAfterMs: 100 }] as const
  const compiled = queueOf(rules)
  const waiting = (id: string, mode: string, waitedMs: number): RuleTicket => ({
    ...party({ id, attributes: { mode } }),
    id,
    createdAt: 1000 - waitedMs,
  })
  const allowed = (youngestMs: number) => {
    const players = [
      [waiting('a', 'x', youngestMs), waiting('b', 'x', 100)],
      [waiting('c', 'x', 100), waiting('d', 'y', 100)],
    ]
    const entries = players.map((team) => team.map((ticket) => compiled.entryOf(ticket)))
    const judged = players.map((tickets, index) => ({ kind: 'team', name: `team-${index + 1}`, tickets }))
    const queue = { name: 'q', teams, rules, deploy }
    return [modelAllows(compiled, entries, 1000), brokenRules(queue, judged, 1000).length === 0]
  }
  expect(allowed(99)).toEqual([false, false])
  expect(allowed(100)).toEqual([true, true])
})
