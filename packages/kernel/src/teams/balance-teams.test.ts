import { expect, test } from 'vitest'
import { arrange, byPlan, type Lineup } from './balance-teams.js'
import { Budget } from '../data/budget.js'
import type { Checks } from '../data/model.js'

const levels = { youngest: 0, oldest: 0, average: 0, now: 0 }
const NO_CHECKS: Checks<number> = { pair: undefined, part: undefined, whole: undefined, unevenness: undefined }
const sum = (team: readonly number[]) => team.reduce((all, one) => all + one, 0)
const gap = (teams: readonly (readonly number[])[]) => Math.abs(sum(teams[0] ?? []) - sum(teams[1] ?? []))

/** Creates two teams of single players, whose facts are their skills. */
const lineupOf = (skills: readonly number[], more: Partial<Lineup<number>> = {}): Lineup<number> => ({
  sizes: skills.map(() => 1),
  facts: skills,
  present: [[], []],
  rooms: [skills.length / 2, skills.length / 2],
  least: [0, 0],
  levels,
  ...more,
})

/** Returns the teams that `arrange` finds. */
function arranged(...given: Parameters<typeof arrange<number>>): readonly number[] | undefined {
  const search = arrange(...given)
  let step = search.next()
  while (step.done !== true) step = search.next()
  return step.value
}

function budgetOf(tries: number): Budget {
  const budget = new Budget()
  budget.begin(tries)
  return budget
}

const teamsOf = (skills: readonly number[], teams: readonly number[]) =>
  [0, 1].map((team) => skills.filter((_, at) => teams[at] === team))

test('the first arrangement of teams is returned if there are no checks', () => {
  expect(arranged(undefined, lineupOf([1, 2]), [0, 1], budgetOf(0))).toEqual([0, 1])
  expect(arranged(NO_CHECKS, lineupOf([1, 2]), [1, 0], budgetOf(0))).toEqual([1, 0])
})

test('the least uneven of all arrangements of teams is returned', () => {
  const skills = [9, 8, 5, 5, 2, 1]
  const teams = arranged({ ...NO_CHECKS, unevenness: gap }, lineupOf(skills), [0, 0, 0, 1, 1, 1], budgetOf(1000))
  expect(gap(teamsOf(skills, teams ?? []))).toBe(0)
})

test('if there are too many arrangements to try, players are exchanged between teams to make the teams even', () => {
  const skills = Array.from({ length: 20 }, (_, at) => at)
  const first = skills.map((_, at) => (at < 10 ? 0 : 1))
  const teams = arranged({ ...NO_CHECKS, unevenness: gap }, lineupOf(skills), first, budgetOf(1000))
  expect(gap(teamsOf(skills, teams ?? []))).toBeLessThan(3)
})

test('the only allowed arrangement of teams is returned, even if a forbidden arrangement is more even', () => {
  const onlyWay = (teams: readonly (readonly number[])[]) => teams[0]?.toString() === '2,4'
  expect(
    arranged({ ...NO_CHECKS, whole: onlyWay, unevenness: gap }, lineupOf([1, 2, 3, 4]), [0, 1, 1, 0], budgetOf(1000)),
  ).toEqual([1, 0, 1, 0])
  expect(
    arranged({ ...NO_CHECKS, whole: () => false }, lineupOf([1, 2, 3, 4]), [0, 1, 1, 0], budgetOf(1000)),
  ).toBeUndefined()
})

test('the only allowed of too many arrangements is found if the check `part` rejects partial teams early', () => {
  const skills = Array.from({ length: 14 }, (_, at) => at)
  const sorted = (teams: readonly (readonly number[])[]) =>
    (teams[0] ?? []).every((one) => one % 2 === 0) && (teams[1] ?? []).every((one) => one % 2 === 1)
  const checks = { ...NO_CHECKS, part: sorted, whole: sorted }
  const teams = arranged(
    checks,
    lineupOf(skills),
    skills.map((_, at) => (at < 7 ? 0 : 1)),
    budgetOf(1000),
  )
  expect(teams).toEqual(skills.map((at) => at % 2))
})

test('every team gets its minimum, present players keep their team, and parties stay together', () => {
  const lineup = lineupOf([5, 5, 1], { sizes: [2, 1, 1], rooms: [2, 3], least: [2, 1], present: [[7], []] })
  const teams = arranged({ ...NO_CHECKS, unevenness: gap }, lineup, [0, 1, 1], budgetOf(1000))
  // If the party of skill 5 joins the present player of skill 7, the average is 12 against 6. If the two singles join
  // that player, it is 13 against 5.
  expect(teams).toEqual([0, 1, 1])
})

test('the best arrangement of teams so far is returned when the budget is spent', () => {
  const budget = budgetOf(1)
  const teams = arranged({ ...NO_CHECKS, unevenness: gap }, lineupOf([9, 8, 2, 1]), [0, 0, 1, 1], budget)
  expect(teams).toBeDefined()
  expect(budget.wasCut).toBe(true)
})

test('byPlan assigns parties to teams as the plan lists teams for each party size', () => {
  const plan = new Map([
    [2, [1, 0]],
    [1, [0]],
  ])
  expect(byPlan([2, 1, 2], plan)).toEqual([1, 0, 0])
})
