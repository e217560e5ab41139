import { expect, test } from 'vitest'
import type { Spread } from '../statistics/spread.js'
import { type Experience, type RatingFigures, ratingSentences } from './rating-book.js'

const NONE = { p10: 0, p50: 0, p90: 0, p95: 0, p99: 0, max: 0 }
const spread = (count: number, mean: number): Spread => ({ ...NONE, count, mean })
const experience = (name: string, count: number, waitMs: number, favourite: number): Experience => ({
  name,
  players: count,
  waitMs: spread(count, waitMs),
  favourite: spread(count, favourite),
})
const figures: RatingFigures = {
  matches: 30,
  calibration: [
    { from: 0.5, matches: 10, predicted: 0.52, won: 0.5 },
    { from: 0.7, matches: 20, predicted: 0.73, won: 0.65 },
  ],
  convergence: [
    { matches: 1, players: 15, correlation: 0.3, error: 7 },
    { matches: 2, players: 15, correlation: 0.4, error: 7 },
    { matches: 5, players: 5, correlation: 0.8, error: 6 },
  ],
  experience: [experience('first 5', 20, 10_000, 0.8), experience('rated before', 100, 6000, 0.6)],
}
const other: RatingFigures = {
  ...figures,
  experience: [experience('first 5', 60, 20_000, 0.7), experience('rated before', 1, 6000, 0.6)],
}

test('sentences about ratings average all runs of a variant, each weighted by its number of players', () => {
  const runs = [{ ratings: figures }, { ratings: other }]
  expect(ratingSentences({ variants: [{ name: 'a.yaml', runs }] })).toEqual([
    "a.yaml: 60 matches were rated; rank correlation of new players' mu with their skill 0.30 after 1 matches; " +
      'favourites, predicted to win 66.0 %, won 60.0 %; in the first 5 matches a mean wait of 17.5 s and a true ' +
      'favourite of 72.5 %, of players rated before a mean wait of 6.0 s and a true favourite of 60.0 %.',
  ])
})

test('no sentence about ratings is written without data', () => {
  const none: RatingFigures = { matches: 1, calibration: [], convergence: [], experience: [] }
  const variants = [
    { name: 'a', runs: [{}] },
    { name: 'b', runs: [{ ratings: none }] },
  ]
  expect(ratingSentences({ variants })).toEqual(['b: 1 match was rated.'])
})
