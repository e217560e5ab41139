import { seededRandom } from '@muster/core/clock'
import { expect, test } from 'vitest'
import { createRatingBook } from '../ratings/rating-book.js'
import { crowdOf } from './outcome.fixture.js'
import { scaleOf, skillsOf } from './seats.js'
import { teamsOutcome } from './measure-matches.js'

test.each([1, 3])('teams of %i win as often as predicted from their skills', (size) => {
  const crowd = crowdOf(Array.from({ length: 40 }, (_, at) => [{ truth: (at * 7) % 40 }]))
  const players = crowd.parties.flatMap((party) => party.players)
  const scale = scaleOf(skillsOf(crowd, 'skill'))
  const random = seededRandom(1)
  let [predicted, won] = [0, 0]
  for (let match = 0; match < 300; match += 1) {
    const some = players.map((player) => ({ player, at: random() })).toSorted((a, b) => a.at - b.at)
    const sides = [some.slice(0, size), some.slice(size, 2 * size)].map((side) => side.map(({ player }) => player))
    const skills = new Map(sides.map((side, at) => [`${at}`, side.map(({ truth = 0 }) => truth)]))
    const teams = sides.map((side, at) => ({ name: `${at}`, tickets: [{ players: side, waitMs: 0 }] }))
    const { chances, favourite } = teamsOutcome(skills, scale) ?? { favourite: 0 }
    const strongest = chances?.get('0') === favourite ? '0' : '1'
    predicted += favourite
    won += Number(createRatingBook(crowd, { seed: match }).played(teams)?.[0] === strongest)
  }
  expect(predicted / 300).toBeGreaterThan(0.6)
  expect(predicted / 300).toBeLessThan(0.9)
  // Three standard errors of 300 matches
  expect(Math.abs(won - predicted) / 300).toBeLessThan(3 * Math.sqrt(0.25 / 300))
})
