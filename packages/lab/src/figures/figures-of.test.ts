import { expect, test } from 'vitest'
import { figuresOf } from './figures-of.js'
import { crowdOf, outcomeOf, queueOf } from './outcome.fixture.js'
import { WAIT_POINTS_MS } from './figures.js'

const duel = queueOf({ matchSize: undefined, teams: [{ name: 'side', count: 2, size: 1 }] })
const onEquator = (longitude: number) => ({ coordinates: { latitude: 0, longitude } })
const KM_OF_A_DEGREE = (6371 * Math.PI) / 180

test('the run statistics of two duels, a cancel and a leaver equal those computed by hand', () => {
  const crowd = crowdOf([
    [{ truth: 1000, region: 'Europe', ...onEquator(0), latencies: { fra: 20, lon: 30 } }],
    [{ truth: 1200, region: 'Europe', ...onEquator(2), latencies: { fra: 60, lon: 50, nyc: 5 } }],
    [{ truth: 1400, region: 'Asia', ...onEquator(10) }],
    [{ truth: 1400, region: 'Asia', ...onEquator(10) }],
    [{ truth: 1600, region: 'Asia' }],
    [{ truth: 1800, region: 'Asia' }],
  ])
  const outcome = outcomeOf([
    { match: 0, team: 'side-1', waitMs: 3000 },
    { match: 0, team: 'side-2', waitMs: 1000 },
    { match: 1, team: 'side-1', waitMs: 7000 },
    { match: 1, team: 'side-2', waitMs: 7000 },
    { end: 'gaveUp' },
    { end: 'absent' },
  ])
  const figures = figuresOf(crowd, outcome, { queues: [duel], price: { perMinute: 0.01, currency: 'EUR' } })
  const { all, by, matches, servers, requests } = figures
  expect([all.players, all.matched, all.gaveUp]).toEqual([6, 0.666667, 0.166667])
  expect(all.ends).toEqual({ absent: 0.166667, assigned: 0.666667, gaveUp: 0.166667 })
  expect(all.waitMs).toEqual({ count: 4, mean: 4500, p10: 1000, p50: 3000, p90: 7000, p95: 7000, p99: 7000, max: 7000 })
  const within = (ms: number) => all.waitCurve[WAIT_POINTS_MS.indexOf(ms)]
  expect([0, 1000, 2000, 3000, 7000, 3_600_000].map(within)).toEqual([
    0, 0.166667, 0.166667, 0.333333, 0.666667, 0.666667,
  ])
  // Both players are one degree from the middle of the first match. The players of the second match are at its middle.
  expect(all.distanceKm.max).toBeCloseTo(KM_OF_A_DEGREE, 1)
  expect(all.distanceKm.mean).toBeCloseTo(KM_OF_A_DEGREE / 2, 1)
  // Not all players have measured nyc. The lowest worst latency is that of lon.
  expect([all.latencyMs.count, all.latencyMs.p10, all.latencyMs.max]).toEqual([2, 30, 50])
  expect([all.skillSpread.mean, all.teamGap.max]).toEqual([100, 200])
  expect([matches.count, matches.teamGap.mean, matches.favourite.p10]).toEqual([2, 100, 0.5])
  expect(matches.favourite.max).toBeGreaterThan(0.7)
  expect(all.winChance.mean).toBe(0.5)
  expect([by.region['Asia']?.players, by.region['Europe']?.matched, by.region['Asia']?.matched]).toEqual([4, 1, 0.5])
  expect(Object.keys(by.partySize)).toEqual(['1'])
  expect(by.queue['queue']).toEqual(all)
  const parts = { playingHours: 1.483, idleHours: 0, bootHours: 0.017 }
  expect(servers).toEqual({ created: 2, most: 2, hours: 1.5, ...parts, cost: 0.9, currency: 'EUR' })
  expect(requests['createDeployment']).toEqual({ total: 2, busiest: 2, limit: 40, windowMs: 1000 })
})

test('a player who is one standard deviation of skill stronger wins with a probability of 92 %', () => {
  const crowd = crowdOf([[{ truth: 0 }], [{ truth: 2 }]])
  const outcome = outcomeOf([
    { match: 0, team: 'side-1', waitMs: 0 },
    { match: 0, team: 'side-2', waitMs: 0 },
  ])
  const skillScale = { mean: 0, deviation: 2 }
  const { matches, all } = figuresOf(crowd, outcome, { queues: [duel], skillScale })
  expect(matches.favourite.max).toBeCloseTo(0.921, 3)
  expect([all.winChance.p10, all.winChance.max]).toEqual([0.0786, 0.9214])
  expect(matches.favouriteShares).toEqual([0, 0, 0, 0, 0, 0, 0, 0, 1, 0])
})

