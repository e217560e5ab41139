import { describe, expect, test } from 'vitest'
import { createPool } from '@muster/kernel'
import { compileQueue } from './compile.js'
import { defineQueue, type QueueDefinition } from './queue.js'
import { PARTY_SIZE } from './rule-parts/rule-base.js'
import type { RuleDefinition } from './rules/definition.js'
import type { RulePlayer } from './rule-parts/rule-types.js'

/**
 * Tests rule sets that were published for other matchmakers, in the form in which docs/rules.md writes them: who may
 * meet and who may not.
 */

type Party = readonly Partial<RulePlayer>[]

/** Returns the matches of one round, as teams of players' names. */
function matchesOf(
  queue: Partial<QueueDefinition>,
  parties: Readonly<Record<string, Party>>,
  waitedMs = 0,
): string[][][] {
  const shape = queue.teams === undefined ? { matchSize: 2 } : {}
  const compiled = compileQueue(
    defineQueue({ name: 'q', deploy: { application: 'a', version: '1' }, fillForMs: 0, ...shape, ...queue }),
  )
  const pool = createPool(compiled.model)
  const nameIn = new Map(
    Object.entries(parties).map(([id, party]) => {
      const players = party.map((player, at) => ({
        id: `${id}${at}`,
        attributes: {},
        roles: [],
        latencies: {},
        avoid: [],
        ...player,
      }))
      const ticket = { id, createdAt: 0, priority: 0, players, place: undefined, network: 'n' }
      return [pool.add(compiled.entryOf(ticket)), id] as const
    }),
  )
  return Array.from(pool.group(waitedMs), ({ slots, teams }) =>
    compiled.model.teams.map((_, team) =>
      slots.flatMap((slot, at) => (teams[at] === team ? [nameIn.get(slot) ?? ''] : [])).toSorted(),
    ),
  )
}
const one = (attributes: RulePlayer['attributes']): Party => [{ attributes }]
const rules = (...all: RuleDefinition[]) => ({ rules: all })
const together = (matches: readonly (readonly (readonly string[])[])[]) =>
  matches.map((match) => match.flat().toSorted().join('')).toSorted()

describe('rules with criteria of a single ticket', () => {
  test('rules let each ticket set the lowest and highest skill of the players it meets', () => {
    const bounds = rules(
      { kind: 'accepts', attribute: 'skill', operator: '>=', own: 'minSkill' },
      { kind: 'accepts', attribute: 'skill', operator: '<=', own: 'maxSkill' },
    )
    const players = {
      a: one({ skill: 10, minSkill: 15 }),
      b: one({ skill: 12 }),
      c: one({ skill: 20, maxSkill: 9 }),
      d: one({ skill: 16, maxSkill: 10 }),
    }
    expect(together(matchesOf(bounds, players))).toEqual(['ad'])
  })

  test('rules let each ticket exclude players by their values', () => {
    const blocked = rules({ kind: 'accepts', attribute: 'clan', operator: 'not in', own: 'blocked' })
    expect(together(matchesOf(blocked, { a: one({ clan: 'x', blocked: ['y'] }), b: one({ clan: 'y' }) }))).toEqual([])
    expect(together(matchesOf(blocked, { a: one({ clan: 'x', blocked: ['z'] }), b: one({ clan: 'y' }) }))).toEqual([
      'ab',
    ])
  })
})

describe('rules can require that all players differ', () => {
  const heroes = { a: one({ hero: 'x' }), b: one({ hero: 'x' }), c: one({ hero: 'y' }) }

  test('rules can require different values within the match', () => {
    const [match] = together(matchesOf(rules({ kind: 'different', attribute: 'hero' }), heroes))
    expect(match).toMatch(/^(ac|bc)$/)
  })

  test('rules can require different values within each team', () => {
    const teams = [{ name: 'team', count: 2, size: 2 }]
    const players = { ...heroes, d: one({ hero: 'y' }) }
    const [match = []] = matchesOf(
      { teams, ...rules({ kind: 'different', attribute: 'hero', scope: 'team' }) },
      players,
    )
    expect(match).toHaveLength(2)
    for (const team of match)
      expect(new Set(team.map((id) => players[id as 'a'][0]?.attributes?.['hero'])).size).toBe(2)
  })
})

describe('rules can combine rules', () => {
  test('rules can require that at least one of two rules holds', () => {
    const either = rules({
      kind: 'any',
      rules: [
        { kind: 'equal', attribute: 'language' },
        { kind: 'difference', attribute: 'skill', max: 5 },
      ],
    })
    expect(
      together(matchesOf(either, { a: one({ language: 'de', skill: 1 }), b: one({ language: 'fr', skill: 9 }) })),
    ).toEqual([])
    expect(
      together(matchesOf(either, { a: one({ language: 'de', skill: 1 }), b: one({ language: 'de', skill: 9 }) })),
    ).toEqual(['ab'])
    expect(
      together(matchesOf(either, { a: one({ language: 'de', skill: 1 }), b: one({ language: 'fr', skill: 4 }) })),
    ).toEqual(['ab'])
  })

  test('rules can require that another rule does not hold, e.g. not only beginners', () => {
    const mixed = rules({ kind: 'not', rule: { kind: 'equal', attribute: 'beginner' } })
    expect(together(matchesOf(mixed, { a: one({ beginner: true }), b: one({ beginner: true }) }))).toEqual([])
    expect(together(matchesOf(mixed, { a: one({ beginner: true }), b: one({ beginner: false }) }))).toEqual(['ab'])
  })

  test('rules can allow a varying number of teams, e.g. two or three full teams', () => {
    const counted = (value: number): RuleDefinition => ({
      kind: 'compare',
      aggregate: 'count',
      team: 'more',
      operator: '=',
      value,
    })
    const queue = {
      teams: [
        { name: 'team', count: 2, size: 1 },
        { name: 'more', size: { min: 0, max: 1 } },
      ],
      ...rules({ kind: 'any', rules: [counted(0), counted(1)] }),
    }
    expect(together(matchesOf(queue, { a: one({}), b: one({}) }))).toEqual(['ab'])
    expect(together(matchesOf(queue, { a: one({}), b: one({}), c: one({}) }))).toEqual(['abc'])
  })
})

