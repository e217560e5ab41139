import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Slice, WAIT_POINTS_MS } from './figures.js'
import { figuresOf } from './figures-of.js'
import { crowdOf, outcomeOf, queueOf, type Fate } from './outcome.fixture.js'

const player = fc.record(
  {
    truth: fc.integer({ min: 0, max: 40 }),
    region: fc.constantFrom('Europe', 'Asia', '__proto__', 'constructor'),
    coordinates: fc.record({
      latitude: fc.integer({ min: -80, max: 80 }),
      longitude: fc.integer({ min: 0, max: 170 }),
    }),
    latencies: fc.dictionary(fc.constantFrom('a', 'b', 'c'), fc.integer({ min: 1, max: 300 })),
  },
  { requiredKeys: [] },
)
const matched = fc.record({
  match: fc.nat(9),
  team: fc.constantFrom('red', 'blue', 'green'),
  waitMs: fc.nat(90_000),
})
const unmatched = fc.constantFrom('gaveUp', 'expired', 'refused', 'absent', 'waiting').map((end) => ({ end }))
const fate: fc.Arbitrary<Fate> = fc.oneof({ weight: 3, arbitrary: matched }, unmatched as fc.Arbitrary<Fate>)
const run = fc
  .array(fc.tuple(fc.array(player, { minLength: 1, maxLength: 4 }), fate), { maxLength: 30 })
  .map((parties) => ({ crowd: crowdOf(parties.map(([players]) => players)), fates: parties.map(([, one]) => one) }))
const queue = queueOf({
  matchSize: 5,
  rules: [
    {
      kind: 'distance',
      missing: 'any',
      maxKm: [100, 500, Infinity].map((value, at) => ({ afterMs: at * 20_000, value })),
    },
    { kind: 'balance', attribute: 'skill', missing: 'any', by: 'oldest', max: { from: 1, to: 9, overMs: 30_000 } },
  ],
})

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)
const slicesOf = (by: Readonly<Record<string, Slice>>) => Object.values(by)

const isAscending = (values: readonly number[]) =>
  values.every((value, at) => at === 0 || value >= (values[at - 1] ?? 0))

/** Returns the faults of a slice. A separate expectation for each number would take seconds. */
function faultsOf({ players, matched: share, ends, waitCurve, ...rest }: Slice): string[] {
  const { waitMs, distanceKm, latencyMs, skillSpread, winChance } = rest
  const spreads = Object.entries({ waitMs, distanceKm, latencyMs, skillSpread, winChance })
  return [
    ...(players > 0 && Math.abs(sum(Object.values(ends)) - 1) > 1e-5 ? ['ends'] : []),
    ...(waitCurve.length === WAIT_POINTS_MS.length && isAscending([0, ...waitCurve, share]) ? [] : ['curve']),
    ...(waitCurve.at(-1) === share ? [] : ['end of the curve']),
    ...spreads.flatMap(([name, { p10, p50, p90, p95, p99, max, mean }]) =>
      isAscending([p10, p50, p90, p95, p99, max]) && mean <= max ? [] : [name],
    ),
  ]
}

test('shares of outcomes sum to 1, percentiles ascend, and curves rise to the matched share (property)', () => {
  fc.assert(
    fc.property(run, ({ crowd, fates }) => {
      const { all, by } = figuresOf(crowd, outcomeOf(fates), { queues: [queue] })
      expect([all, ...Object.values(by).flatMap(slicesOf)].flatMap(faultsOf)).toEqual([])
    }),
  )
})

test('the slices of a dimension contain each player exactly once (property)', () => {
  fc.assert(
    fc.property(run, ({ crowd, fates }) => {
      const { all, by } = figuresOf(crowd, outcomeOf(fates), { queues: [queue] })
      for (const dimension of [by.queue, by.region, by.partySize]) {
        expect(sum(slicesOf(dimension).map(({ players }) => players))).toBe(all.players)
        const matchedPlayers = sum(slicesOf(dimension).map((slice) => slice.matched * slice.players))
        expect(matchedPlayers).toBeCloseTo(all.matched * all.players, 2)
        expect(sum(slicesOf(dimension).map(({ distanceKm }) => distanceKm.count))).toBe(all.distanceKm.count)
      }
      const known = crowd.parties.flatMap(({ players }) => players.filter(({ truth }) => truth !== undefined))
      expect(sum(slicesOf(by.skillBand).map(({ players }) => players))).toBe(known.length)
    }),
  )
})

test('shares of groups, relaxation steps and favourites in the run statistics each sum to 1 (property)', () => {
  fc.assert(
    fc.property(run, ({ crowd, fates }) => {
      const { fairness, queues, matches } = figuresOf(crowd, outcomeOf(fates), { queues: [queue] })
      for (const { uneven, groups } of Object.values(fairness.by)) {
        const shares = Object.values(groups)
        expect(uneven).toBeGreaterThanOrEqual(0)
        expect(uneven).toBeLessThanOrEqual(1)
        if (shares.length === 0) continue
        expect(sum(shares.map(({ ofAll }) => ofAll))).toBeCloseTo(1, 4)
      }
      const told = queues['queue']
      expect(told?.expansion.map(({ rule, steps }) => [rule, steps.length])).toEqual([
        ['distance', 3],
        ['balance skill', 17],
      ])
      for (const { steps } of told?.expansion ?? [])
        expect(sum(steps.map(({ share }) => share))).toBeCloseTo(matches.count === 0 ? 0 : 1, 4)
      const { favourite, favouriteShares } = matches
      expect(sum(favouriteShares)).toBeCloseTo(favourite.count === 0 ? 0 : 1, 4)
      expect(favourite.count === 0 || favourite.p10 >= 0.5).toBe(true)
      expect(favourite.max).toBeLessThanOrEqual(1)
    }),
  )
})

test('the order of the tickets within a match does not change the run statistics (property)', () => {
  fc.assert(
    fc.property(run, ({ crowd, fates }) => {
      const outcome = outcomeOf(fates)
      const matches = outcome.matches.map((match) => ({ ...match, tickets: match.tickets.toReversed() }))
      const told = figuresOf(crowd, { ...outcome, matches }, { queues: [queue] })
      expect(told).toEqual(figuresOf(crowd, outcome, { queues: [queue] }))
    }),
  )
})
