import { describe, expect, test } from 'vitest'
import { createPool } from '@muster/kernel'
import { defineQueue, type QueueDefinition } from './queue.js'
import { compileQueue } from './compile.js'
import type { RuleDefinition } from './rules/definition.js'
import type { RulePlayer, RuleTicket } from './rule-parts/rule-types.js'
import { createExplain, type Explanation } from './explain.js'

const NOW = 1_000_000

type Waiting = Partial<RulePlayer> & Partial<Omit<RuleTicket, 'players'>> & { readonly waited?: number }

/** Lets single players wait, and explains why the first of them waits. */
function explain(
  rules: readonly RuleDefinition[],
  waiting: readonly Waiting[],
  more: Partial<QueueDefinition> = {},
  headStartMs = 0,
): Explanation {
  const deploy = { application: 'a', version: '1' }
  const compiled = compileQueue(defineQueue({ name: 'q', matchSize: 2, rules, deploy, ...more }))
  const pool = createPool(compiled.model)
  pool.setHeadStarts(new Float64Array(254).fill(headStartMs))
  const slots = waiting.map(({ waited = 0, place, network, ...player }, index) =>
    pool.add(
      compiled.entryOf({
        id: `t${index}`,
        createdAt: NOW - waited,
        priority: 0,
        players: [{ id: `p${index}`, attributes: {}, roles: [], latencies: {}, avoid: [], ...player }],
        place,
        network,
      }),
    ),
  )
  return createExplain(compiled)(pool, slots[0] ?? 0, NOW)
}
const skill = (skill: number, waited = 0): Waiting => ({ attributes: { skill }, waited })
const closer: RuleDefinition = {
  kind: 'difference',
  attribute: 'skill',
  max: [
    { afterMs: 0, value: 10 },
    { afterMs: 5000, value: 30 },
  ],
}

