import { expect, test } from 'vitest'
import { duel, europeans } from './run-crowd.fixture.js'
import { runCrowd } from './run-crowd.js'

test('a crowd meets the real matchmaker, the same way each time', async () => {
  const crowd = europeans(100, 3)
  const outcome = await runCrowd(crowd, [duel])
  expect(outcome.tickets).toHaveLength(300)
  expect(outcome.matches.length).toBeGreaterThan(100)
  expect(outcome.servers).toMatchObject({ created: outcome.matches.length, most: expect.any(Number) })
  expect(await runCrowd(crowd, [duel])).toEqual(outcome)
})
