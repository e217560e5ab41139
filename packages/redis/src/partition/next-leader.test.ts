import { expect, test } from 'vitest'
import { createWorld, duel } from './world.fixture.js'

/** A leader, and a process that has followed it from the beginning and takes over. */
async function pair(given: Parameters<typeof createWorld>[0] = {}) {
  const world = createWorld(given)
  const [first, second] = [world.process(), world.process()]
  first.start()
  await world.pass(200)
  second.start()
  await world.pass(500)
  const join = (...ids: string[]) =>
    Promise.all(ids.map((id) => second.createTicket({ id, queue: 'duel', players: [world.player(id)] })))
  const answer = <T>(asked: Promise<T>) => world.clock.until(asked, 10)
  return { ...world, first, second, join, answer }
}

test('who played under the leader before is free when the match is over under the next', async () => {
  const { first, second, join, answer, pass, player, partition } = await pair()
  await join('ann', 'bob')
  await pass(3000)
  const { matchId = '' } = (await second.getTicket('ann')) ?? {}
  await answer(first.close())
  await pass(1000)
  await answer(second.stopMatch(matchId))
  await pass(100)
  expect(partition.players.size).toBe(0)
  await answer(second.createTicket({ queue: 'duel', players: [player('ann')] }))
  await answer(second.close())
})

test('who is cancelled by the leader is free, here and after a takeover', async () => {
  const queue = { ...duel, acceptance: { withinMs: 10_000 } }
  const { first, second, join, answer, pass, partition } = await pair({ queues: [queue] })
  await join('ann', 'bob')
  await pass(500)
  await answer(second.declineMatch('bob'))
  await pass(100)
  expect([...partition.players.keys()]).toEqual(['ann'])
  await answer(first.close())
  await pass(1000)
  await join('bob2')
  await pass(500)
  expect(await second.getTicket('ann')).toMatchObject({ status: 'MATCH_FOUND' })
  await answer(second.close())
})

test('who cancelled while another process led is not matched by the next', async () => {
  const { first, second, join, answer, pass, problems } = await pair()
  await join('ann')
  await pass(500)
  await answer(second.cancelTicket('ann'))
  await pass(500)
  const inspected = async () => (await answer(second.inspect())).queues[0]?.players
  expect(await inspected()).toBe(0)
  await answer(first.close())
  await pass(1000)
  expect(await inspected()).toBe(0)
  await join('bob')
  await pass(500)
  expect(await second.getTicket('bob')).toMatchObject({ status: 'SEARCHING', version: 1 })
  expect(problems).toEqual([])
  await answer(second.close())
})

test('an open backfill is open under the next leader', async () => {
  const queue = { ...duel, teams: [{ name: 'team', size: { min: 1, max: 2 } }], matchSize: undefined, fillForMs: 0 }
  const { first, second, join, answer, pass } = await pair({ queues: [queue] })
  await join('ann')
  await pass(3000)
  const { matchId = '' } = (await second.getTicket('ann')) ?? {}
  const { id } = await answer(second.createBackfill({ matchId }))
  await pass(100)
  await answer(first.close())
  await pass(1000)
  expect(await answer(second.getBackfill(id))).toMatchObject({ status: 'OPEN', matchId })
  await join('bob')
  await pass(1000)
  expect(await second.getTicket('bob')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
  await answer(second.close())
})

test('a leader whose tickets are not as it left them reads everything again', async () => {
  const { first, second, answer, pass, partition } = await pair()
  await answer(second.close())
  await answer(first.createTicket({ id: 'ann', queue: 'duel', players: [{ id: 'ann', ip: '192.0.2.1' }] }))
  await pass(500)
  const ann = partition.tickets.get('ann')
  if (ann === undefined) throw new Error('no ticket')
  partition.tickets.set('ann', { ...ann, header: 'S9\n{"attempts":0,"waitingFor":"players"}' })
  let terms = 0
  first.on('leading', () => (terms += 1))
  await answer(first.createTicket({ id: 'bob', queue: 'duel', players: [{ id: 'bob', ip: '192.0.2.1' }] }))
  await pass(5000)
  expect(terms).toBe(1)
  expect(await first.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED' })
  await answer(first.close())
})
