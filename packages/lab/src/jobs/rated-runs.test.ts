import type { QueueDefinition } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { generateCrowd } from '../crowd/generate/generate-crowd.js'
import { createRatingBook } from '../ratings/rating-book.js'
import { runCrowd } from '../run/run-crowd.js'
import { queuesOf } from './run-jobs.js'
import { runJob } from './job-worker.js'

/** Generates players who play many matches. */
const crowd = generateCrowd(
  { players: 16, hours: 0.1, play: { medianMs: 10_000 }, visits: { again: 0.99, breakMs: 1000 } },
  1,
)
const ranked: QueueDefinition = {
  name: 'ranked',
  teams: [{ name: 'team', count: 2, size: 2 }],
  rules: [
    {
      kind: 'balance',
      measure: 'predictedWin',
      mean: 'mu',
      uncertainty: 'sigma',
      max: { from: 0.6, to: 1, overMs: 30_000 },
    },
  ],
  deploy: { application: 'game', version: '1' },
}

test('ratings that result from matches decide the next matches', async () => {
  const job = { crowd, seed: 3, queues: [ranked], ratings: { newcomers: 1 } }
  const { figures, ratings } = await runJob(crowd, { ...job, queues: queuesOf(job) }, () => {})
  expect(ratings?.matches).toBe(figures.matches.count)
  expect(ratings?.matches).toBeGreaterThan(20)
  expect(ratings?.experience.map(({ name }) => name)).toContain('10–29')
  expect(ratings?.experience.reduce((sum, { players }) => sum + players, 0)).toBe((ratings?.matches ?? 0) * 4)

  const book = createRatingBook(crowd, { seed: 3, newcomers: 1 })
  const outcome = await runCrowd(crowd, [ranked], { seed: 3, ratings: book })
  expect(book.figures()).toEqual(ratings)
  expect(outcome.matches.every(({ ranking }) => ranking?.length === 2)).toBe(true)
  const names = outcome.matches.map(({ ranking }) => ranking?.join())
  expect(new Set(names)).toEqual(new Set(['team-1,team-2', 'team-2,team-1']))
})

test('a run without ratings has no winners, and a rule that needs ratings matches no player', async () => {
  const { tickets, matches } = await runCrowd(crowd, [ranked], { seed: 3 })
  expect(matches).toEqual([])
  expect(tickets[0]).toMatchObject({ end: 'refused', refusal: expect.stringContaining('attributes.mu: is missing') })
})
