import { NothingToAccept, UnknownTicket } from '@muster/matchmaker'
import { expect, test } from 'vitest'
import { createPair, createWorld, duel, type Process } from './world.fixture.js'

test('a player of a match started by one leader is free when the match ends under the next leader', async () => {
  const { first, second, join, answer, pass, player, partition } = await createPair()
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

test('a player whose ticket the leader cancels is free, before and after a takeover', async () => {
  const queue = { ...duel, acceptance: { withinMs: 10_000 } }
  const { first, second, join, answer, pass, partition } = await createPair({ queues: [queue] })
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

test('accepting by a ticket that ended under the previous leader is refused, and not as unknown', async () => {
  const queue = { ...duel, acceptance: { withinMs: 10_000 } }
  const { second, join, answer, pass, takeOver, close } = await createPair({ queues: [queue] })
  await join('ann', 'bob')
  await pass(500)
  await answer(second.declineMatch('bob'))
  await takeOver()
  for (const ask of [second.acceptMatch, second.declineMatch]) {
    await expect(answer(ask('bob'))).rejects.toThrow(NothingToAccept)
    await expect(answer(ask('eve'))).rejects.toThrow(UnknownTicket)
  }
  await close()
})

test('a ticket cancelled while another process led is not matched by the next leader', async () => {
  const { first, second, join, answer, pass, problems } = await createPair()
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

test('a leader whose tickets have changed unexpectedly reads all tickets again', async () => {
  const { first, second, answer, pass, partition } = await createPair()
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

test('the next leader continues with a server that is starting', async () => {
  const { first, second, join, pass, ticket, service, close } = await createPair()
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

test('a running match keeps its teams and its open backfill until the last player has left', async () => {
  const teams = [{ name: 'team', count: 2, size: { min: 1, max: 2 } }]
  const queue = { ...duel, teams, matchSize: undefined, fillForMs: 0 }
  const { first, second, join, answer, pass, ticket, service, close } = await createPair({ queues: [queue] })
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

test('a running match does not wait for a ticket that was cancelled while no process led', async () => {
  const queue = {
    ...duel,
    teams: [{ name: 'team', size: { min: 2, max: 3 } }],
    matchSize: undefined,
    fillForMs: 0,
    acceptance: { withinMs: 60_000 },
  }
  const { first, second, join, answer, pass, ticket, service, close } = await createPair({ queues: [queue] })
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

test('a new leader does not end matches of the previous leader by joinWithinMs', async () => {
  const queues = [{ ...duel, deploy: { ...duel.deploy, joinWithinMs: 10_000 } }]
  const { first, second, join, answer, pass, service } = await createPair({ queues })
  await join('ann', 'ben')
  await pass(3000)
  expect(await second.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED' })
  await answer(first.close())
  await pass(20_000)
  expect(second.leads()).toBe(true)
  expect(service.running()).toHaveLength(1)
  await answer(second.close())
})

test('a standby that was suspended runs no command again that the previous leader has answered', async () => {
  const { clock, partition, pass, process } = createWorld()
  const slowly = async (method: string) => (method === 'inbox' ? clock.sleep(50) : undefined)
  const [first, standby, follower] = [process(), process({}, slowly), process({ canLead: false })]
  first.start()
  await pass(100)
  standby.start()
  follower.start()
  await pass(300)
  let paused = 0
  for (const one of [first, standby]) one.onMatching('queuePaused', () => (paused += 1))
  standby.pause()
  // More entries than the standby reads before it leads.
  for (let entry = 0; entry < 5000; entry += 1) partition.inbox.add({ kind: 'ask', text: '' })
  await clock.until(follower.pauseQueue('duel'), 10)
  await clock.until(follower.resumeQueue('duel'), 10)
  first.pause()
  await pass(1000)
  standby.resume()
  await pass(8000, 50)
  expect([standby.leads(), paused]).toEqual([true, 1])
  first.resume()
  await clock.until(Promise.all([first.close(), standby.close(), follower.close()]), 10)
})

test.each([
  ['before its first commit', 'commit', 'before', 1],
  ['after its first commit', 'commit', 'after', 1],
  ['before its second commit', 'commit', 'before', 2],
  ['after its second commit', 'commit', 'after', 2],
  ['before its third commit', 'commit', 'before', 3],
] as const)(
  'a backend’s start of a server creates exactly one server, even if the leader stops %s',
  async (_when, ...end) => {
    const places = [{ name: 'Oslo', latitude: 59.9, longitude: 10.7 }]
    const pools = [{ name: 'arena', deploy: duel.deploy, places, custom: {} }]
    const { clock, pass, process, service } = createWorld({ pools })
    let isAsked = false
    let seen = 0
    const first: Process = process({}, (method, moment) => {
      if (!isAsked || method !== end[0] || moment !== end[1]) return
      seen += 1
      if (seen === end[2]) first.pause()
    })
    const second = process()
    first.start()
    await pass(100)
    second.start()
    await pass(300)
    isAsked = true
    await clock.until(second.startServer({ playerIds: [], attributes: {} }), 10)
    first.pause()
    await pass(8000, 50)
    const { matches } = await clock.until(second.inspect(), 10)
    expect([matches.length, service.running().length]).toEqual([1, 1])
    first.resume()
    await clock.until(Promise.all([first.close(), second.close()]), 10)
  },
)
