import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createPool } from '@muster/kernel'
import { compileQueue, type CompiledQueue } from '../compile.js'
import { defineQueue, type QueueDefinition } from '../queue.js'
import type { TeamDefinition } from '../rule-parts/teams.js'
import type { RuleTicket } from '../rule-parts/rule-types.js'
import type { RuleDefinition } from './definition.js'

const NOW = 1_000_000
const deploy = { application: 'game', version: '1' }

const ticketOf = (id: string, skills: readonly number[], attributes: object = {}): RuleTicket => ({
  id,
  createdAt: NOW,
  priority: 0,
  players: skills.map((skill, at) => ({
    id: `${id}.${at}`,
    attributes: { ...attributes, skill },
    roles: [],
    latencies: {},
    avoid: [],
  })),
  place: undefined,
  network: undefined,
})

const queueOf = (teams: readonly TeamDefinition[], rules: readonly RuleDefinition[]): QueueDefinition => ({
  name: 'queue',
  teams,
  rules,
  fillForMs: 0,
  deploy,
})

const compiledQueues = new WeakMap<QueueDefinition, CompiledQueue>()
function compiledOf(definition: QueueDefinition): CompiledQueue {
  const compiled = compiledQueues.get(definition) ?? compileQueue(defineQueue(definition))
  compiledQueues.set(definition, compiled)
  return compiled
}

/** Returns the tickets of each team of each match that up to `rounds` rounds make, one second apart. */
function play(definition: QueueDefinition, tickets: readonly RuleTicket[], rounds = 2): string[][][] {
  const compiled = compiledOf(definition)
  const pool = createPool(compiled.model)
  const slots = new Map(tickets.map((ticket) => [pool.add(compiled.entryOf(ticket)), ticket.id]))
  const matches: string[][][] = []
  for (let round = 0; round < rounds; round += 1) {
    const made = [...pool.group(NOW + round * 1000)]
    for (const { slots: members, teams } of made) {
      matches.push(
        compiled.model.teams.map((_, team) =>
          members.flatMap((slot, at) => (teams[at] === team ? (slots.get(slot) ?? []) : [])),
        ),
      )
    }
    for (const { slots: members } of made) for (const slot of members) pool.remove(slot)
  }
  return matches
}

const balance: RuleDefinition = { kind: 'balance', attribute: 'skill', max: 100_000 }
const sizesOf = (teams: readonly (readonly string[])[]) => teams.map((team) => team.length).toSorted((a, b) => a - b)

test('under a rule about averages, teams filled with solo tickets differ by at most one player', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 3 }),
      fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 4, maxLength: 12 }),
      (count, skills) => {
        const teams = [{ name: 'side', count, size: { min: 1, max: 6 } }]
        const [match = []] = play(
          queueOf(teams, [balance]),
          skills.map((skill, at) => ticketOf(`t${at}`, [skill])),
        )
        expect(match.flat()).toHaveLength(skills.length)
        const sizes = sizesOf(match)
        expect((sizes.at(-1) ?? 0) - (sizes[0] ?? 0)).toBeLessThanOrEqual(1)
      },
    ),
    { numRuns: 30 },
  )
})

test('property: teams of parties are as even in size as the best possible arrangement', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 3 }),
      fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 3, maxLength: 6 }),
      fc.array(fc.integer({ min: 0, max: 3000 }), { minLength: 6, maxLength: 6 }),
      (count, parties, skills) => {
        const teams = [{ name: 'side', count, size: { min: 1, max: 24 } }]
        const tickets = parties.map((size, at) =>
          ticketOf(
            `t${at}`,
            Array.from({ length: size }, () => skills[at] ?? 0),
          ),
        )
        const [match = []] = play(queueOf(teams, [balance]), tickets)
        const sizeOf = new Map(tickets.map(({ id, players }) => [id, players.length]))
        const squares = (sizes: readonly number[]) => sizes.reduce((sum, size) => sum + size ** 2, 0)
        let least = Infinity
        for (let way = 0; way < count ** parties.length; way += 1) {
          const sizes = Array.from({ length: count }, () => 0)
          for (const [at, size] of parties.entries()) {
            const team = Math.floor(way / count ** at) % count
            sizes[team] = (sizes[team] ?? 0) + size
          }
          if (sizes.every((size) => size > 0)) least = Math.min(least, squares(sizes))
        }
        const made = match.map((team) => team.reduce((sum, id) => sum + (sizeOf.get(id) ?? 0), 0))
        expect(squares(made)).toBe(least)
      },
    ),
    { numRuns: 40 },
  )
})

