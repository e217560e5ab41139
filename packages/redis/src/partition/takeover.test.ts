import type { Ticket } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { createWorld, duel } from './world.fixture.js'

/** The first of two processes leads, and holds still from now on; what is asked of the other one continues. */
async function two(options: Parameters<typeof createWorld>[0] = {}) {
  const world = createWorld(options)
  const [first, second] = [world.process(), world.process()]
  first.start()
  await world.pass(100)
  second.start()
  await world.pass(300)
  const join = (...ids: string[]) =>
    Promise.all(ids.map((id) => second.createTicket({ id, queue: 'duel', players: [world.player(id)] })))
  const answer = async <T>(asked: Promise<T>): Promise<T> => world.clock.until(asked, 10)
  const ticket = async (id: string) => (await answer(second.getTicket(id))) as Ticket
  const close = async () => {
    first.resume()
    await answer(first.close())
    await answer(second.close())
  }
  return { ...world, first, second, join, answer, ticket, close }
}

test('the next leader continues with a server that starts', async () => {
  const { first, second, join, pass, ticket, service, close } = await two()
  await join('ann', 'bob')
  await pass(700)
  expect(service.running()).toHaveLength(1)
  const { matchId, status } = await ticket('ann')
  expect(status).toBe('MATCH_FOUND')
  first.pause()
  await pass(4000)
  expect(second.leads()).toBe(true)
  expect(await ticket('ann')).toMatchObject({ status: 'HOST_ASSIGNED', matchId, version: 3 })
  expect(await ticket('bob')).toMatchObject({ status: 'HOST_ASSIGNED', matchId, version: 3 })
  expect(service.servers).toHaveLength(1)
  expect(service.running()).toHaveLength(1)
  await close()
})

test('a match that runs continues with its teams and its open backfill, until the last player has left', async () => {
  const teams = [{ name: 'team', count: 2, size: { min: 1, max: 2 } }]
  const queue = { ...duel, teams, matchSize: undefined, fillForMs: 0 }
  const { first, second, join, answer, pass, ticket, service, close } = await two({ queues: [queue] })
  await join('ann', 'bob')
  await pass(3000)
  const { matchId = '' } = await ticket('ann')
  const backfill = await answer(second.createBackfill({ matchId }))
  first.pause()
  await pass(3000)
  expect(await answer(second.getBackfill(backfill.id))).toEqual(backfill)
  await join('cas')
  await pass(1000)
  expect(await ticket('cas')).toMatchObject({ status: 'HOST_ASSIGNED', matchId })
  await answer(second.playersLeft(matchId, ['ann', 'bob', 'cas']))
  await pass(3000)
  expect(service.running()).toEqual([])
  await close()
})

test('who cancels while nobody leads is not waited for in a match that runs', async () => {
  const queue = {
    ...duel,
    teams: [{ name: 'team', size: { min: 2, max: 3 } }],
    matchSize: undefined,
    fillForMs: 0,
    acceptance: { withinMs: 60_000 },
  }
  const { first, second, join, answer, pass, ticket, service, close } = await two({ queues: [queue] })
  await join('ann', 'bob')
  await pass(700)
  for (const id of ['ann', 'bob']) await answer(second.acceptMatch(id))
  await pass(3000)
  const { matchId = '' } = await ticket('ann')
  await answer(second.createBackfill({ matchId }))
  await join('cas')
  await pass(700)
  expect(await ticket('cas')).toMatchObject({ status: 'MATCH_FOUND', matchId })
  first.pause()
  await answer(second.cancelTicket('cas'))
  await pass(3000)
  expect(second.leads()).toBe(true)
  await answer(second.playersLeft(matchId, ['ann', 'bob']))
  await pass(3000)
  expect(service.running()).toEqual([])
  await close()
})
