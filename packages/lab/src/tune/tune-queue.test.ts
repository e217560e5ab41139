import { describe, expect, test } from 'vitest'
import { withChanges } from './limits.js'
import { modelled, ranked, skill } from './model.fixture.js'
import { meanOf, type Measured, type Promises } from './promises.js'
import { searchedIn } from './limit-search.js'
import { createSpace } from './space.js'
import { fewestRuns, tuneQueue } from './tune-queue.js'
import type { TuneOptions, WantedRun } from './tuning-result.js'

const seeds = { trainingSeeds: [1, 2, 3], unseenSeeds: [4, 5, 6] }

function tune(options: Partial<TuneOptions<Measured>> = {}) {
  const runs: WantedRun[] = []
  const measure = async (wanted: readonly WantedRun[]) => {
    runs.push(...wanted)
    return wanted.map(modelled)
  }
  const promises = { waitP90Ms: 30_000 }
  return tuneQueue({ queue: ranked(), promises, ...seeds, budget: 110, measure, ...options }).then((tuned) => ({
    ...tuned,
    made: runs,
  }))
}

/** The result with the options above, which several tests check. */
const usual = tune()

/** Returns the minimum cost of many evenly spread schedules that keep a promise on the training seeds. */
function leastCost({ waitP90Ms = Infinity }: Promises): number {
  const space = createSpace(searchedIn(ranked(), { waitP90Ms }))
  const parts = [0, 0.25, 0.5, 0.75, 1]
  let points: number[][] = [[]]
  for (let axis = 0; axis < space.axes; axis += 1)
    points = points.flatMap((point) => parts.map((value) => [...point, value]))
  const costs = points.map((point) => {
    const queue = withChanges(ranked(), space.changesAt(point))
    const results = seeds.trainingSeeds.map((seed) => modelled({ queue, seed, share: 1 }))
    return results.every((one) => one.waitP90Ms <= waitP90Ms) ? meanOf(results, 'cost') : Infinity
  })
  return Math.min(...costs)
}

describe('the best schedule that keeps a wait promise', () => {
  test('the best schedule is as good as the best of 625 on a grid, and keeps its promise on unseen seeds', async () => {
    const { best, possible, ownIsBest, runs, changes } = await tune({ budget: 150 })
    expect({ possible, ownIsBest }).toEqual({ possible: true, ownIsBest: false })
    expect(meanOf(best.training, 'cost')).toBeLessThan(leastCost({ waitP90Ms: 30_000 }) * 1.01)
    for (const { waitP90Ms } of best.training) expect(waitP90Ms).toBeLessThanOrEqual(30_000)
    expect(meanOf(best.unseen, 'waitP90Ms')).toBeLessThanOrEqual(30_000)
    expect(runs).toBeLessThanOrEqual(150)
    expect(changes).toEqual([expect.objectContaining({ name: 'difference skill', path: ['rules', 0, 'max'] })])
  })

  test('the best schedule is run with exactly the numbers that are written', async () => {
    const { queue, changes, best, made } = await usual
    expect(queue).toEqual(withChanges(ranked(), changes))
    const steps = changes[0]?.is
    if (!Array.isArray(steps)) throw new Error('the result has no steps')
    for (const { afterMs, value } of steps) {
      expect(afterMs % 1000).toBe(0)
      expect(Number(value.toPrecision(2))).toBe(value)
    }
    expect(best.unseen).toEqual(seeds.unseenSeeds.map((seed) => modelled({ queue, seed, share: 1 })))
    expect(made.filter(({ share }) => share < 1).length).toBeGreaterThan(20)
  })

  test('the best schedule is run with unseen seeds only at the end, as is the schedule of the file', async () => {
    const { made, own } = await usual
    const unseen = made.findIndex(({ seed }) => seeds.unseenSeeds.includes(seed))
    expect(unseen).toBe(made.length - 2 * seeds.unseenSeeds.length)
    expect(own.unseen).toEqual(seeds.unseenSeeds.map((seed) => modelled({ queue: ranked(), seed, share: 1 })))
  })

  test('the best schedule is the same for the same seed', async () => {
    expect(await tune({ seed: 1 })).toEqual(await usual)
  })

  test('the best schedule also keeps a promise about players who give up', async () => {
    const { best, possible } = await tune({ promises: { gaveUp: 0.01 } })
    expect(possible).toBe(true)
    for (const { gaveUp } of best.training) expect(gaveUp).toBeLessThanOrEqual(0.01)
    expect(Math.max(...best.training.map(({ gaveUp }) => gaveUp))).toBeGreaterThan(0.009)
  })
})

test('if no schedule keeps the promised wait, the search reports the schedule that comes nearest to it', async () => {
  const { possible, changes, best, loosest } = await tune({ promises: { waitP90Ms: 5000 } })
  expect(possible).toBe(false)
  // No wait can be shorter than with all limits at their loosest from the start.
  expect(best.training).toEqual(loosest)
  expect(changes[0]?.is).toBe(800)
})

test('a search leaves a schedule unchanged that cannot be improved', async () => {
  const queue = ranked()
  const measure = async (runs: readonly WantedRun[]) => runs.map(() => ({ cost: 2, waitP90Ms: 20_000, gaveUp: 0 }))
  const tuned = await tune({ measure })
  expect(tuned).toMatchObject({ possible: true, ownIsBest: true, queue })
  expect(tuned.changes[0]?.is).toEqual(tuned.changes[0]?.was)
  expect(tuned.best).toEqual(tuned.own)
})

test('on the Pareto front each point with a longer wait has better matches', async () => {
  const { front, best } = await usual
  const others = front.filter(({ is }) => is !== 'own')
  expect(others.length).toBeGreaterThan(2)
  for (const [index, point] of others.slice(1).entries()) {
    expect(point.waitP90Ms).toBeGreaterThan(others[index]?.waitP90Ms ?? Infinity)
    expect(point.cost).toBeLessThan(others[index]?.cost ?? 0)
  }
  expect(front.find(({ is }) => is === 'best')?.cost).toBe(meanOf(best.training, 'cost'))
  expect(front.filter(({ keeps }) => keeps).length).toBeGreaterThan(1)
  expect(others.at(-1)?.waitP90Ms).toBeGreaterThan(35_000)
})

test('a search with too small a budget is refused', async () => {
  const fewest = fewestRuns(seeds)
  await expect(tune({ budget: fewest - 1 })).rejects.toThrow(`budget: must be at least ${fewest} runs`)
  await expect(tune({ budget: Number.NaN })).rejects.toThrow('budget: must be')
  expect((await tune({ budget: fewest })).runs).toBeLessThanOrEqual(fewest)
})

test('bounds of a search that the limit cannot have are refused', async () => {
  const bounds = { 'difference skill': { from: -5, to: 100 } }
  await expect(tune({ bounds })).rejects.toThrow('bounds: queue "ranked": rules.0.max')
  const rules = [{ ...skill, max: 100 }]
  await expect(tune({ queue: ranked(rules) })).rejects.toThrow('nothing to search')
})
