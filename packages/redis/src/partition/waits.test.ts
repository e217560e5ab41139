import { expect, test } from 'vitest'
import { createPair } from './world.fixture.js'

test('a follower and the next leader know the wait statistics of the leader', async () => {
  const { first: leader, second: follower, join, answer, status, pass, close } = await createPair()
  for (let match = 0; match < 15; match += 1) {
    await join(`first-${match}`)
    await pass(2000, 100)
    await join(`second-${match}`)
    await pass(1000, 100)
  }
  await join('ann')
  expect(follower.estimateWait('ann')).toBeUndefined()
  await pass(300)
  const estimate = follower.estimateWait('ann')
  expect(estimate?.p90Ms).toBeGreaterThan(1000)
  expect(estimate?.p90Ms).toBeLessThan(3000)
  const [waits] = await answer(follower.estimateQueueWaits())
  expect(waits).toMatchObject({ queue: 'duel', tickets: 1, players: 1, paused: false })
  expect(waits?.estimate?.p50Ms).toBeLessThan(2500)
  // The follower asks again only while somebody needs the estimate, and nobody waits for a leader that is gone.
  leader.pause()
  expect(follower.estimateWait('ann')).toBeDefined()
  await pass(5000, 100)
  expect(follower.leads()).toBe(true)
  const [after] = await answer(follower.estimateQueueWaits())
  expect(after?.estimate?.p50Ms).toBeLessThan(4000)
  await join('bob')
  await pass(1000)
  expect(await status('bob')).toBe('MATCH_FOUND')
  expect(follower.estimateWait('bob')).toBeUndefined()
  await close()
})
