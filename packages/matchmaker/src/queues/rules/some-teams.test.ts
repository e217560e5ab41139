import { describe, expect, test } from 'vitest'
import { createPool } from '@muster/kernel'
import { compileQueue } from '../compile.js'
import { defineQueue, type QueueDefinition } from '../queue.js'
import type { RulePlayer, RuleTicket } from '../rule-parts/rule-types.js'
import type { RuleDefinition } from './definition.js'

const deploy = { application: 'game', version: '1' }
const teams = [
  { name: 'players', count: 2, size: 1 },
  { name: 'watchers', size: 1 },
]

const ticketOf = (
  id: string,
  attributes: object,
  more: Partial<RulePlayer> & { readonly since?: number } = {},
): RuleTicket => {
  const { since = 0, ...player } = more
  return {
    id,
    createdAt: since,
    priority: 0,
    players: [{ id, attributes: { ...attributes }, roles: [], latencies: {}, avoid: [], ...player }],
    place: undefined,
    network: undefined,
  }
}

/** Returns the ids of each team of the first match; undefined if none is made. */
function play(
  definition: Omit<QueueDefinition, 'name' | 'deploy'>,
  tickets: readonly RuleTicket[],
  now = 0,
): string[][] | undefined {
  const compiled = compileQueue(defineQueue({ name: 'queue', deploy, ...definition }))
  const pool = createPool(compiled.model)
  const ids = new Map(tickets.map((ticket) => [pool.add(compiled.entryOf(ticket)), ticket.id]))
  const [match] = [...pool.group(now)]
  if (match === undefined) return undefined
  return compiled.model.teams.map((_, team) =>
    match.slots.flatMap((slot, at) => (match.teams[at] === team ? (ids.get(slot) ?? []) : [])),
  )
}

describe('a rule about the players of one team', () => {
  test.each<readonly [string, RuleDefinition, readonly RuleTicket[]]>([
    [
      'difference',
      { kind: 'difference', attribute: 'skill', max: 5, team: 'players' },
      [ticketOf('odd', { skill: 900 }), ticketOf('a', { skill: 1 }), ticketOf('b', { skill: 3 })],
    ],
    [
      'avoid',
      { kind: 'avoid', team: 'players' },
      [ticketOf('odd', {}, { avoid: ['a', 'b'] }), ticketOf('a', {}), ticketOf('b', {})],
    ],
    [
      'accepts',
      { kind: 'accepts', attribute: 'clan', operator: 'in', own: 'wants', missing: 'any', team: 'players' },
      [
        ticketOf('odd', { clan: 'z' }),
        ticketOf('a', { clan: 'x', wants: ['x'] }),
        ticketOf('b', { clan: 'x', wants: ['x'] }),
      ],
    ],
    [
      'overlap',
      { kind: 'overlap', attribute: 'maps', team: 'players' },
      [ticketOf('odd', { maps: ['lava'] }), ticketOf('a', { maps: ['ice'] }), ticketOf('b', { maps: ['ice'] })],
    ],
  ])('a rule with `team` does not restrict the other teams: %s', (_, rule, tickets) => {
    expect(play({ teams, rules: [rule] }, tickets)?.[2]).toEqual(['odd'])
    const { team: _team, ...forAll } = rule as RuleDefinition & { readonly team?: string }
    expect(play({ teams, rules: [forAll as RuleDefinition] }, tickets)).toBeUndefined()
  })
})

test('players who avoid each other may be opponents, but never in one team', () => {
  const rules: readonly RuleDefinition[] = [{ kind: 'avoid', scope: 'team' }]
  const tickets = [ticketOf('a', {}, { avoid: ['b'] }), ticketOf('b', {}), ticketOf('c', {}), ticketOf('d', {})]
  const match = play({ teams: [{ name: 'side', count: 2, size: 2 }], rules }, tickets)
  expect(match?.flat()).toHaveLength(4)
  expect(match?.some((team) => team.includes('a') && team.includes('b'))).toBe(false)
})

