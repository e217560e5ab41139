import fc from 'fast-check'
import { expect, test } from 'vitest'
import { cheapestPairs, type Graph } from './cheapest-pairs.js'

/**
 * Returns the cost of the cheapest matching for each number of pairs, by trying all: the first vertex is paired or not.
 */
function allCheapest({ vertices, ends, costs }: Graph): number[] {
  const costOf = new Map<number, number>()
  for (const [edge, cost] of costs.entries()) {
    const mask = (1 << (ends[2 * edge] as number)) | (1 << (ends[2 * edge + 1] as number))
    costOf.set(mask, Math.min(cost, costOf.get(mask) ?? Infinity))
  }
  const known = new Map<number, readonly number[]>([[0, [0]]])
  const best = (left: number): readonly number[] => {
    const old = known.get(left)
    if (old !== undefined) return old
    const first = left & -left
    const found = [...best(left & ~first)]
    for (const [mask, cost] of costOf) {
      if ((mask & first) === 0 || (mask & ~left) !== 0) continue
      for (const [pairs, rest] of best(left & ~mask).entries())
        found[pairs + 1] = Math.min(found[pairs + 1] ?? Infinity, rest + cost)
    }
    known.set(left, found)
    return found
  }
  return [...best(2 ** vertices - 1)]
}

const graph = fc.integer({ min: 2, max: 10 }).chain((vertices) =>
  fc
    .record({
      pairs: fc.uniqueArray(
        fc.tuple(fc.nat(vertices - 1), fc.nat(vertices - 1)).filter(([one, other]) => one < other),
        { maxLength: 40, selector: ([one, other]) => 100 * one + other },
      ),
      costs: fc.oneof(
        fc.array(fc.nat(4), { minLength: 40, maxLength: 40 }),
        fc.array(fc.nat(1000), { minLength: 40, maxLength: 40 }),
      ),
    })
    .map(({ pairs, costs }): Graph => ({
      vertices,
      ends: Int32Array.from(pairs.flat()),
      costs: Float64Array.from(costs.slice(0, pairs.length)),
    })),
)

/**
 * Returns the number of pairs and their cost, for each requested number of pairs. The cost is NaN if partners
 * contradict each other.
 */
function found(any: Graph): [pairs: number, cost: number][] {
  return Array.from({ length: Math.floor(any.vertices / 2) + 2 }, (_, wanted) => {
    const { partners, pairs, cost } = cheapestPairs(any, wanted)
    const areMutual = [...partners.entries()].every(([one, other]) => other === -1 || partners[other] === one)
    return [pairs, areMutual && partners.filter((other) => other !== -1).length === 2 * pairs ? cost : Number.NaN]
  })
}

/** Returns what `found` should return. */
function wantedOf(any: Graph): [pairs: number, cost: number][] {
  const best = allCheapest(any)
  return Array.from({ length: Math.floor(any.vertices / 2) + 2 }, (_, wanted) => {
    const pairs = Math.min(wanted, best.length - 1)
    return [pairs, best[pairs] as number]
  })
}

test('the cheapest matching of every size costs as much as by exhaustive search (property)', () => {
  fc.assert(
    fc.property(graph, (any) => {
      expect(found(any)).toEqual(wantedOf(any))
    }),
    { numRuns: 100, seed: 1 },
  )
})

type Edges = readonly (readonly [one: number, other: number, gain: number])[]
const around: Edges = [
  [0, 1, 45],
  [0, 4, 45],
  [1, 2, 50],
  [2, 3, 45],
  [3, 4, 50],
  [0, 5, 30],
]
/** Graphs whose nested blossoms must be expanded again (after Van Rantwijk's tests of his algorithm). */
const nested: Readonly<Record<string, Edges>> = {
  'opened on the way out': [...around, [2, 8, 35], [3, 7, 35], [4, 6, 26], [8, 9, 5]],
  'opened on the way in': [...around, [2, 8, 35], [3, 7, 26], [4, 6, 40], [8, 9, 5]],
  'opened with little slack': [...around, [2, 8, 35], [3, 7, 28], [4, 6, 26], [8, 9, 5]],
  'opened with one inside': [
    [0, 1, 45],
    [0, 6, 45],
    [1, 2, 50],
    [2, 3, 45],
    [3, 4, 95],
    [3, 5, 94],
    [4, 5, 94],
    [5, 6, 50],
    [0, 7, 30],
    [2, 10, 35],
    [4, 8, 36],
    [6, 9, 26],
    [10, 11, 5],
  ],
  'reached anew and opened': [
    [0, 1, 40],
    [0, 2, 40],
    [1, 2, 60],
    [1, 3, 55],
    [2, 4, 55],
    [3, 4, 50],
    [0, 7, 15],
    [4, 6, 30],
    [6, 5, 10],
    [7, 9, 10],
    [3, 8, 30],
  ],
}

test.each(Object.entries(nested))('the blossom algorithm finds the cheapest pairs if a blossom is %s', (_, edges) => {
  const nesting = {
    vertices: Math.max(...edges.flatMap(([one, other]) => [one, other])) + 1,
    ends: Int32Array.from(edges.flatMap(([one, other]) => [one, other])),
    costs: Float64Array.from(edges, ([, , gain]) => 100 - gain),
  }
  expect(found(nesting)).toEqual(wantedOf(nesting))
})
