import fc from 'fast-check'
import { expect, test } from 'vitest'
import { entries, models, NOW } from './arbitraries.fixture.js'
import { matchFaults } from './judge.fixture.js'
import type { Entry, Model } from './data/model.js'
import { createPool } from './pool.js'

/**
 * Returns the maximum number of players in disjoint matches, by exhaustive search: the first ticket is in one of the
 * matches or in none.
 */
function bestOf(tickets: readonly Entry<string>[], may: (members: readonly Entry<string>[]) => boolean): number {
  const known = new Map<number, number>()
  const matches = subsets(tickets).filter(({ members }) => may(members))
  const best = (left: number): number => {
    if (left === 0) return 0
    const old = known.get(left)
    if (old !== undefined) return old
    const first = left & -left
    let most = best(left & ~first)
    for (const { mask, players } of matches) {
      if ((mask & first) !== 0 && (mask & ~left) === 0) most = Math.max(most, players + best(left & ~mask))
    }
    known.set(left, most)
    return most
  }
  return best(2 ** tickets.length - 1)
}

const subsets = (tickets: readonly Entry<string>[]) =>
  Array.from({ length: 2 ** tickets.length - 1 }, (_, index) => {
    const members = tickets
      .filter((__, at) => ((index + 1) & (1 << at)) !== 0)
      .toSorted((one, other) => one.since - other.since)
    return { mask: index + 1, members, players: members.reduce((sum, { size }) => sum + size, 0) }
  })

/** Returns the matched players as a share of the optimum, over many small pools. */
function share(teams: Model<string>['teams'], largest: number, ranked: boolean): number {
  const full = teams.reduce((sum, { max }) => sum + max, 0)
  let [made, possible] = [0, 0]
  fc.assert(
    fc.property(models, entries(10), (any, some) => {
      const model: Model<string> = { ...any, teams, checks: undefined }
      const tickets = some.map((entry) => ({
        ...entry,
        size: Math.min(entry.size, largest),
        key: 'x',
        priority: ranked ? entry.priority : 0,
      }))
      const pool = createPool(model)
      const sizeOf = new Map(tickets.map((entry) => [pool.add(entry), entry.size]))
      const mayPlay = (members: readonly Entry<string>[]) =>
        members.reduce((sum, { size }) => sum + size, 0) === full &&
        waysOf(members, teams).some((ways) => matchFaults(model, members, ways, undefined, NOW).length === 0)
      const here = [...pool.group(NOW)]
        .flatMap(({ slots }) => slots)
        .reduce((sum, slot) => sum + (sizeOf.get(slot) ?? 0), 0)
      const there = bestOf(tickets, mayPlay)
      expect(here).toBeLessThanOrEqual(there)
      made += here
      possible += there
    }),
    { numRuns: 200, seed: 1 },
  )
  return made / possible
}

/** Returns all assignments of the members to teams. */
const waysOf = (members: readonly Entry<string>[], teams: Model<string>['teams']): number[][] =>
  members.reduce<number[][]>((ways) => ways.flatMap((way) => teams.map((_, team) => [...way, team])), [[]])

const exactly = (max: number) => ({ max, min: new Uint16Array(4).fill(max) })

// Measured over these pools: 98.8 %, 98.8 %, 97 % and 95 % of the optimum. With different priorities some players stay
// unmatched, because no ticket is matched in place of one of higher priority.
test.each([
  ['pairs', 0.98, [{ name: 'team', ...exactly(2) }], 1, false],
  ['pairs of different priorities', 0.98, [{ name: 'team', ...exactly(2) }], 1, true],
  [
    'parties in two teams of two',
    0.96,
    [
      { name: 'one', ...exactly(2) },
      { name: 'other', ...exactly(2) },
    ],
    2,
    false,
  ],
  ['parties in threes', 0.93, [{ name: 'team', ...exactly(3) }], 2, false],
] as const)(
  'the matching of small pools finds nearly as many matched players as possible: %s',
  (_, least, teams, largest, ranked) => {
    expect(share(teams, largest, ranked)).toBeGreaterThan(least)
  },
)
