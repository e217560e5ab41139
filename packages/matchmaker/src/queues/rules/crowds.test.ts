import { describe, expect, test } from 'vitest'
import { createPool } from '@muster/kernel'
import { compileQueue } from '../compile.js'
import { defineQueue } from '../queue.js'
import type { RuleDefinition } from './definition.js'

const NOW = 1_000_000
const roles = { kind: 'roles', roles: { tank: 1, healer: 1 } } as const
const balance = { kind: 'balance', attribute: 'skill', max: 10 } as const
const evenSkills: RuleDefinition = {
  kind: 'custom',
  name: 'even skills',
  test: ({ teams }) =>
    teams.every(({ tickets }) => tickets.every(({ players }) => Number(players[0]?.attributes['skill']) % 2 === 0)),
}

/** Creates a pool of a queue with two teams and many damage dealers among few others. Locations do not matter. */
function poolOf(rules: readonly RuleDefinition[], dps: number, tanks: number, healers: number, size = 5) {
  const compiled = compileQueue(
    defineQueue({
      name: 'ranked',
      teams: [{ name: 'team', count: 2, size }],
      rules,
      deploy: { application: 'game', version: '1' },
    }),
  )
  const pool = createPool(compiled.model)
  const add = (id: string, role: string, at: number) => {
    const player = { id: `p${id}`, attributes: { skill: 100 + (at % 50) * 2 }, roles: [role], latencies: {}, avoid: [] }
    return pool.add(
      compiled.entryOf({
        id,
        createdAt: NOW - 1000 + at,
        priority: 0,
        players: [player],
        place: undefined,
        network: undefined,
      }),
    )
  }
  for (let at = 0; at < dps; at++) add(`dps-${at}`, 'dps', at)
  const rare = [
    ...Array.from({ length: tanks }, (_, at) => add(`tank-${at}`, 'tank', at)),
    ...Array.from({ length: healers }, (_, at) => add(`healer-${at}`, 'healer', at)),
  ]
  return { pool, rare }
}

test.each([6, 100, 1000, 12_000])('two tanks and two healers among %d others are matched in the first round', (dps) => {
  const { pool, rare } = poolOf([roles, balance], dps, 2, 2)
  const matches = [...pool.group(NOW)]
  expect(matches).toHaveLength(1)
  expect(matches[0]?.slots).toEqual(expect.arrayContaining(rare))
})

/** Returns the number of steps of a round, with 500 tries a step. */
function stepsOf(pool: ReturnType<typeof poolOf>['pool'], now: number): number {
  const round = pool.round(now)
  let steps = 1
  while (round.step(500)) steps += 1
  expect(round.take()).toHaveLength(0)
  return steps
}

test('while no player has a required role, each ticket of a crowd is searched once and rarely again', () => {
  const { pool } = poolOf([roles, balance, evenSkills], 5000, 2, 1)
  expect(stepsOf(pool, NOW)).toBeLessThan(40)
  expect(stepsOf(pool, NOW + 250)).toBeLessThan(10)
})

test.each([25, 200, 2000])(
  '%d tickets kept apart by a custom rule cost a round no more than its search budget',
  (many) => {
    const { pool } = poolOf([balance, { kind: 'custom', name: 'never', test: () => false }], many, 0, 0)
    // 10,000 tries before the bulk matching, 10,000 after it, and the last search of each.
    for (let round = 0; round < 8; round++) expect(stepsOf(pool, NOW + 250 * round)).toBeLessThan(70)
  },
)

describe('a slow custom rule', () => {
  /** Creates a slow rule that moves its own clock at each call. It allows only the tickets of these ids. */
  function slowRule(ms: number, mates: readonly string[] = []) {
    const clock = { now: 0 }
    const rule: RuleDefinition = {
      kind: 'custom',
      name: 'slow',
      test: ({ teams }) => {
        clock.now += ms
        return teams.every(({ tickets }) => tickets.every(({ id }) => mates.includes(id)))
      },
    }
    return { clock, rule }
  }

  test.each([
    [25, 0.2],
    [25, 30],
    [700, 0.2],
    [700, 30],
  ])('a slow custom rule blocks the event loop for at most one call over budget: %d tickets, %d ms', (many, ms) => {
    const { clock, rule } = slowRule(ms)
    const { pool } = poolOf([balance, rule], many, 0, 0)
    const round = pool.round(NOW)
    let restedAt = 0
    for (let step = 0; step < 300 && round.step(Infinity, () => clock.now - restedAt >= 5); step += 1) {
      expect(clock.now - restedAt).toBeLessThan(5 + ms + 1e-6)
      restedAt = clock.now
    }
    // The rule must have been called often enough to prove something.
    expect(clock.now).toBeGreaterThan(100)
  })

  test('a slow custom rule delays no ticket for good: shortened rounds give each ticket its turn', () => {
    const { clock, rule } = slowRule(1, ['dps-14', 'dps-15'])
    const { pool } = poolOf([rule], 16, 0, 0, 1)
    let rounds = 0
    for (let found = 0; found === 0 && rounds < 20; rounds += 1) {
      const round = pool.round(NOW + 250 * rounds)
      const until = clock.now + 50
      while (round.step(Infinity, () => clock.now >= until)) round.hurry()
      found = round.take().length
    }
    expect(rounds).toBeGreaterThan(1)
    expect(rounds).toBeLessThan(10)
  })
})
