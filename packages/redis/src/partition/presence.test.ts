import { expect, test } from 'vitest'
import { createPair, createWorld, duel } from './world.fixture.js'

/** Starts two processes, of which the first leads, with a queue whose clients may be away for 10 s. */
async function pair() {
  const world = await createPair({ queues: [{ ...duel, matchSize: 5, presence: { withinMs: 10_000 } }] })
  const { first: leader, second: follower, answer } = world
  const join = (id: string, ...players: string[]) =>
    answer(follower.createTicket({ id, queue: 'duel', players: players.map(world.player) }))
  const outcome = async (id: string) => {
    const ticket = await answer(follower.getTicket(id))
    return ticket?.cancelReason ?? ticket?.status
  }
  const see = (ticketId: string, playerId?: string) => answer(follower.notePresence([{ ticketId, playerId }]))
  return { ...world, leader, follower, join, outcome, see }
}

test('the leader learns from every process which clients are present', async () => {
  const { leader, follower, answer, join, outcome, see, pass, problems, close } = await pair()
  expect([follower.presenceWithinMs('duel'), follower.presenceWithinMs('nosuch')]).toEqual([10_000, undefined])
  await join('ann', 'ann')
  await join('bob', 'bob')
  await join('party', 'cas', 'dee')
  for (let times = 0; times < 3; times += 1) {
    await pass(5000, 100)
    await see('ann')
    await see('ann')
    await see('party', 'cas')
    await answer(leader.notePresence([{ ticketId: 'nosuch' }, { ticketId: 'bob', playerId: 'eve' }]))
  }
  await pass(2000, 100)
  const outcomes = [await outcome('ann'), await outcome('bob'), await outcome('party')]
  expect(outcomes).toEqual(['SEARCHING', 'absent', 'absent'])
  await pass(10_000, 100)
  expect(await outcome('ann')).toBe('absent')
  expect(problems).toEqual([])
  await close()
})

test('every client gets the full presence time again when another process leads', async () => {
  const { leader, follower, join, outcome, see, pass, close } = await pair()
  await join('ann', 'ann')
  await pass(9000, 100)
  leader.pause()
  await pass(8000, 100)
  expect([follower.leads(), await outcome('ann')]).toEqual([true, 'SEARCHING'])
  await see('ann')
  await pass(9000, 100)
  expect(await outcome('ann')).toBe('SEARCHING')
  await pass(12_000, 100)
  expect(await outcome('ann')).toBe('absent')
  await close()
})

test('a process with outdated queues uses the presence setting of the leader', async () => {
  const world = createWorld()
  const leader = world.process({ queues: [{ ...duel, matchSize: 5, presence: { withinMs: 20_000 } }] })
  leader.start()
  await world.pass(100)
  const later = { ...duel, matchSize: 5, presence: { withinMs: 30_000 } }
  const [old, other] = [world.process(), world.process({ queues: [later, { ...duel, name: 'other' }] })]
  old.start()
  other.start()
  await world.pass(500)
  expect([old.presenceWithinMs('duel'), other.presenceWithinMs('duel')]).toEqual([20_000, 20_000])
  expect(old.presenceWithinMs('constructor')).toBeUndefined()
  leader.reconfigure([duel])
  await world.pass(6000, 100)
  expect([old.presenceWithinMs('duel'), other.presenceWithinMs('duel')]).toEqual([undefined, 30_000])
  expect([old.presenceWithinMs('other'), leader.presenceWithinMs('duel')]).toEqual([undefined, undefined])
  for (const each of [old, other, leader]) await world.clock.until(each.close(), 10)
})