test('rules can require that teams differ in a value that the players of each team share', () => {
  const rules: readonly RuleDefinition[] = [{ kind: 'different', attribute: 'clan', scope: 'teams' }]
  const definition = { teams: [{ name: 'side', count: 3, size: 2 }], rules }
  const clans = ['x', 'y', 'z', 'x', 'y', 'z']
  const match = play(
    definition,
    clans.map((clan, at) => ticketOf(`t${at}`, { clan })),
  )
  expect(match?.map((team) => new Set(team.map((id) => clans[Number(id.slice(1))])).size)).toEqual([1, 1, 1])
  const two = ['x', 'x', 'x', 'y', 'y', 'z']
  expect(
    play(
      definition,
      two.map((clan, at) => ticketOf(`t${at}`, { clan })),
    ),
  ).toBeUndefined()
})

test('a balance rule whose first step is unlimited balances teams as well as a rule with a limit', () => {
  for (const value of [Infinity, 'Infinity' as unknown as number]) {
    const rules: readonly RuleDefinition[] = [{ kind: 'balance', attribute: 'mmr', max: [{ afterMs: 0, value }] }]
    const match = play(
      { teams: [{ name: 'side', count: 2, size: 2 }], rules },
      Object.entries({ a: 100, c: 900, b: 110, d: 910 }).map(([id, mmr]) => ticketOf(id, { mmr })),
    )
    const sums = match?.map((team) => team.reduce((sum, id) => sum + ({ a: 100, b: 110, c: 900, d: 910 }[id] ?? 0), 0))
    expect(sums).toEqual([1010, 1010])
  }
})

describe('a running match that accepts more players', () => {
  const skill: RuleDefinition = {
    kind: 'require',
    attribute: 'skill',
    operator: '<=',
    value: [
      { afterMs: 0, value: 10 },
      { afterMs: 10_000, value: 100 },
    ],
  }

  test('a running match applies its rules to a joining player, not to players already in it', () => {
    for (const by of ['each', 'youngest'] as const) {
      const compiled = compileQueue(defineQueue({ name: 'queue', deploy, matchSize: 2, rules: [{ ...skill, by }] }))
      const pool = createPool(compiled.model)
      const present = [[ticketOf('there', { skill: 50 })]]
      pool.addOpening(compiled.openingOf({ ...ticketOf('opening', {}), rooms: [1], present }))
      pool.add(compiled.entryOf(ticketOf('new', { skill: 5 })))
      expect([...pool.group(0)]).toHaveLength(1)
    }
  })

  test('a `require` rule relaxes for each ticket by its own wait, or by that of the youngest if `by` says so', () => {
    const [old, young] = [ticketOf('old', { skill: 50 }), ticketOf('young', { skill: 5 }, { since: 10_000 })]
    expect(play({ matchSize: 2, rules: [skill] }, [old, young], 10_000)).toEqual([['old', 'young']])
    const hasty = ticketOf('hasty', { skill: 50 }, { since: 5000 })
    expect(play({ matchSize: 2, rules: [skill] }, [old, hasty], 10_000)).toBeUndefined()
    expect(play({ matchSize: 2, rules: [{ ...skill, by: 'youngest' }] }, [old, young], 10_000)).toBeUndefined()
  })

  test('a distance rule compares a joining player with each player of a running match, not with their centre', () => {
    const rules: readonly RuleDefinition[] = [{ kind: 'distance', maxKm: 1000 }]
    const compiled = compileQueue(defineQueue({ name: 'queue', deploy, matchSize: 3, rules }))
    const at = (id: string, longitude: number): RuleTicket => ({
      ...ticketOf(id, {}),
      place: { latitude: 0, longitude },
    })
    const joins = (longitude: number) => {
      const pool = createPool(compiled.model)
      const present = [[at('west', -4), at('east', 4)]]
      pool.addOpening(compiled.openingOf({ ...at('opening', 0), rooms: [1], present }))
      pool.add(compiled.entryOf(at('new', longitude)))
      return pool.group(0).length > 0
    }
    // A degree is 111 km, so 5 degrees are 556 km from the middle, and 1,001 km from the western player.
    expect(joins(5)).toBe(false)
    expect(joins(4.9)).toBe(true)
  })
})