describe('explain of a ticket that waits', () => {
  test('explain reports that no other ticket waits', () => {
    expect(explain([closer], [skill(1, 2000)])).toEqual({
      queue: 'q',
      waiting: 0,
      summary: 'Nobody else waits. In 3 s rule "difference skill" relaxes.',
      waitedMs: 2000,
      others: 0,
      compatible: 0,
      rules: [{ rule: 'difference skill', lets: 0 }],
      lacks: 1,
      next: { inMs: 3000, changes: [{ rule: 'difference skill', from: 10, to: 30 }] },
    })
  })

  test('explain names the blocking rule, with the nearest other ticket and its distance', () => {
    const why = explain([closer], [skill(50), skill(80), skill(62), skill(20)])
    expect(why).toMatchObject({
      summary:
        'Rule "difference skill" lets through 0 of 3 other tickets, and 1 more player is needed; ' +
        'the nearest miss is 12 where rule "difference skill" allows 10. In 5 s rule "difference skill" relaxes.',
      others: 3,
      compatible: 0,
      blocking: 'difference skill',
      nearest: { rule: 'difference skill', value: 12, limit: 10, gap: 2 },
      lacks: 1,
    })
  })

  test('explain names the equality rule that keeps all others apart, or all of them together', () => {
    const rules: RuleDefinition[] = ['mode', 'region'].map((attribute) => ({ kind: 'equal', attribute }))
    const one = (mode: string, region: string): Waiting => ({ attributes: { mode, region } })
    const why = explain(rules, [one('a', 'x'), one('a', 'y'), one('a', 'z')])
    expect(why).toMatchObject({ blocking: 'equal region', waiting: 2, others: 0 })
    expect(why.summary).toBe('Nobody else waits with the same value for rule "equal region".')
    expect(explain(rules, [one('a', 'x'), one('a', 'y'), one('b', 'x')]).summary).toBe(
      'Nobody else waits with the same value for rules "equal mode" and "equal region".',
    )
  })

  test('explain counts enough other tickets for a match of many players', () => {
    const why = explain(
      [],
      Array.from({ length: 60 }, (): Waiting => ({})),
      { matchSize: 50 },
    )
    expect(why).toMatchObject({ waiting: 59, others: 50, compatible: 50, lacks: 0 })
    expect(why.summary).toBe('Enough others wait for a match.')
  })

  test('explain names the next relaxation of each limit of a rule, also of nested ones and to no limit', () => {
    const latencies = { latencies: { ams: 20 } }
    const latency: RuleDefinition = {
      kind: 'latency',
      maxMs: 100,
      maxDifferenceMs: [
        { afterMs: 0, value: 10 },
        { afterMs: 3000, value: 30 },
      ],
    }
    const nextOf = (rule: RuleDefinition) => explain([rule], [{ ...latencies, attributes: { skill: 1 } }]).next
    expect(nextOf(latency)).toEqual({ inMs: 3000, changes: [{ rule: 'latency', from: 10, to: 30 }] })
    expect(nextOf({ kind: 'any', rules: [latency, { kind: 'avoid' }], optionalAfterMs: 9000 })).toEqual({
      inMs: 3000,
      changes: [{ rule: 'any', from: 10, to: 30 }],
    })
    const free = [
      { afterMs: 0, value: 10 },
      { afterMs: 5000, value: Infinity },
    ]
    const change = { rule: 'difference skill', from: 10 }
    expect(nextOf({ ...closer, max: free })).toEqual({ inMs: 5000, changes: [change] })
  })

  test('explain names a smallest match that the rules about numbers of players allow', () => {
    const rule: RuleDefinition = { kind: 'compare', aggregate: 'count', operator: '>=', value: 3 }
    const teams = [{ name: 'team', count: 2, size: { min: 1, max: 4 } }]
    const why = explain([rule], [{}, {}], { teams, matchSize: undefined })
    expect(why.next).toEqual({ inMs: 5000, changes: [{ from: 8, to: 6 }] })
  })

  test('explain names the rule that allows the fewest other tickets', () => {
    const rules: RuleDefinition[] = [closer, { kind: 'overlap', attribute: 'maps', atLeast: 2 }]
    const one = (skill: number, ...maps: string[]): Waiting => ({ attributes: { skill, maps } })
    const why = explain(rules, [one(1, 'a', 'b', 'c'), one(2, 'c', 'd'), one(3, 'd', 'e'), one(90, 'a', 'b')])
    expect(why).toMatchObject({
      blocking: 'overlap maps',
      rules: [
        { rule: 'difference skill', lets: 2 },
        { rule: 'overlap maps', lets: 1 },
      ],
      nearest: { rule: 'overlap maps', value: 1, limit: 2, gap: 1 },
    })
  })

  test('explain does not count a ticket that breaks two rules as the nearest miss', () => {
    const rank: RuleDefinition = { kind: 'difference', attribute: 'rank', max: 1 }
    const one = (skill: number, rank: number): Waiting => ({ attributes: { skill, rank } })
    expect(explain([closer, rank], [one(0, 0), one(11, 2), one(30, 0)]).nearest?.gap).toBe(20)
    expect(explain([closer, rank], [one(0, 0), one(11, 2)]).nearest).toBeUndefined()
  })

  test('explain reports that too few compatible tickets wait', () => {
    const why = explain([closer], [skill(1), skill(2), skill(3), skill(99)], { matchSize: 5 })
    expect(why).toMatchObject({ compatible: 2, lacks: 2, blocking: 'difference skill' })
    expect(explain([closer], [skill(1), skill(2)], { matchSize: 4 }).summary).toBe(
      '1 other ticket could be in its match; 2 more players are needed. In 5 s rule "difference skill" relaxes.',
    )
  })

  test('explain names a role that no waiting player can take', () => {
    const roles: RuleDefinition = { kind: 'roles', roles: { healer: 1, tank: 1 } }
    const teams = [{ name: 'team', count: 2, size: 2 }]
    const tank: Waiting = { roles: ['tank'] }
    const healer: Waiting = { roles: ['healer'] }
    const why = explain([roles], [tank, tank, healer, tank, tank], { matchSize: undefined, teams })
    expect(why).toMatchObject({ lacks: 0, blocking: 'roles' })
    expect(why.summary).toBe('Enough others wait, but not the players whom rule "roles" needs.')
    expect(explain([roles], [tank, tank, healer, healer], { matchSize: undefined, teams }).blocking).toBeUndefined()
  })

  test('explain names a value that must be equal and differs', () => {
    const mode = (mode: string): Waiting => ({ attributes: { mode } })
    expect(explain([{ kind: 'equal', attribute: 'mode' }], [mode('a'), mode('b')])).toMatchObject({
      others: 0,
      blocking: 'equal mode',
      summary: 'Nobody else waits with the same value for rule "equal mode".',
    })
    const many = Array.from({ length: 200 }, (_, index) => mode(`mode ${index}`))
    expect(explain([{ kind: 'equal', attribute: 'mode' }], many).others).toBe(0)
  })

  test('if enough other tickets wait, explain names the rules about whole matches as possible reason', () => {
    const balance: RuleDefinition = { kind: 'balance', attribute: 'skill', max: 1 }
    const teams = [{ name: 'team', count: 2, size: 1 }]
    expect(explain([balance], [skill(1), skill(5)], { matchSize: undefined, teams }).summary).toBe(
      'Enough others wait, but they may not fit together under "balance skill".',
    )
    expect(explain([], [{}, {}]).summary).toBe('Enough others wait for a match.')
  })
})