test('teams of average players are even at any size, and a far stronger team wins with certainty', () => {
  const skillScale = { mean: 1000, deviation: 100 }
  const hunt = crowdOf([[{ truth: 1000 }], [{ truth: 1000 }, { truth: 1000 }, { truth: 1000 }]])
  const queue = queueOf({ matchSize: 4 })
  const sides = outcomeOf(['monster', 'hunters'].map((team) => ({ match: 0, team, waitMs: 0 })))
  expect(figuresOf(hunt, sides, { queues: [queue], skillScale }).matches.favourite.max).toBe(0.5)
  const three = crowdOf([[{ truth: 1000 }], [{ truth: 1000 }], [{ truth: 5000 }]])
  const fates = outcomeOf(['a', 'b', 'c'].map((team) => ({ match: 0, team, waitMs: 0 })))
  expect(figuresOf(three, fates, { queues: [queue], skillScale }).matches.favourite.max).toBe(1)
})

test('a match without teams or skill has no win probability', () => {
  const fates = outcomeOf(['one', 'one', 'one', 'two'].map((team, at) => ({ match: at >> 1, team, waitMs: 0 })))
  const crowd = crowdOf([[{ truth: 1 }], [{ truth: 2 }], [{ truth: 3 }], [{}]])
  const { matches, all } = figuresOf(crowd, fates, { queues: [queueOf()] })
  expect([matches.count, matches.favourite.count, all.winChance.count, all.skillSpread.count]).toEqual([2, 0, 0, 3])
})

test('the run statistics read skill from an attribute if the true skill is unknown', () => {
  const crowd = crowdOf([[{ attributes: { rank: 10 } }], [{ attributes: { rank: 40 } }]])
  const fates = outcomeOf(['one', 'two'].map((team) => ({ match: 0, team, waitMs: 0 })))
  expect(figuresOf(crowd, fates, { queues: [queueOf()], skillAttribute: 'rank' }).matches.teamGap.max).toBe(30)
})

test('the run statistics of a queue cover all its tickets, and only its own matches', () => {
  const crowd = crowdOf([[{}], [{}], [{}], [{}], [{}]])
  const parties = crowd.parties.map((party, at) => ({
    ...party,
    queues: at < 2 ? ['a', 'b'] : at === 4 ? ['a'] : ['b'],
  }))
  const fates = [0, 0, 1, 1].map((match) => ({ match, waitMs: 0 }))
  const outcome = outcomeOf([...fates, { end: 'gaveUp' }], (match) => (match === 0 ? 'a' : 'b'))
  const queues = [queueOf({ name: 'a' }), queueOf({ name: 'b' })]
  const { by, queues: told } = figuresOf({ ...crowd, parties }, outcome, { queues })
  expect(by.queue['a']).toMatchObject({ players: 3, ends: { assigned: 0.666667, gaveUp: 0.333333 } })
  expect(by.queue['b']).toMatchObject({ players: 4, matched: 0.5, ends: { assigned: 0.5, otherQueue: 0.5 } })
  expect([told['a']?.matches.count, told['b']?.matches.count]).toEqual([1, 1])
})

test('the run statistics of an empty crowd are 0', () => {
  const { all, fairness, skillBands } = figuresOf(crowdOf([]), outcomeOf([]), { queues: [queueOf()] })
  expect([all.players, all.matched, all.waitMs.max, fairness.fromMs, skillBands]).toEqual([0, 0, 0, 0, []])
})

test('the run statistics list only the largest of very many regions', () => {
  const crowd = crowdOf(Array.from({ length: 200 }, (_, at) => [{ region: at < 100 ? 'large' : `region ${at}` }]))
  const outcome = outcomeOf(crowd.parties.map(() => ({ end: 'gaveUp' as const })))
  const { by } = figuresOf(crowd, outcome, { queues: [queueOf()] })
  expect(Object.keys(by.region)).toHaveLength(24)
  expect([by.region['large']?.players, by.region['other']?.players]).toEqual([100, 78])
})
