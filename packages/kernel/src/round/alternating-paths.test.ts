import { seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Budget } from '../data/budget.js'
import { PairChoice } from './alternating-paths.js'

type Pair = readonly [one: number, other: number, cost: number]

/** Returns the chosen pairs. */
function chosen(pairs: readonly Pair[]): readonly Pair[] {
  const sorted = pairs.toSorted(([, , a], [, , b]) => a - b)
  const ends = Int32Array.from(sorted.flatMap(([one, other]) => [one, other]))
  const search = new PairChoice(new Budget()).choose(
    ends,
    Float64Array.from(sorted, ([, , cost]) => cost),
  )
  for (;;) {
    const { done, value } = search.next()
    if (done === true) return value.map((pair) => sorted[pair] as Pair)
  }
}

const sumOf = (pairs: readonly Pair[]) => pairs.reduce((sum, [, , cost]) => sum + cost, 0)

/** Returns the maximum number of pairs and their minimum cost, by trying all combinations. */
function optimum([pair, ...rest]: readonly Pair[]): { readonly count: number; readonly cost: number } {
  if (pair === undefined) return { count: 0, cost: 0 }
  const [one, other, price] = pair
  const without = optimum(rest)
  const left = optimum(rest.filter(([a, b]) => a !== one && a !== other && b !== one && b !== other))
  const [count, cost] = [left.count + 1, left.cost + price]
  return count > without.count || (count === without.count && cost < without.cost) ? { count, cost } : without
}

const pairs = (tickets: number) =>
  fc
    .uniqueArray(fc.tuple(fc.nat(tickets - 1), fc.nat(tickets - 1), fc.nat(100)), {
      selector: ([one, other]) => Math.min(one, other) * tickets + Math.max(one, other),
      maxLength: 18,
    })
    .map((all) => all.filter(([one, other]) => one !== other))

describe('the chosen pairs', () => {
  test('of a chain of four tickets both outer pairs are chosen instead of the cheap pair in the middle', () => {
    expect(chosen([[1, 2, 1], [0, 1, 5], [2, 3, 9]])).toEqual([[0, 1, 5], [2, 3, 9]]) // oxfmt-ignore
  })

  test('the chosen pairs are the cheaper two of four tickets', () => {
    expect(chosen([[0, 1, 1], [0, 2, 2], [1, 3, 2], [2, 3, 9]])).toEqual([[0, 2, 2], [1, 3, 2]]) // oxfmt-ignore
  })

  test('of three tickets the cheapest pair is chosen, and the third ticket remains', () => {
    expect(chosen([[0, 1, 4], [1, 2, 3], [0, 2, 5]])).toEqual([[1, 2, 3]]) // oxfmt-ignore
  })

  test('a pair is chosen once even if each of its tickets is a candidate of the other', () => {
    expect(chosen([[0, 1, 4], [1, 0, 4]])).toHaveLength(1) // oxfmt-ignore
    expect(chosen([])).toEqual([])
  })

  test('the chosen pairs contain each ticket at most once, and no two remaining tickets could be a pair', () => {
    fc.assert(
      fc.property(pairs(12), (all) => {
        const made = chosen(all)
        const taken = made.flatMap(([one, other]) => [one, other])
        expect(new Set(taken).size).toBe(taken.length)
        for (const pair of made) expect(all).toContain(pair)
        expect(made.map(([, , cost]) => cost)).toEqual(made.map(([, , cost]) => cost).toSorted((a, b) => a - b))
        expect(all.every(([one, other]) => taken.includes(one) || taken.includes(other))).toBe(true)
      }),
      { seed: 1, numRuns: 2000 },
    )
  })

  test('the chosen pairs are as many as possible, at the least cost, in nearly every small crowd', () => {
    const sums = { made: 0, most: 0, cost: 0, least: 0 }
    fc.assert(
      fc.property(pairs(9), (all) => {
        const [made, best] = [chosen(all), optimum(all)]
        expect(made.length).toBeLessThanOrEqual(best.count)
        sums.made += made.length
        sums.most += best.count
        if (made.length < best.count) return
        sums.cost += sumOf(made)
        sums.least += best.cost
      }),
      { seed: 1, numRuns: 1000 },
    )
    expect(sums.made / sums.most).toBeGreaterThan(0.998)
    expect(sums.cost / sums.least).toBeLessThan(1.002)
  })

  test('pairs are chosen in bounded steps even if a few tickets are candidates of all other tickets', () => {
    const random = seededRandom(1)
    const all = Array.from({ length: 2300 }, (_, one) =>
      Array.from({ length: 8 }, () => [one, 2300 + Math.floor(random() * 200), random()] as const),
    ).flat()
    const budget = new Budget()
    const sorted = all.toSorted(([, , a], [, , b]) => a - b)
    const ends = Int32Array.from(sorted.flatMap(([one, other]) => [one, other]))
    const search = new PairChoice(budget).choose(
      ends,
      Float64Array.from(sorted, ([, , cost]) => cost),
    )
    while (search.next().done !== true);
    expect(budget.spent).toBeLessThan(2 * all.length * 9)
    expect(budget.pauses).toBeGreaterThan(100)
  })
})