describe('the nearest miss in explain', () => {
  test('explain measures the nearest miss of a distance rule in kilometres', () => {
    const at = (longitude: number): Waiting => ({ place: { latitude: 0, longitude } })
    const { nearest } = explain([{ kind: 'distance', maxKm: 100 }], [at(0), at(1)])
    expect(nearest?.value).toBeCloseTo(111.19, 1)
    expect(nearest).toMatchObject({ rule: 'distance', limit: 100, unit: 'km' })
    expect(explain([{ kind: 'distance', maxKm: 100 }], [at(0), at(1)]).summary).toContain(
      'the nearest miss is 111.2 km where rule "distance" allows 100 km',
    )
  })

  test('explain measures the nearest miss of a latency rule by the round trip to the best common beacon', () => {
    const to = (latencies: Record<string, number>): Waiting => ({ latencies })
    const { nearest } = explain([{ kind: 'latency', maxMs: 50 }], [to({ ams: 20, nyc: 90 }), to({ ams: 80, nyc: 20 })])
    expect(nearest).toEqual({ rule: 'latency', value: 80, limit: 50, gap: 30, unit: 'ms' })
  })

  test('explain gives the nearest miss no numbers if the rule has none', () => {
    const why = explain([{ kind: 'avoid' }], [{ avoid: ['p1'] }, {}])
    expect(why).toMatchObject({ blocking: 'avoid', rules: [{ rule: 'avoid', lets: 0 }] })
    expect(why.nearest).toBeUndefined()
  })
})

