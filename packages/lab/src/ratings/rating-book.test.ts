import { InvalidInput } from '@muster/core'
import { seededRandom } from '@muster/core/clock'
import { rate, rating } from 'openskill'
import { describe, expect, test } from 'vitest'
import { CROWD_FORMAT, type Crowd, type CrowdPlayer } from '../crowd/crowd.js'
import { createRatingBook, type PlayedTeam } from './rating-book.js'

const player = (id: string, truth?: number): CrowdPlayer => ({ id, ...(truth !== undefined && { truth }) })
const crowdOf = (players: readonly CrowdPlayer[]): Crowd => ({
  header: { format: CROWD_FORMAT, startsAt: 0, durationMs: 1000 },
  parties: players.map((one) => ({ id: one.id, at: 0, players: [one], visits: [{ patienceMs: 1000, playMs: 1000 }] })),
})
const team = (name: string, ...players: readonly CrowdPlayer[]): PlayedTeam => ({
  name,
  tickets: [{ players, waitMs: 1000 }],
})

/** Returns an approximate quantile of the normal distribution, by the inverse of the closest logistic function. */
const normalAt = (share: number) => Math.log(share / (1 - share)) / 1.702

const [strong, weak] = [player('strong', 2000), player('weak', 1000)]
const crowd = crowdOf([strong, weak])

describe('a rating book', () => {
  test('a rating book starts new players at the default rating', () => {
    const { mu, sigma } = rating()
    const book = createRatingBook(crowd, { newcomers: 1, deviations: 2 })
    expect(book.queued([strong, weak])).toEqual([1, 2].map(() => ({ mu, sigma, rating: mu - 2 * sigma })))
  })

  test('a rating book gives known players a rating as accurate as its uncertainty says', () => {
    const players = Array.from({ length: 400 }, (_, at) => player(`p${at}`, at))
    const settled = createRatingBook(crowdOf(players), { newcomers: 0, settledSigma: 2 }).queued(players)
    // True skills from 0 to 399 have a mean of 199.5 and a standard deviation of 115.47.
    const errors = settled.map(({ mu }, at) => mu - (25 + ((at - 199.5) / 115.47) * (25 / 3)))
    const mean = errors.reduce((sum, error) => sum + error, 0) / 400
    expect(Math.abs(mean)).toBeLessThan(0.3)
    const deviation = Math.sqrt(errors.reduce((sum, error) => sum + error ** 2, 0) / 400)
    expect(deviation).toBeGreaterThan(1.8)
    expect(deviation).toBeLessThan(2.2)
    expect(settled.every(({ sigma }) => sigma === 2)).toBe(true)
  })

  test('a rating book makes the given share of players new', () => {
    const players = Array.from({ length: 1000 }, (_, at) => player(`p${at}`, at))
    const known = createRatingBook(crowdOf(players), { newcomers: 0.3 }).queued(players)
    const fresh = known.filter(({ sigma }) => sigma === 25 / 3).length
    expect(fresh).toBeGreaterThan(250)
    expect(fresh).toBeLessThan(350)
  })

  test('a rating book makes new players weaker by the given amount', () => {
    const players = Array.from({ length: 4000 }, (_, at) => player(`p${at}`, normalAt((at + 0.5) / 4000)))
    const known = createRatingBook(crowdOf(players), { newcomers: 0.4, newcomersBelow: 0.6 }).queued(players)
    const fresh = players.filter((_, at) => known[at]?.sigma === 25 / 3)
    expect(fresh.length / 4000).toBeCloseTo(0.4, 1)
    expect(fresh.reduce((sum, { truth = 0 }) => sum + truth, 0) / fresh.length).toBeCloseTo(-0.6, 1)
  })

  test('a rating book rates a match like openskill, with the winner first', () => {
    const book = createRatingBook(crowd, { newcomers: 1 })
    const ranking = book.played([team('red', weak), team('blue', strong)])
    expect(ranking?.toSorted()).toEqual(['blue', 'red'])
    const [[won], [lost]] = rate([[rating()], [rating()]])
    const [winner, loser] = ranking?.[0] === 'red' ? [weak, strong] : [strong, weak]
    expect(book.queued([winner, loser])).toMatchObject([won, lost])
  })

  test('a rating book rates a match with the given beta', () => {
    const beta = (25 / 6) * Math.sqrt(5)
    const book = createRatingBook(crowd, { newcomers: 1, beta })
    const ranking = book.played([team('red', weak), team('blue', strong)])
    const [[won]] = rate([[rating()], [rating()]], { beta })
    expect(won.mu).not.toBe(rate([[rating()], [rating()]])[0][0].mu)
    expect(book.queued([ranking?.[0] === 'red' ? weak : strong])).toMatchObject([won])
  })

  test('a rating book lets the stronger team win as often as skill and luck predict', () => {
    // Both are one standard deviation from the mean, i.e. 50/3 apart. Luck has a deviation of 25/6 for each. So the
    // stronger one wins with the probability Φ(50/3 ÷ (√2 · 25/6)) = Φ(2.83) = 0.998.
    const wins = (truths: readonly number[]) => {
      const [one, other, ...rest] = truths.map((truth, at) => player(`p${at}`, truth)) as [CrowdPlayer, CrowdPlayer]
      let won = 0
      for (let seed = 1; seed <= 500; seed += 1) {
        const book = createRatingBook(crowdOf([one, other, ...rest]), { seed })
        if (book.played([team('other', other), team('one', one)])?.[0] === 'one') won += 1
      }
      return won / 500
    }
    expect(wins([1, -1])).toBeGreaterThan(0.99)
    expect(wins([0, 0, 1, -1])).toBeCloseTo(0.5, 1)
    // A quarter of a deviation apart: 25/12 ÷ (√2 · 25/6) = 0.354, and Φ(0.354) is 0.638.
    expect(wins([0.125, -0.125, Math.sqrt(2 - 0.125 ** 2), -Math.sqrt(2 - 0.125 ** 2)])).toBeCloseTo(0.638, 1)
  })

  test('a rating book does not treat a larger team as the stronger team', () => {
    const [low, high] = [player('low', 0), player('high', 2)]
    let won = 0
    for (let seed = 1; seed <= 300; seed += 1) {
      const book = createRatingBook(crowdOf([low, high, player('a', 1), player('b', 1)]), { seed })
      const ranking = book.played([team('one', player('a', 1)), team('two', low, high)])
      if (ranking?.[0] === 'two') won += 1
    }
    expect(won / 300).toBeCloseTo(0.5, 1)
  })

  test('a rating book is deterministic by its seed, and ignores a match of one team', () => {
    const play = (seed: number) => {
      const book = createRatingBook(crowd, { seed, newcomers: 0.5 })
      const rankings = Array.from({ length: 20 }, () => book.played([team('a', weak), team('b', strong)]))
      return [rankings, book.queued([weak, strong])]
    }
    expect(play(1)).toEqual(play(1))
    expect(play(1)).not.toEqual(play(2))
    const book = createRatingBook(crowd)
    const before = book.queued([weak, strong])
    expect(book.played([team('everyone', weak, strong), team('nobody')])).toBeUndefined()
    expect(book.queued([weak, strong])).toEqual(before)
  })
})

