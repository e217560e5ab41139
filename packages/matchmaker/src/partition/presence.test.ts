import { expect, test } from 'vitest'
import { createWorld, duel } from './leader.fixture.js'

const queues = [{ ...duel, matchSize: 5, presence: { withinMs: 10_000 } }]

test('a standby takes nobody for absent, and from when it leads everybody has the whole time', async () => {
  const world = createWorld({ queues })
  const { leader, run, changes, seen } = world.process()
  leader.load([world.join('ann'), world.join('ben')])
  await world.clock.advance(60_000)
  // What the leader before has changed is loaded again.
  const { id, body, createdAt } = world.stored.get('ben') ?? world.join('ben')
  leader.load([{ id, body, createdAt, state: { version: 3, status: 'SEARCHING', waitingFor: 'players', attempts: 1 } }])
  await world.clock.advance(60_000)
  await leader.lead()
  await run(5000)
  leader.notePresence([{ ticketId: 'ann' }])
  await run(5000)
  expect(changes).toEqual([])
  await run(500)
  expect([leader.getTicket('ann')?.status, leader.getTicket('ben')?.cancelReason]).toEqual(['SEARCHING', 'absent'])
  expect(changes.map((ticket) => [ticket.id, ticket.status])).toEqual([['ben', 'CANCELLED']])
  expect(seen.cancelled).toMatchObject([{ reason: 'absent' }])
  await run(5000)
  expect(leader.getTicket('ann')?.cancelReason).toBe('absent')
})