test('teams are not made less even in size so that a rule about averages holds', () => {
  const skills = [0, 0, 300, 100]
  const teams = [{ name: 'side', count: 2, size: { min: 1, max: 4 } }]
  // Three against one would be 100 against 100. Two against two is at best 150 against 50.
  const matches = play(
    queueOf(teams, [{ kind: 'balance', attribute: 'skill', max: 50 }]),
    skills.map((skill, at) => ticketOf(`t${at}`, [skill])),
  )
  expect(matches.length).toBeGreaterThan(0)
  for (const match of matches) expect(sizesOf(match)).not.toEqual([1, 3])
})

test('two players whose skills differ beyond the limit are not put on one team against an empty team', () => {
  const teams = [
    { name: 'a', size: { min: 1, max: 4 } },
    { name: 'b', size: { min: 0, max: 4 } },
  ]
  const rules: readonly RuleDefinition[] = [{ kind: 'balance', attribute: 'skill', max: 50 }]
  const matches = play(queueOf(teams, rules), [ticketOf('ann', [100]), ticketOf('ben', [900])])
  expect(matches.map((match) => match.flat())).toEqual([['ann'], ['ben']])
})

test('players who join a running match go to the smallest team', () => {
  for (const [present, joining] of [
    [[2, 1], 1],
    [[3, 1], 2],
    [[1, 3], 3],
    [[4, 2], 4],
  ] as const) {
    const definition = queueOf([{ name: 'side', count: 2, size: { min: 1, max: 5 } }], [balance])
    const compiled = compileQueue(defineQueue(definition))
    const pool = createPool(compiled.model)
    const there = present.map((many, team) =>
      Array.from({ length: many }, (_, at) => ticketOf(`there${team}.${at}`, [100 * at + 1000 * team])),
    )
    pool.addOpening(
      compiled.openingOf({
        ...ticketOf('opening', []),
        rooms: present.map((many) => 5 - many),
        present: there,
      }),
    )
    for (let at = 0; at < joining; at += 1) pool.add(compiled.entryOf(ticketOf(`t${at}`, [at * 700])))
    const [made] = [...pool.group(NOW)]
    const sizes = present.map((many, team) => many + (made?.teams.filter((one) => one === team).length ?? 0))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(present[0] + present[1] + joining)
    expect(Math.abs((sizes[0] ?? 0) - (sizes[1] ?? 0)), `${present.join()} and ${joining}`).toBeLessThanOrEqual(
      Math.max(1, Math.abs(present[0] - present[1]) - joining),
    )
  }
})

const count = (more: object) => ({ kind: 'compare', aggregate: 'count', ...more }) as RuleDefinition
const singles = (many: number) => Array.from({ length: many }, (_, at) => ticketOf(`t${at}`, [at]))

/** Rules about numbers of players. Each has its own test, written from the rule's definition. */
const countRules: readonly (readonly [string, RuleDefinition, (sizes: readonly number[]) => boolean])[] = [
  [
    'teams of equal size',
    count({ operator: '=', team: 'side', otherTeam: 'side' }),
    (sizes) => sizes.every((size) => size === sizes[0]),
  ],
  [
    'teams of two or four',
    { kind: 'any', rules: [count({ operator: '=', value: 2 }), count({ operator: '=', value: 4 })] },
    (sizes) => sizes.every((size) => size === 2 || size === 4),
  ],
  [
    'whole optional teams',
    { kind: 'any', rules: [count({ operator: '=', value: 0 }), count({ operator: '>=', value: 3 })] },
    (sizes) => sizes.every((size) => size === 0 || size >= 3),
  ],
  [
    'teams of two or three, or empty ones',
    {
      kind: 'any',
      rules: [
        count({ operator: '=', value: 0 }),
        { kind: 'all', rules: [count({ operator: '>=', value: 2 }), count({ operator: '<=', value: 3 })] },
      ],
    },
    (sizes) => sizes.every((size) => size === 0 || size === 2 || size === 3),
  ],
  [
    'teams without a lone player',
    {
      kind: 'any',
      rules: [count({ operator: '>', value: 3 }), { kind: 'not', rule: count({ operator: '=', value: 1 }) }],
    },
    (sizes) => sizes.every((size) => size !== 1),
  ],
  [
    'not seven players',
    { kind: 'not', rule: count({ scope: 'match', operator: '=', value: 7 }) },
    (sizes) => sizes.reduce((sum, size) => sum + size, 0) !== 7,
  ],
]

