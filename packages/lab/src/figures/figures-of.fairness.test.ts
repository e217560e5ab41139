import { expect, test } from 'vitest'
import { figuresOf } from './figures-of.js'
import { crowdOf, outcomeOf, queueOf, type Fate } from './outcome.fixture.js'

/** A hundred players, the first twenty of them in Oceania. */
const crowd = crowdOf(Array.from({ length: 100 }, (_, at) => [{ region: at < 20 ? 'Oceania' : 'Europe', truth: at }]))
const fairnessOf = (fates: readonly Fate[]) => figuresOf(crowd, outcomeOf(fates), { queues: [queueOf()] }).fairness
const served = (waitMs: (at: number) => number) =>
  crowd.parties.map((_, at): Fate => ({ match: at >> 1, waitMs: waitMs(at) }))

test('the fairness statistics show that the slowest players are all of one region', () => {
  const { fromMs, share, by } = fairnessOf(served((at) => (at < 5 ? 50_000 + at : 1000)))
  expect([share, fromMs]).toEqual([0.05, 50_000])
  expect(by.region.groups).toEqual({ Europe: { ofAll: 0.8, ofWorst: 0 }, Oceania: { ofAll: 0.2, ofWorst: 1 } })
  // For an even share, four of the five would have to be from Europe.
  expect([by.region.uneven, by.partySize.uneven]).toEqual([0.8, 0])
  expect(by.skillBand.groups['lowest 10 %']).toEqual({ ofAll: 0.1, ofWorst: 1 })
})

test('the fairness statistics show no uneven group if all players waited equally long', () => {
  const { fromMs, by } = fairnessOf(served(() => 1000))
  expect([fromMs, by.region.uneven, by.skillBand.uneven]).toEqual([1000, 0, 0])
})

test('the fairness statistics rank a player without a match below the longest wait', () => {
  const fates = served((at) => at * 1000).map((fate, at): Fate => (at < 3 ? { end: 'gaveUp' } : fate))
  const { fromMs, by } = fairnessOf(fates)
  expect([fromMs, by.region.groups['Oceania']?.ofWorst]).toEqual([98_000, 0.6])
  // 51 players found no match, 11 of them in Oceania. Its share is too high by 11/51 − 0.2.
  const most = fates.map((fate, at): Fate => (at % 2 === 0 ? { end: 'expired' } : fate))
  expect(fairnessOf(most)).toMatchObject({ fromMs: null, by: { region: { uneven: 0.015686 } } })
})

test('the fairness statistics leave out players who declined, left or are still queued', () => {
  const fates = served(() => 1000).map((fate, at): Fate =>
    at < 10 ? { end: 'declined' } : at < 20 ? { end: 'waiting' } : fate,
  )
  const { by, fromMs } = fairnessOf(fates)
  expect([fromMs, Object.keys(by.region.groups)]).toEqual([1000, ['Europe']])
})