describe('the next relaxation in explain', () => {
  const teams = [
    {
      name: 'team',
      size: {
        min: [
          { afterMs: 0, value: 4 },
          { afterMs: 9000, value: 2 },
        ],
        max: 5,
      },
    },
  ]

  test('explain names as next relaxation a smaller match, and a rule that becomes optional', () => {
    const more = { matchSize: undefined, teams, fillForMs: 3000 }
    const rules: RuleDefinition[] = [{ kind: 'avoid', optionalAfterMs: 9000 }]
    expect(explain(rules, [{}], more).next).toEqual({ inMs: 3000, changes: [{ from: 5, to: 4 }] })
    const later = explain(rules, [{ waited: 3000 }], more)
    expect(later.next).toEqual({ inMs: 6000, changes: [{ rule: 'avoid' }, { from: 4, to: 2 }] })
    expect(later.summary).toBe('Nobody else waits. In 6 s rule "avoid" relaxes and 2 players are enough.')
    expect(explain(rules, [{ waited: 9000 }], more).next).toBeUndefined()
  })

  test('explain names as next relaxation the last resort, at which only hard rules still apply', () => {
    const rules: RuleDefinition[] = [
      { ...closer, hard: true },
      { kind: 'difference', attribute: 'rank', max: 1, missing: 'any' },
    ]
    expect(explain(rules, [skill(1)], { lastResortMs: 2000 }).next).toEqual({
      inMs: 2000,
      changes: [
        { rule: 'difference skill', from: 10, to: 30 },
        { rule: 'difference rank', from: 1 },
      ],
    })
    expect(explain(rules, [skill(1)], { lastResortMs: 2000 }).summary).toBe(
      'Nobody else waits. In 2 s rules "difference skill" and "difference rank" relax.',
    )
  })
})

describe('explain in a queue with a target wait', () => {
  const max = { strictest: 50, loosest: 800 }
  const rules: RuleDefinition[] = [{ kind: 'difference', attribute: 'skill', max }]
  const why = (headStartMs: number, waited = 0) =>
    explain(rules, [skill(0, waited), skill(300)], { targetWaitMs: 24_000 }, headStartMs)

  test('explain reports that limits follow the target wait, and how far they are ahead of the wait', () => {
    expect(why(40_000)).toMatchObject({
      summary:
        'Rule "difference skill" lets through 0 of 1 other ticket, and 1 more player is needed; the nearest miss is ' +
        '300 where rule "difference skill" allows 126. Limits adapt to how many players come, to reach waits of ' +
        '24 s: those of this ticket are relaxed by 40 s in advance. In 5 s rule "difference skill" relaxes.',
      targetWaitMs: 24_000,
      aheadMs: 40_000,
      next: { inMs: 5000, changes: [{ rule: 'difference skill', from: 125.992, to: 141.421 }] },
    })
    expect(why(80_000).compatible).toBe(1)
  })

  test('with a negative relaxation head start, explain gives the strictest limits of the target wait', () => {
    expect(why(-20_000, 4000)).toMatchObject({
      summary: expect.stringContaining('enough come for this ticket to begin with the strictest. In 21 s rule'),
      aheadMs: -20_000,
      next: { inMs: 21_000 },
    })
  })
})

test('explain reports for how long a match may be held back for a cheaper match', () => {
  const rules: RuleDefinition[] = [{ kind: 'difference', attribute: 'skill', max: 50 }]
  const patience = { cost: 2.5, untilMs: 20_000 }
  const why = (waited: number) => explain(rules, [skill(0, waited), skill(40)], { patience })
  expect(why(5000)).toMatchObject({
    summary:
      'Enough others wait for a match. A match may wait for a cheaper one, or for a longer search, for 35 s at most.',
    patientForMs: 35_000,
  })
  expect(why(40_000).patientForMs).toBeUndefined()
  // Midway between `untilMs` and `expireAfterMs`, if that is sooner.
  expect(explain(rules, [skill(0), skill(40)], { patience, expireAfterMs: 30_000 }).patientForMs).toBe(25_000)
})

test('explain applies limits by the lower relaxation level of two tickets, unless the rule says otherwise', () => {
  const waits = [skill(0, 5000), skill(20)]
  expect(explain([closer], waits).compatible).toBe(0)
  expect(explain([{ ...closer, by: 'oldest' }], waits).compatible).toBe(1)
  expect(explain([{ ...closer, by: 'average' }], waits).compatible).toBe(0)
  expect(explain([{ ...closer, by: 'average' }], [skill(0, 9000), skill(20, 1000)]).compatible).toBe(1)
  expect(explain([closer], waits, { lastResortMs: 5000 }).compatible).toBe(1)
})

