import { expect, test } from 'vitest'
import { arrange, byPlan, type Lineup } from './arrange.js'
import { Effort } from './effort.js'
import type { Checks } from './model.js'

const levels = { youngest: 0, oldest: 0, average: 0, now: 0 }
const NO_CHECKS: Checks<number> = { pair: undefined, part: undefined, whole: undefined, unevenness: undefined }
const sum = (team: readonly number[]) => team.reduce((all, one) => all + one, 0)
const gap = (teams: readonly (readonly number[])[]) => Math.abs(sum(teams[0] ?? []) - sum(teams[1] ?? []))

/** Two teams of single players, whose facts are their skills. */
const lineupOf = (skills: readonly number[], more: Partial<Lineup<number>> = {}): Lineup<number> => ({
  sizes: skills.map(() => 1),
  facts: skills,
  present: [[], []],
  rooms: [skills.length / 2, skills.length / 2],
  least: [0, 0],
  levels,
  ...more,
})

function effortOf(tries: number): Effort {
  const effort = new Effort()
  effort.begin(tries)
  return effort
}

const teamsOf = (skills: readonly number[], teams: readonly number[]) =>
  [0, 1].map((team) => skills.filter((_, at) => teams[at] === team))

test('without checks the first way is taken', () => {
  expect(arrange(undefined, lineupOf([1, 2]), [0, 1], effortOf(0))).toEqual([0, 1])
  expect(arrange(NO_CHECKS, lineupOf([1, 2]), [1, 0], effortOf(0))).toEqual([1, 0])
})

test('of all ways the least uneven is taken', () => {
  const skills = [9, 8, 5, 5, 2, 1]
  const teams = arrange({ ...NO_CHECKS, unevenness: gap }, lineupOf(skills), [0, 0, 0, 1, 1, 1], effortOf(1000))
  expect(gap(teamsOf(skills, teams ?? []))).toBe(0)
})

test('with more ways than can all be tried, teams become more even by exchanging players', () => {
  const skills = Array.from({ length: 20 }, (_, at) => at)
  const first = skills.map((_, at) => (at < 10 ? 0 : 1))
  const teams = arrange({ ...NO_CHECKS, unevenness: gap }, lineupOf(skills), first, effortOf(1000))
  expect(gap(teamsOf(skills, teams ?? []))).toBeLessThan(3)
})

test('what may not play is not taken, however even; if only one way may, it is found', () => {
  const onlyWay = (teams: readonly (readonly number[])[]) => teams[0]?.toString() === '2,4'
  expect(
    arrange({ ...NO_CHECKS, whole: onlyWay, unevenness: gap }, lineupOf([1, 2, 3, 4]), [0, 1, 1, 0], effortOf(1000)),
  ).toEqual([1, 0, 1, 0])
  expect(
    arrange({ ...NO_CHECKS, whole: () => false }, lineupOf([1, 2, 3, 4]), [0, 1, 1, 0], effortOf(1000)),
  ).toBeUndefined()
})

test('also among more ways than can all be tried, if the parts tell early', () => {
  const skills = Array.from({ length: 14 }, (_, at) => at)
  const sorted = (teams: readonly (readonly number[])[]) =>
    (teams[0] ?? []).every((one) => one % 2 === 0) && (teams[1] ?? []).every((one) => one % 2 === 1)
  const checks = { ...NO_CHECKS, part: sorted, whole: sorted }
  const teams = arrange(
    checks,
    lineupOf(skills),
    skills.map((_, at) => (at < 7 ? 0 : 1)),
    effortOf(1000),
  )
  expect(teams).toEqual(skills.map((at) => at % 2))
})

test('no team gets less than it must, those who are there stay, and parties are not divided', () => {
  const lineup = lineupOf([5, 5, 1], { sizes: [2, 1, 1], rooms: [2, 3], least: [2, 1], present: [[7], []] })
  const teams = arrange({ ...NO_CHECKS, unevenness: gap }, lineup, [0, 1, 1], effortOf(1000))
  // The party of 5 beside the 7 would be 12 against 6; the others beside it are 13 against 5.
  expect(teams).toEqual([0, 1, 1])
})

test('when the tries are spent, the best so far is taken', () => {
  const effort = effortOf(1)
  const teams = arrange({ ...NO_CHECKS, unevenness: gap }, lineupOf([9, 8, 2, 1]), [0, 0, 1, 1], effort)
  expect(teams).toBeDefined()
  expect(effort.wasCut).toBe(true)
})

test('a plan says the teams of parties of each size in turn', () => {
  const plan = new Map([
    [2, [1, 0]],
    [1, [0]],
  ])
  expect(byPlan([2, 1, 2], plan)).toEqual([1, 0, 0])
})
