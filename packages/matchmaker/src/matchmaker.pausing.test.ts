/** Queues that an operator has paused. */
import { expect, test } from 'vitest'
import { UnknownQueue } from './errors.js'
import { duel, setUp } from './matchmaker.fixture.js'

const other = { ...duel, name: 'other' }
const ip = '198.51.100.7'

test('a paused queue takes tickets and makes no match until resumed; their waiting time counts', async () => {
  const { matchmaker, seen, join, run, status } = setUp()
  matchmaker.pauseQueue('duel')
  matchmaker.pauseQueue('duel')
  const { createdAt } = join('ann')
  join('ben')
  await run(60_000)
  expect([status('ann'), status('ben')]).toEqual(['SEARCHING', 'SEARCHING'])
  expect(matchmaker.inspect().queues).toMatchObject([{ name: 'duel', paused: true, searching: { players: 2 } }])
  matchmaker.resumeQueue('duel')
  matchmaker.resumeQueue('duel')
  expect(matchmaker.inspect().queues).toMatchObject([{ paused: false }])
  await run(250)
  expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'MATCH_FOUND', createdAt })
  expect(seen.queuePaused).toEqual([{ queue: 'duel' }])
  expect(seen.queueResumed).toEqual([{ queue: 'duel' }])
})

test('explain says that the queue is paused', async () => {
  const { matchmaker, join } = setUp({ queues: [duel, other] })
  join('ann')
  matchmaker.pauseQueue('duel')
  expect(matchmaker.explain('ann')).toMatchObject({
    summary: 'The queue is paused.',
    queues: [{ queue: 'duel', paused: true, summary: 'The queue is paused.' }],
  })
  const { id } = matchmaker.createTicket({ queues: ['duel', 'other'], players: [{ id: 'zoe', ip }] })
  expect(matchmaker.explain(id).summary).toBe('duel: The queue is paused. other: Nobody else waits.')
})

test('tickets of a paused queue expire as usual', async () => {
  const { matchmaker, seen, join, run } = setUp({ queues: [{ ...duel, expireAfterMs: 3000 }] })
  matchmaker.pauseQueue('duel')
  join('ann')
  await run(3500)
  expect(seen.expired?.map(({ ticket }) => ticket.id)).toEqual(['ann'])
})

test('matches that were found go on, and so do other queues; a ticket of both is matched in the other', async () => {
  const { matchmaker, join, run, status } = setUp({
    queues: [{ ...duel, acceptance: { withinMs: 10_000 } }, other],
  })
  join('ann')
  join('ben')
  await run(250)
  matchmaker.pauseQueue('duel')
  for (const id of ['x', 'y']) matchmaker.createTicket({ id, queues: ['duel', 'other'], players: [{ id, ip }] })
  matchmaker.acceptMatch('ann')
  matchmaker.acceptMatch('ben')
  await run(6000)
  expect(['ann', 'ben', 'x', 'y'].map(status)).toEqual(Array.from({ length: 4 }, () => 'HOST_ASSIGNED'))
  expect(matchmaker.getTicket('x')?.queue).toBe('other')
})

test('nobody joins a running match by a backfill, and nothing is made at arrival or by createMatch', async () => {
  const teams = [{ name: 'team', size: { min: 1, max: 2 } }]
  const { matchmaker, join, run, status } = setUp({
    queues: [{ ...duel, teams, matchSize: undefined, fillForMs: 0, mode: 'arrival' }],
  })
  matchmaker.start()
  join('ann')
  await run(6000)
  const { matchId = '' } = matchmaker.getTicket('ann') ?? {}
  matchmaker.pauseQueue('duel')
  matchmaker.createBackfill({ matchId })
  join('ben')
  matchmaker.createMatch({ id: 'm', queue: 'duel', teams: [{ name: 'team', players: [{ id: 'cas', ip }] }] })
  await run(2000)
  expect([status('ben'), status('m-1')]).toEqual(['SEARCHING', 'SEARCHING'])
  expect(matchmaker.explain('m-1').summary).toBe('The queue is paused.')
  matchmaker.resumeQueue('duel')
  await run(500)
  expect([matchmaker.getTicket('ben')?.matchId, status('m-1')]).toEqual([matchId, 'MATCH_FOUND'])
  await matchmaker.stop()
})

test('a match that a round has found already is not made once the queue is paused', async () => {
  const { matchmaker, join, status } = setUp()
  for (const id of ['ann', 'ben', 'cas', 'dee']) join(id)
  // The listener is called after the grouping, between two claims.
  matchmaker.on('matchFound', () => matchmaker.pauseQueue('duel'))
  await matchmaker.tick()
  const found = ['ann', 'ben', 'cas', 'dee'].filter((id) => status(id) === 'MATCH_FOUND')
  expect(found).toHaveLength(2)
  matchmaker.resumeQueue('duel')
  await matchmaker.tick()
  expect(['ann', 'ben', 'cas', 'dee'].map(status)).toEqual(Array.from({ length: 4 }, () => 'MATCH_FOUND'))
})

test('a pause outlasts reconfigure, as long as the queue is there', async () => {
  const { matchmaker, join, run, status } = setUp({ queues: [duel, other] })
  matchmaker.pauseQueue('duel')
  matchmaker.reconfigure([{ ...duel, expireAfterMs: 10_000 }, other])
  join('ann')
  join('ben')
  await run(500)
  expect(status('ann')).toBe('SEARCHING')
  matchmaker.reconfigure([other])
  matchmaker.reconfigure([duel, other])
  expect(matchmaker.inspect().queues.map(({ paused }) => paused)).toEqual([false, false])
})

test('a queue that there is not is neither paused nor resumed', () => {
  const { matchmaker } = setUp()
  expect(() => matchmaker.pauseQueue('duell')).toThrow(UnknownQueue)
  expect(() => matchmaker.resumeQueue('duell')).toThrow('did you mean')
})
