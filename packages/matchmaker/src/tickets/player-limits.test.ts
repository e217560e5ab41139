/** Tests the limits on what one account can cost. */
import { describe, expect, test } from 'vitest'
import { PlayerOverLimit } from '../errors.js'
import { deploy, duel, setUp } from '../matchmaker.fixture.js'
import { createPlayerLimits } from './limits.js'

const HOUR_MS = 3_600_000

describe('the servers of a player within an hour', () => {
  test('the servers of a player within an hour are counted from the first server', () => {
    const limits = createPlayerLimits({ maxMatchesPerPlayer: 4, maxServersPerPlayer: 2, maxServers: 10 }, () => 0)
    limits.served(['ann', 'ben'], 0)
    limits.served(['ann'], 1000)
    expect(() => limits.check('ann', 0, 2000)).toThrow(
      new PlayerOverLimit('ann', 'maxServersPerPlayer', HOUR_MS - 2000),
    )
    expect(() => limits.check('ben', 0, 2000)).not.toThrow()
    expect(() => limits.check('ann', 0, HOUR_MS)).not.toThrow()
    limits.served(['ann'], HOUR_MS)
    expect(() => limits.check('ann', 0, HOUR_MS + 1)).not.toThrow()
  })

  test('the servers of a player are not counted without a limit', () => {
    const limits = createPlayerLimits(
      { maxMatchesPerPlayer: Infinity, maxServersPerPlayer: Infinity, maxServers: Infinity },
      () => 1e6,
    )
    for (let nth = 0; nth < 1000; nth += 1) limits.served(['ann'], 0)
    expect(() => limits.check('ann', 1000, 0)).not.toThrow()
  })
})

test('a player who repeatedly leaves matches causes no more servers than the limit', async () => {
  const { matchmaker, service, run } = setUp({ maxServersPerPlayer: 5 })
  let refused = 0
  for (let nth = 0; nth < 20; nth += 1) {
    try {
      const { id } = matchmaker.createTicket({
        queue: 'duel',
        players: ['eve', 'mal'].map((player) => ({ id: player, ip: '198.51.100.7' })),
      })
      await run(1000)
      matchmaker.cancelTicket(id)
    } catch (error) {
      expect(error).toMatchObject({ name: 'PlayerOverLimit', limit: 'maxServersPerPlayer', playerId: 'eve' })
      refused += 1
    }
  }
  expect(service.calls.create).toHaveLength(5)
  expect(refused).toBe(15)
  // Other tickets are not delayed.
  matchmaker.createTicket({
    id: 'ann',
    queue: 'duel',
    players: ['ann', 'ben'].map((player) => ({ id: player, ip: '198.51.100.8' })),
  })
  await run(8000)
  expect(matchmaker.getTicket('ann')?.status).toBe('HOST_ASSIGNED')
})

test('in queues that allow several matches at a time, a player is in no more matches than the limit', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const queues = names.map((name) => ({
    ...duel,
    name,
    matchSize: 1,
    playersMayWaitTwice: true,
    playersMayWaitWhilePlaying: true,
    deploy,
  }))
  const { matchmaker, run } = setUp({ queues })
  const join = (queue: string) => matchmaker.createTicket({ queue, players: [{ id: 'eve', ip: '198.51.100.7' }] })
  for (const name of ['a', 'b', 'c', 'd']) {
    join(name)
    await run(8000)
  }
  expect(matchmaker.inspect().matches).toHaveLength(4)
  expect(() => join('e')).toThrow(new PlayerOverLimit('eve', 'maxMatchesPerPlayer'))
  expect(() => join('f')).toThrow('is in as many matches as allowed at a time')
  const [over] = matchmaker.inspect().matches
  matchmaker.playersLeft(over?.matchId ?? '', ['eve'])
  expect(() => join('f')).not.toThrow()
})

test('players in several matches leave half of all servers to players in no match', async () => {
  const names = ['a', 'b', 'c', 'd']
  const several = { matchSize: 1, playersMayWaitTwice: true, playersMayWaitWhilePlaying: true, deploy }
  const { matchmaker, run } = setUp({ queues: names.map((name) => ({ ...duel, ...several, name })), maxServers: 12 })
  const join = (queue: string, id: string) => matchmaker.createTicket({ queue, players: [{ id, ip: '198.51.100.7' }] })
  const refused: string[] = []
  for (const queue of names) {
    for (const id of ['eve', 'eva', 'evi']) {
      try {
        join(queue, id)
      } catch (error) {
        expect(error).toMatchObject({ name: 'PlayerOverLimit', limit: 'maxMatchesPerPlayer', playerId: id })
        refused.push(id)
      }
    }
    await run(8000)
  }
  expect(matchmaker.inspect().matches).toHaveLength(6)
  expect(refused).toHaveLength(6)
  for (const id of ['ann', 'ben', 'cas', 'dan', 'eli', 'fay']) join('a', id)
  await run(8000)
  expect(matchmaker.inspect().matches).toHaveLength(12)
})