describe('rules can express totals and teams', () => {
  test('rules can limit a total over the whole match', () => {
    const teams = [{ name: 'team', count: 2, size: 1 }]
    const total: RuleDefinition = {
      kind: 'compare',
      scope: 'match',
      aggregate: 'sum',
      attribute: 'cost',
      operator: '<=',
      value: 10,
    }
    expect(together(matchesOf({ teams, ...rules(total) }, { a: one({ cost: 6 }), b: one({ cost: 5 }) }))).toEqual([])
    expect(together(matchesOf({ teams, ...rules(total) }, { a: one({ cost: 6 }), b: one({ cost: 4 }) }))).toEqual([
      'ab',
    ])
  })

  test('rules can require that each team shares a language, which may differ between teams', () => {
    const teams = [{ name: 'team', count: 2, size: 2 }]
    const players = { a: one({ lang: 'de' }), b: one({ lang: 'fr' }), c: one({ lang: 'de' }), d: one({ lang: 'fr' }) }
    const [match = []] = matchesOf({ teams, ...rules({ kind: 'equal', attribute: 'lang', scope: 'team' }) }, players)
    expect(match.map((team) => team.join('')).toSorted()).toEqual(['ac', 'bd'])
  })

  test('rules can let premade teams meet only premade teams', () => {
    const teams = [{ name: 'team', count: 2, size: 2 }]
    const sizes: RuleDefinition = { kind: 'balance', attribute: PARTY_SIZE, aggregate: 'max', max: 0 }
    const pair: Party = [{}, {}]
    expect(together(matchesOf({ teams, ...rules(sizes) }, { a: pair, b: one({}), c: one({}) }))).toEqual([])
    expect(together(matchesOf({ teams, ...rules(sizes) }, { a: pair, b: one({}), c: one({}), d: pair }))).toEqual([
      'ad',
    ])
  })

  test('rules can raise a maximum while players wait', () => {
    const most: RuleDefinition = {
      kind: 'compare',
      scope: 'match',
      aggregate: 'count',
      operator: '<=',
      value: [
        { afterMs: 0, value: 2 },
        { afterMs: 1000, value: 3 },
      ],
    }
    const queue = { teams: [{ name: 'all', size: { min: 2, max: 3 } }], ...rules(most) }
    const players = { a: one({}), b: one({}), c: one({}) }
    expect(matchesOf(queue, players).flat(2)).toHaveLength(2)
    expect(matchesOf(queue, players, 1000).flat(2)).toHaveLength(3)
  })
})

test('rules can require that two lists share no value, and that a list does not contain a string', () => {
  const stated = rules(
    { kind: 'require', attribute: 'dlc', operator: 'excludes', value: 'beta' },
    { kind: 'require', attribute: 'mode', operator: 'not in', value: ['old'] },
  )
  expect(
    together(matchesOf(stated, { a: one({ dlc: ['x'], mode: 'new' }), b: one({ dlc: [], mode: 'new' }) })),
  ).toEqual(['ab'])
  expect(() => matchesOf(stated, { a: one({ dlc: ['beta'], mode: 'new' }) })).toThrow(
    'can never satisfy rule "require dlc"',
  )
  expect(() => matchesOf(stated, { a: one({ dlc: [], mode: 'old' }) })).toThrow('can never satisfy rule "require mode"')
})

test('rules can limit a value for some time and then drop the limit', () => {
  const plateau: RuleDefinition = {
    kind: 'difference',
    attribute: 'skill',
    max: [
      { afterMs: 0, value: 5 },
      { afterMs: 1000, value: 5 },
      { afterMs: 2000, value: Infinity },
    ],
  }
  const players = { a: one({ skill: 0 }), b: one({ skill: 1000 }) }
  expect(together(matchesOf(rules(plateau), players, 1999))).toEqual([])
  expect(together(matchesOf(rules(plateau), players, 2000))).toEqual(['ab'])
})

test('two rules about the same attribute get distinct names', () => {
  const range = defineQueue({
    name: 'q',
    matchSize: 2,
    deploy: { application: 'a', version: '1' },
    rules: [
      { kind: 'require', attribute: 'level', operator: '>=', value: 10 },
      { kind: 'require', attribute: 'level', operator: '<=', value: 20 },
    ],
  })
  expect(range.rules.map(({ name }) => name)).toEqual(['require level', 'require level 2'])
})