test.each(countRules)(
  'the largest match of single players that a rule on team sizes allows forms within two rounds: %s',
  (_, rule, isAllowed) => {
    let possible = 0
    for (let teams = 1; teams <= 4; teams += 1) {
      for (let max = 1; max <= 4; max += 1) {
        for (let min = 1; min <= max; min += 1) {
          const totals = totalsOf(teams, min, max, isAllowed)
          const definition = queueOf([{ name: 'side', count: teams, size: { min, max } }], [rule])
          for (let many = 1; many <= 16; many += 1) {
            const largest = Math.max(0, ...totals.filter((total) => total <= many))
            const [match = []] = play(definition, singles(many))
            expect(match.flat().length, `${teams} teams of ${min} to ${max}, ${many} players`).toBe(largest)
            if (largest === 0) continue
            possible += 1
            expect(isAllowed(match.map((team) => team.length))).toBe(true)
          }
        }
      }
    }
    expect(possible).toBeGreaterThan(100)
  },
  60_000,
)

/** Returns the numbers of players that these team sizes allow, by trying all. */
function totalsOf(
  teams: number,
  min: number,
  max: number,
  isAllowed: (sizes: readonly number[]) => boolean,
): readonly number[] {
  const totals = new Set<number>()
  const from = (sizes: readonly number[]) => {
    if (sizes.length < teams) for (let size = min; size <= max; size += 1) from([...sizes, size])
    else if (isAllowed(sizes)) totals.add(sizes.reduce((sum, size) => sum + size, 0))
  }
  from([])
  return [...totals]
}

test('whole squads of parties and single players are made, up to the largest possible number', () => {
  const definition = queueOf(
    [
      { name: 'squad', count: 2, size: 3 },
      { name: 'extra', count: 28, size: { min: 0, max: 3 } },
    ],
    [
      {
        kind: 'any',
        rules: [count({ team: 'extra', operator: '=', value: 0 }), count({ team: 'extra', operator: '=', value: 3 })],
      },
    ],
  )
  for (const [parties, expected] of [
    [Array.from({ length: 9 }, () => 1), 9],
    [Array.from({ length: 11 }, () => 1), 9],
    [[3, 3, 3, 3, 3], 15],
    [[2, 2, 2, 1, 1, 1, 2], 9],
    [Array.from({ length: 44 }, () => 1), 42],
  ] as const) {
    const [match = []] = play(
      definition,
      parties.map((size, at) =>
        ticketOf(
          `t${at}`,
          Array.from({ length: size }, () => at),
        ),
      ),
    )
    const sizes = match.map((team) => team.reduce((sum, id) => sum + (parties[Number(id.slice(1))] ?? 0), 0))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(expected)
    expect(sizes.filter((size) => size !== 0).every((size) => size === 3)).toBe(true)
  }
})

test('a relaxing rule on team sizes applies the limit for the current wait', () => {
  const definition = {
    ...queueOf(
      [{ name: 'side', count: 2, size: { min: 1, max: 8 } }],
      [
        count({
          scope: 'match',
          operator: '<=',
          value: [
            { afterMs: 0, value: 4 },
            { afterMs: 1000, value: 10 },
          ],
        }),
      ],
    ),
  }
  const compiled = compileQueue(defineQueue(definition))
  const pool = createPool(compiled.model)
  for (const ticket of singles(9)) pool.add(compiled.entryOf(ticket))
  expect([...pool.group(NOW)].map(({ slots }) => slots.length)).toEqual([4, 4])
  expect([...pool.group(NOW + 1000)].map(({ slots }) => slots.length)).toEqual([9])
})