describe('the reported quality of ratings', () => {
  /** Plays a thousand rounds of duels between randomly chosen players. */
  function played(newcomers: number, players: number) {
    const all = Array.from({ length: players }, (_, at) => player(`p${at}`, at))
    const book = createRatingBook(crowdOf(all), { newcomers })
    const random = seededRandom(5)
    for (let round = 0; round < 1000; round += 1) {
      const [one, other] = [random(), random()].map((drawn) => all[Math.floor(drawn * players)] as CrowdPlayer)
      if (one === undefined || other === undefined || one === other) continue
      for (const each of [one, other]) book.queued([each])
      book.played([team('one', one), team('other', other)])
    }
    return book.figures()
  }

  test('the reported quality of ratings improves match by match, as ratings distinguish players', () => {
    const { convergence, experience, matches } = played(1, 40)
    expect(matches).toBeGreaterThan(900)
    const correlations = Object.fromEntries(convergence.map((one) => [one.matches, one.correlation]))
    expect(correlations[1]).toBeGreaterThan(0.2)
    expect(correlations[10]).toBeGreaterThan((correlations[1] ?? 1) + 0.2)
    expect(correlations[30]).toBeGreaterThan(0.9)
    expect(experience.map(({ name }) => name)).toEqual(['first 5', '5–9', '10–29', 'from 30'])
    expect(experience.reduce((sum, { players }) => sum + players, 0)).toBe(matches * 2)
    expect(experience.every((one) => one.waitMs.p50 === 1000)).toBe(true)
  })

  test('the report of ratings shows that favourites win about as often as predicted, if ratings are right', () => {
    const { calibration, convergence, experience } = played(0, 40)
    expect(convergence).toEqual([])
    expect(experience.map(({ name }) => name)).toEqual(['rated before'])
    const all = calibration.reduce((sum, { matches }) => sum + matches, 0)
    const meanOf = (key: 'predicted' | 'won') => calibration.reduce((sum, one) => sum + one[key] * one.matches, 0) / all
    expect(Math.abs(meanOf('won') - meanOf('predicted'))).toBeLessThan(0.05)
    expect(experience[0]?.favourite.mean).toBeCloseTo(meanOf('won'), 1)
  })
})

test.each([
  ['ratings: player "p2" has no truth, the skill that decides who wins', crowdOf([player('p1', 5), player('p2')]), {}],
  [
    'ratings: truth is the same for all players, so ratings cannot be compared',
    crowdOf([player('p1', 5), player('p2', 5)]),
    {},
  ],
  ['ratings: newcomers: must be at most 1, got 1.5', crowd, { newcomers: 1.5 }, 'newcomers'],
  [
    'ratings: newcomersBelow: must be 0 where more than half of the players are new, got 0.1',
    crowd,
    { newcomers: 0.6, newcomersBelow: 0.1 },
    'newcomersBelow',
  ],
  ['ratings: settledSigma: must be more than 0, got 0', crowd, { settledSigma: 0 }, 'settledSigma'],
  ['ratings: deviation: is not known; did you mean deviations?', crowd, { deviation: 2 } as object, 'deviation'],
])('a rating book refuses invalid options with the error “%s”', (message, crowd, options, field?: string) => {
  expect(() => createRatingBook(crowd, options)).toThrow(new InvalidInput(message, { field }))
})