test('explain returns plain JSON data without anything about other players', () => {
  const place = { latitude: 1, longitude: 2 }
  const secret: Waiting = { id: 'secret', attributes: { skill: 99 }, network: '192.0.2.0/24', place }
  const why = explain([closer], [skill(1), secret])
  expect(JSON.parse(JSON.stringify(why))).toEqual(why)
  expect(JSON.stringify(why)).not.toMatch(/secret|192|p1|t1/)
})

test('explain names the sizes of matches that are tried, and which of them lack players', () => {
  const even: RuleDefinition = {
    kind: 'compare',
    name: 'even',
    team: 'side',
    aggregate: 'count',
    operator: '=',
    otherTeam: 'side',
  }
  const teams = [{ name: 'side', count: 4, size: { min: 1, max: 4 } }]
  const waiting = (many: number) => Array.from({ length: many }, () => skill(1, 6000))
  const few = explain([even], waiting(3), { teams, matchSize: undefined })
  expect(few.lacks).toBe(1)
  expect(few.summary).toBe(
    '2 other tickets could be in its match; 1 more player is needed. Under "even", matches of 16, 12, 8 or 4 players ' +
      'are tried, the largest first; 3 players are too few for 4 or more.',
  )
  expect(explain([even], waiting(9), { teams, matchSize: undefined }).summary).toBe(
    'Enough others wait for a match. Under "even", matches of 16, 12, 8 or 4 players are tried, the largest first; 9 ' +
      'players are too few for 12 or more.',
  )
  const soon = explain([even], [skill(1, 1000), ...waiting(8).map(() => skill(1))], { teams, matchSize: undefined })
  expect(soon.lacks).toBe(7)
  expect(soon.summary).toBe(
    '8 other tickets could be in its match; 7 more players are needed. Under "even", matches of 16 players are ' +
      'tried, the largest first; 9 players are too few for 16 or more. In 4 s 4 players are enough.',
  )
})

