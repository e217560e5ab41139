import { defineQueue } from '@muster/matchmaker'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { boundOf } from './bound-of.js'
import { runOf, type Guest } from './run.fixture.js'

/** Generates matches whose members were in the queue at the same time, and left when they were matched. */
const guests = (size: number) =>
  fc
    .array(
      fc.record({
        at: fc.nat(6),
        members: fc.array(fc.record({ skill: fc.nat(40), waited: fc.nat(6) }), { minLength: size, maxLength: size }),
      }),
      { minLength: 1, maxLength: size === 2 ? 4 : 3 },
    )
    .map((matches) =>
      matches.flatMap(({ at, members }, match) =>
        members.map(({ skill, waited }): Guest => ({ skills: [skill], from: 6 + at - waited, until: 6 + at, match })),
      ),
    )

/** Steps of the limit on the difference in skill: seconds, and the limit from that time on. */
const STEPS = [
  [0, 10],
  [2, 25],
  [4, 100],
] as const

/** True if the members could have been matched when the first of them left. */
function mayPlay(members: readonly Guest[], isLimited: boolean): boolean {
  const moment = Math.min(...members.map(({ until }) => until))
  if (members.some(({ from }) => from > moment)) return false
  const [youngest] = members.toSorted((one, other) => other.from - one.from)
  const limit = STEPS.findLast(([after]) => moment - (youngest?.from ?? 0) >= after)?.[1] ?? 0
  const skills = members.map(({ skills: [skill = 0] }) => skill)
  return !isLimited || Math.max(...skills) - Math.min(...skills) <= limit
}

/** Returns the sum over all players of the average difference to the others, in units of 10. */
const costOf = (members: readonly Guest[]) =>
  members.reduce(
    (sum, { skills: [own = 0] }) =>
      sum +
      members.reduce((all, { skills: [other = 0] }) => all + Math.abs(own - other), 0) / (members.length - 1) / 10,
    0,
  )

/**
 * Returns the minimum cost of matching everybody in matches of a size. The matches that were made are always allowed.
 */
function cheapest(left: readonly Guest[], size: number, isLimited: boolean): number {
  const [first, ...others] = left
  if (first === undefined) return 0
  return Math.min(
    Infinity,
    ...choices(others, size - 1).map((chosen) => {
      const members = [first, ...chosen]
      const wasMade = members.every(({ match }) => match === first.match)
      if (!wasMade && !mayPlay(members, isLimited)) return Infinity
      return (
        costOf(members) +
        cheapest(
          others.filter((one) => !chosen.includes(one)),
          size,
          isLimited,
        )
      )
    }),
  )
}

const choices = (from: readonly Guest[], count: number): Guest[][] =>
  count === 0
    ? [[]]
    : from.flatMap((one, at) => choices(from.slice(at + 1), count - 1).map((chosen) => [one, ...chosen]))

const queue = (matchSize: number) =>
  defineQueue({
    name: 'queue',
    matchSize,
    rules: [
      {
        kind: 'difference',
        attribute: 'skill',
        max: STEPS.map(([after, value]) => ({ afterMs: 1000 * after, value })),
      },
    ],
    deploy: { application: 'game', version: '1' },
  })

/** Returns the costs of the run: actual, minimum within the rules, and minimum without rules. */
function told(some: readonly Guest[], size: number) {
  const { crowd, outcome } = runOf(some)
  const bound = boundOf(crowd, outcome, queue(size))
  const least = (isLimited: boolean) => cheapest(some, size, isLimited) / some.length
  const made = [...new Set(some.map(({ match }) => match))].map((match) => some.filter((one) => one.match === match))
  return {
    cost: bound?.cost ?? 0,
    withinRules: bound?.withinRules ?? 0,
    anyRules: bound?.anyRules ?? 0,
    made: made.reduce((sum, members) => sum + costOf(members), 0) / some.length,
    best: least(true),
    bestOfAny: least(false),
  }
}

test('the lower cost bound for pairs is the cheapest way to match the same players (property)', () => {
  fc.assert(
    fc.property(guests(2), (some) => {
      const { cost, withinRules, anyRules, made, best, bestOfAny } = told(some, 2)
      expect(cost).toBeCloseTo(made, 5)
      expect(anyRules).toBeCloseTo(bestOfAny, 5)
      expect(withinRules).toBeCloseTo(best, 5)
    }),
    { numRuns: 60, seed: 1 },
  )
})

test('no way to make larger matches costs less than the lower cost bound (property)', () => {
  fc.assert(
    fc.property(guests(3), (some) => {
      const { cost, withinRules, anyRules, made, best, bestOfAny } = told(some, 3)
      expect(cost).toBeCloseTo(made, 5)
      expect(anyRules).toBeLessThanOrEqual(bestOfAny + 1e-6)
      expect(withinRules).toBeLessThanOrEqual(best + 1e-6)
      expect(anyRules).toBeLessThanOrEqual(withinRules + 1e-6)
    }),
    { numRuns: 40, seed: 1 },
  )
})
