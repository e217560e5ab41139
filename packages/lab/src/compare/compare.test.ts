import { seededRandom } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { compare } from './compare.js'
import { resultOf, type Had } from './lab-result.fixture.js'

const seeds = [0, 1, 2, 3, 4]
const sentencesOf = (a: readonly Had[], b: readonly Had[]) =>
  compare(resultOf({ 'a.yaml': a, 'b.yaml': b }))[0]?.sentences

describe('a comparison of two queues', () => {
  test('the comparison of two queues says which measures are better, and by how much', () => {
    const a = seeds.map((seed) => ({ matched: 0.9, p50: 12_000, p90: 35_000 + seed * 100, hours: 0.9 }))
    const b = seeds.map((seed) => ({ matched: 0.95, p50: 9000, p90: 21_000 + seed * 100, hours: 0.95 }))
    expect(sentencesOf(a, b)).toEqual([
      'Compared with a.yaml, b.yaml matches more players (95.0 % instead of 90.0 %) and makes players wait less ' +
        '(half of the matched within 9 s instead of 12 s; 90 % within 21 s instead of 35 s).',
      'There is no difference that would be felt in the quality of matches, fairness and cost.',
    ])
  })

  test('the comparison of two queues says what the improvement costs', () => {
    const a = seeds.map(() => ({ p90: 30_000, spread: 200, favourite: 0.6 }))
    const b = seeds.map((seed) => ({ p90: 20_000, spread: 310 + seed, favourite: 0.66 }))
    expect(sentencesOf(a, b)?.slice(0, 2)).toEqual([
      'Compared with a.yaml, b.yaml makes players wait less (90 % within 20 s instead of 30 s).',
      'But it makes worse matches (skill spread in a match 312 instead of 200; the stronger team wins 66.0 % instead ' +
        'of 60.0 %).',
    ])
  })

  test('the comparison of two queues says what is better and worse within one topic', () => {
    const a = seeds.map(() => ({ p50: 10_000, p90: 20_000 }))
    const b = seeds.map(() => ({ p50: 5000, p90: 40_000 }))
    expect(sentencesOf(a, b)?.slice(0, 2)).toEqual([
      'Compared with a.yaml, b.yaml improves how long players wait in part (half of the matched within 5 s instead ' +
        'of 10 s).',
      'But it harms how long players wait in part (90 % within 40 s instead of 20 s).',
    ])
  })

  test('the comparison of two queues says that they are alike, or that the data cannot tell', () => {
    const same = seeds.map((seed) => ({ p90: 20_000 + 5000 * seed }))
    expect(sentencesOf(same, same)).toEqual(['b.yaml and a.yaml are alike: no difference would be felt.'])
    const other = [20_000, 30_000, 25_000, 40_000, 30_000].map((p90) => ({ p90 }))
    expect(sentencesOf(same, other)?.at(-1)).toBe('The data cannot tell which makes players wait less.')
    const all = (random: () => number) =>
      seeds.map(() => ({
        matched: random(),
        p50: random() * 1e5,
        spread: random(),
        unevenRegion: random(),
        hours: random(),
      }))
    expect(sentencesOf(all(seededRandom(1)), all(seededRandom(2)))).toEqual([
      'The data cannot tell b.yaml from a.yaml: they differ by no more than chance.',
    ])
  })

  test('the comparison of two queues says how many more matches find a warm server', () => {
    const [a, b] = [0.8, 0.95].map((warm) => seeds.map((seed) => ({ warm: warm + seed / 1000 })))
    expect(sentencesOf(a ?? [], b ?? [])?.[0]).toBe(
      'Compared with a.yaml, b.yaml makes players wait less (95.2 % instead of 80.2 % of matches find a warm server).',
    )
  })

  test('the comparison of two queues with one seed says that one seed cannot show what is chance', () => {
    const [comparison] = compare(resultOf({ a: [{ p90: 1 }], b: [{ p90: 60_000 }] }))
    expect(comparison?.sentences).toEqual([
      'With one seed, the data cannot tell whether b and a differ by more than chance.',
    ])
    expect(comparison?.measures.every(({ interval, verdict }) => interval === undefined && verdict === 'unclear')).toBe(
      true,
    )
  })
})

test('queues that differ only by chance are rarely reported as different', () => {
  const random = seededRandom(7)
  const runs = (count: number) =>
    Array.from({ length: count }, (): Had => {
      const [matched, spread, favourite, unevenRegion] = [random(), random() * 100, random(), random()]
      return { matched, p50: random() * 1e4, p90: random() * 1e5, spread, favourite, unevenRegion, hours: random() }
    })
  let told = 0
  for (const count of [2, 5]) {
    for (let trial = 0; trial < 20; trial += 1) {
      const [comparison] = compare(resultOf({ a: runs(count), b: runs(count) }))
      if (comparison?.measures.some(({ verdict }) => verdict === 'better' || verdict === 'worse') === true) told += 1
    }
  }
  // With a confidence of 95 %, one in twenty comparisons is wrong.
  expect(told).toBeLessThanOrEqual(5)
})

const had = fc.record({ matched: fc.float({ min: 0, max: 1, noNaN: true }), p90: fc.nat(100_000), spread: fc.nat(500) })
const pairs = fc.array(fc.tuple(had, had), { minLength: 2, maxLength: 6 })

test('swapping two compared queues turns better into worse and changes the signs', () => {
  const opposite = { better: 'worse', worse: 'better', alike: 'alike', unclear: 'unclear' } as const
  fc.assert(
    fc.property(pairs, (given) => {
      const [a, b] = [given.map(([one]) => one), given.map(([, other]) => other)]
      const [there, back] = [resultOf({ a, b }), resultOf({ b, a })].map((result) => compare(result)[0]?.measures ?? [])
      const flipped = back?.map(({ mean, verdict, ...rest }) => ({
        ...rest,
        first: rest.other,
        other: rest.first,
        mean: 0 - mean,
        interval: rest.interval && { low: 0 - rest.interval.high, high: 0 - rest.interval.low },
        verdict: opposite[verdict],
      }))
      expect(there?.map((one) => ({ ...one, mean: one.mean + 0 }))).toEqual(flipped)
    }),
    { numRuns: 20 },
  )
})
