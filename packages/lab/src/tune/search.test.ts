import { seededRandom } from '@muster/core/clock'
import { describe, expect, test } from 'vitest'
import { createTrials, type Point, type TuningProblem, type TuningTrial } from './space.js'
import { search } from './tune-queue.js'

interface Result {
  readonly cost: number
  readonly wait: number
}

const SEEDS = 3
const SPARE = 5

/**
 * Creates a search problem over a landscape. Its results vary by up to 2 % with the seed and the share of the crowd.
 */
function problemOf(landscape: (point: Point) => Result, axes: number, budget: number) {
  const made: TuningTrial[] = []
  const trials = createTrials<Result>({
    // Points are equal if they are equal after rounding.
    keyOf: (point) => point.map((value) => value.toFixed(2)).join(),
    budget,
    evaluate: async (wanted) => {
      made.push(...wanted)
      return wanted.map(({ point, seed, share }) => {
        const noise = 1 + 0.02 * seededRandom(seed * 100 + share)()
        const { cost, wait } = landscape(point)
        return { cost: cost * noise, wait: wait * noise }
      })
    },
  })
  const problem: TuningProblem<Result> = {
    axes,
    starts: [Array.from({ length: axes }, () => 0.5)],
    trials,
    outputsOf: ({ cost, wait }) => [Math.log(cost), Math.log(wait)],
    score: (outputs) => {
      const worst = (at: number) => Math.max(...outputs.map((one) => one[at] as number))
      return worst(0) + 4 * Math.max(0, worst(1))
    },
    improvements: () => [],
    seeds: SEEDS,
    seed: 1,
    spare: SPARE,
  }
  return { problem, trials, made }
}

/**
 * A bowl-shaped landscape whose minimum lies outside of the allowed range. The best point is on the border, closest to
 * that minimum.
 */
function bowl(axes: number) {
  const bottom = Array.from({ length: axes }, (_, at) => 0.2 + 0.6 * ((at * 0.37) % 1))
  const slope = Array.from({ length: axes }, (_, at) => 0.5 + ((at * 0.61) % 1))
  const beyond = 0.3
  const away = (point: Point) => point.map((value, at) => value - (bottom[at] as number))
  const landscape = (point: Point): Result => {
    const distances = away(point)
    const uphill = distances.reduce((sum, value, at) => sum + value * (slope[at] as number), 0)
    return {
      cost: 1 + 5 * distances.reduce((sum, value) => sum + value ** 2, 0),
      wait: Math.exp(2 * (uphill + beyond)),
    }
  }
  const steepness = slope.reduce((sum, value) => sum + value ** 2, 0)
  return { landscape, least: 1 + (5 * beyond ** 2) / steepness }
}

describe('a search with a constraint', () => {
  test.each([
    [3, 100, 1.01],
    [6, 150, 1.03],
  ])(
    'a search with a constraint finds the best point in a space of %d axes within %d runs',
    async (axes, budget, near) => {
      const { landscape, least } = bowl(axes)
      const { problem, trials } = problemOf(landscape, axes, budget)
      const [best] = await search(problem)
      // The noise is up to 2 %, and a minimum on the border adds to the error.
      expect(Math.exp(best?.score ?? Infinity) / least).toBeLessThan(near + 0.03)
      expect(trials.left()).toBeGreaterThanOrEqual(SPARE)
    },
  )
})

test('a search repeats no run, mostly uses a part of the crowd, and runs the best points with every seed', async () => {
  const { problem, made } = problemOf(bowl(2).landscape, 2, 60)
  const tried = await search(problem)
  const keys = made.map(({ point, seed, share }) => `${point.map((value) => value.toFixed(2)).join()} ${seed} ${share}`)
  expect(new Set(keys).size).toBe(keys.length)
  expect(made.filter(({ share }) => share < 1).length).toBeGreaterThan(tried.length)
  for (const { results } of tried) expect(results).toHaveLength(SEEDS)
  expect(tried.map(({ score }) => score)).toEqual(tried.map(({ score }) => score).toSorted((one, other) => one - other))
})

test('a search is deterministic by its seed, and differs with another seed', async () => {
  const wayOf = async (seed: number) => {
    const { problem, made } = problemOf(bowl(2).landscape, 2, 50)
    await search({ ...problem, seed })
    return made
  }
  expect(await wayOf(1)).toEqual(await wayOf(1))
  expect(await wayOf(1)).not.toEqual(await wayOf(2))
})

test('a search ends before its budget if all points are equal', async () => {
  const trials = createTrials<Result>({
    keyOf: () => 'the same',
    budget: 1000,
    evaluate: async (wanted) => wanted.map(() => ({ cost: 1, wait: 1 })),
  })
  const { problem } = problemOf(() => ({ cost: 1, wait: 1 }), 2, 1000)
  expect(await search({ ...problem, trials })).toHaveLength(1)
  expect(trials.spent()).toBeLessThan(5)
})