describe('explain of values that look alike', () => {
  const word = 'caf\u00e9'
  const other = word.normalize('NFD')
  const has = (attributes: RulePlayer['attributes']): Waiting => ({ attributes })
  const mode = (value: string | number): Waiting => has({ mode: value })
  const equal: RuleDefinition = { kind: 'equal', attribute: 'mode' }
  const likes: RuleDefinition = { kind: 'accepts', attribute: 'mode', operator: '=', own: 'likes' }
  const takes: RuleDefinition = { kind: 'accepts', attribute: 'mode', operator: 'in', own: 'taken' }
  const different: RuleDefinition = { kind: 'different', attribute: 'mode' }
  const level: RuleDefinition = { kind: 'compare', attribute: 'level', aggregate: 'min', operator: '>', value: 5 }
  const never: RuleDefinition = { kind: 'equal', attribute: 'team' }
  const team = [{ team: 'a' }, { team: 'b' }]
  const inForm = `"${word}" in another Unicode form`
  const its = (what: string) => `Another ticket has ${what} ${inForm}.`
  const passes = (what: string, rule: string) =>
    `Another ticket has ${what} ${inForm}, which rule "${rule}" treats as a different value.`

  test.each<[what: string, sentence: string, rules: readonly RuleDefinition[], one: Waiting, two: Waiting]>([
    [
      'text and number in `equal`',
      'Another ticket has mode 40 as a text, not as a number.',
      [equal],
      mode(40),
      mode('40'),
    ],
    ['Unicode forms in `equal`', its('mode'), [equal], mode(word), mode(other)],
    [
      'Unicode forms in an `equal` that becomes optional',
      its('mode'),
      [{ ...equal, optionalAfterMs: 60_000 }],
      mode(word),
      mode(other),
    ],
    [
      'Unicode forms in the second of two rules',
      its('mode'),
      [{ ...never, scope: 'team' }, equal],
      mode(word),
      mode(other),
    ],
    [
      'Unicode forms in `equal` within `any`',
      its('mode'),
      [{ kind: 'any', rules: [equal, never] }],
      mode(word),
      mode(other),
    ],
    [
      'Unicode forms in `different` within `not`',
      its('mode'),
      [{ kind: 'not', rule: different }],
      mode(word),
      mode(other),
    ],
    ['Unicode forms in `accepts`', its('mode'), [likes], has({ mode: 'x', likes: word }), mode(other)],
    [
      'Unicode forms in what the other ticket accepts',
      its('likes'),
      [likes],
      mode(word),
      has({ mode: 'x', likes: other }),
    ],
    [
      'Unicode forms in a list that a ticket accepts',
      its('mode'),
      [takes],
      has({ mode: 'x', taken: ['y', word] }),
      mode(other),
    ],
    ['Unicode forms in `different`', passes('mode', 'different mode'), [different, never], mode(word), mode(other)],
    [
      'Unicode forms in an `accepts` with !=',
      passes('mode', 'r'),
      [{ ...likes, operator: '!=', name: 'r' }, never],
      has({ mode: 'x', likes: word }),
      mode(other),
    ],
    [
      'Unicode forms of a player id in `avoid`',
      passes('id', 'avoid'),
      [{ kind: 'avoid' }, never],
      { ...mode('x'), avoid: [word] },
      { ...mode('x'), id: other },
    ],
    [
      'Unicode forms of a role',
      `Rule "roles" compares role with ${inForm}.`,
      [{ kind: 'roles', roles: { [other]: 1 } }],
      { ...mode('x'), roles: [word] },
      mode('x'),
    ],
    [
      'Unicode forms in `require`',
      `Rule "require mode" compares mode with ${inForm}.`,
      [{ kind: 'require', attribute: 'mode', operator: '=', value: other, optionalAfterMs: 60_000 }],
      mode(word),
      mode(other),
    ],
    [
      'text and number in `require` within `any`',
      'Rule "any" compares mode with "40" as a number, not as a text.',
      [{ kind: 'any', rules: [{ kind: 'require', attribute: 'mode', operator: '=', value: 40 }, equal] }],
      mode('40'),
      mode(40),
    ],
    [
      'text and number in `compare` within `any`',
      'Rule "any" compares level with "41" as a number, not as a text.',
      [{ kind: 'any', rules: [level, equal] }],
      has({ mode: 1, level: '41' }),
      has({ mode: 2, level: '41' }),
    ],
  ])('explain names the difference between two values that look alike: %s', (_what, sentence, rules, one, two) => {
    const withTeam = [one, two].map((each, at) => ({ ...each, attributes: { ...each.attributes, ...team[at] } }))
    expect(explain(rules, withTeam).summary).toContain(` ${sentence}`)
    // No value is named if nothing looks the same, or if the rule no longer counts.
    const apart = withTeam.map((each) => ({
      ...each,
      roles: [],
      avoid: [],
      attributes: { team: 'a', mode: 'x', likes: 'y' },
    }))
    const plain = explain(
      rules.map((rule): RuleDefinition => ({ ...rule, optionalAfterMs: 60_000 })),
      apart,
    ).summary
    expect(plain).not.toMatch(/Another ticket|compares/)
    const late = rules.map((rule): RuleDefinition => ({ ...rule, optionalAfterMs: 5 }))
    expect(
      explain(
        late,
        withTeam.map((each) => ({ ...each, waited: 10 })),
      ).summary,
    ).not.toMatch(/Another ticket has/)
  })

  test('the error of a refused ticket names the difference between a value and the allowed value it resembles', () => {
    const rule: RuleDefinition = { kind: 'require', attribute: 'mode', operator: 'in', value: ['x', other] }
    expect(() => explain([rule], [mode(word)])).toThrow(`; that is their ${inForm}`)
  })
})
