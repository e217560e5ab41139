import { expect } from 'vitest'
import { deploy, setUp } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'

export const social: QueueDefinition = {
  name: 'duel',
  teams: [{ name: 'side', count: 2, size: { min: 1, max: 2 } }],
  fillForMs: 0,
  deploy,
}

/** Runs a match of ann against ben that has room for two more players. */
export async function running(queue: Partial<QueueDefinition> = {}, options: Parameters<typeof setUp>[0] = {}) {
  const all = setUp({ queues: [{ ...social, ...queue }], ...options })
  all.join('ann')
  all.join('ben')
  if (queue.acceptance !== undefined) {
    await all.run(250)
    for (const id of ['ann', 'ben']) all.matchmaker.acceptMatch(id)
  }
  await all.run(6500)
  const { matchId = '', assignment } = all.matchmaker.getTicket('ann') ?? {}
  expect(all.status('ann')).toBe('HOST_ASSIGNED')
  return { ...all, matchId, assignment }
}
