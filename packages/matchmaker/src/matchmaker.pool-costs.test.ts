/** Tests who is charged for servers of pools, and the cost of cancelled matches. */
import { expect, test } from 'vitest'
import { PlayerOverLimit } from './errors.js'
import { open, world } from './listed-servers.fixture.js'

const cold = { ...world, at: [] }

/** Two accounts find each other and cancel at once, repeatedly. Returns how often they were refused. */
async function cancelFor(game: ReturnType<typeof open>, seconds: number, everyMs: number) {
  let refused = 0
  for (let passed = 0, nth = 0; passed < seconds * 1000; passed += everyMs, nth += 1) {
    const ids = [`ann${nth}`, `ben${nth}`]
    try {
      for (const [at, id] of ids.entries())
        game.matchmaker.createTicket({
          id,
          queue: 'duel',
          players: [{ id: at === 0 ? 'ann' : 'ben', ip: '192.0.2.1' }],
        })
    } catch (error) {
      if (!(error instanceof PlayerOverLimit)) throw error
      refused += 1
    }
    await game.matchmaker.tick()
    for (const id of ids) if (game.status(id) !== undefined) game.matchmaker.cancelTicket(id)
    await game.run(everyMs)
  }
  return refused
}

test('accounts that repeatedly match and cancel create maxServersPerPlayer servers and a warm stock', async () => {
  const game = open({ pools: [{ ...cold, warm: { hit: 0.95, maxIdleShare: 10 } }], maxServersPerPlayer: 3 })
  const refused = await cancelFor(game, 120, 1000)
  // Three servers that the two accounts are charged for, and the pool's warm ones as long as their matches count as
  // demand.
  expect(game.service.calls.create.length).toBeLessThanOrEqual(6)
  expect(refused).toBeGreaterThan(100)
})

test('a cancelled match returns its unused server, and the next match takes it', async () => {
  const game = open({ pools: [cold] })
  game.join('ann', 'ben')
  await game.run(1000)
  game.matchmaker.cancelTicket('ann-ben')
  await game.run(8000)
  for (const pair of ['cat', 'dan', 'eve']) {
    game.join(pair, `${pair}2`)
    await game.matchmaker.tick()
    game.matchmaker.cancelTicket(`${pair}-${pair}2`)
    await game.run(1000)
  }
  game.join('gil', 'hal')
  await game.run(3000)
  expect([game.status('gil-hal'), game.service.calls.create.length]).toEqual(['HOST_ASSIGNED', 1])
})

test('cancelled matches do not count as demand: the pool keeps no more servers warm', async () => {
  const game = open({ pools: [{ ...cold, warm: { hit: 0.95, maxIdleShare: 10 } }] })
  await cancelFor(game, 300, 1000)
  const [pool] = game.matchmaker.inspect().pools
  expect(pool).toMatchObject({ wanted: 0, cameLastHour: 0 })
  expect(pool?.ratePerHour).toBeCloseTo(0, 6)
  await game.run(70_000)
  expect(game.service.unstopped()).toEqual([])
})

test('a warm server counts against maxServersPerPlayer only for the players of its first match', async () => {
  const play = async (game: ReturnType<typeof open>, nth: number) => {
    for (const id of ['ann', 'ben'])
      game.matchmaker.createTicket({ id: `${id}${nth}`, queue: 'duel', players: [{ id, ip: '192.0.2.1' }] })
    await game.run(3000)
    expect(game.status(`ann${nth}`)).toBe('HOST_ASSIGNED')
    await game.matchmaker.stopMatch(game.matchmaker.getTicket(`ann${nth}`)?.matchId ?? '')
    await game.run(6000)
  }
  const fresh = open({ pools: [world], maxServersPerPlayer: 2 })
  const reused = open({ pools: [{ ...world, reuse: { maxMatches: 20 } }], maxServersPerPlayer: 4 })
  for (const game of [fresh, reused]) {
    await game.run(9000)
    for (let nth = 0; nth < 2; nth += 1) await play(game, nth)
  }
  await expect(play(fresh, 2)).rejects.toThrow(PlayerOverLimit)
  // Ten matches one after another on the same three servers.
  for (let nth = 2; nth < 10; nth += 1) await play(reused, nth)
  expect(reused.service.calls.create).toHaveLength(3)
})

test('player-started servers count against maxServersPerPlayer', async () => {
  const game = open({ pools: [{ ...cold, custom: { perPlayer: 100, max: 100 } }], maxServersPerPlayer: 3 })
  await game.run(1000)
  for (let nth = 0; nth < 3; nth += 1) {
    await game.matchmaker.startServer({ playerIds: ['ann'], attributes: {} })
    await game.run(9000)
    const [seat] = game.matchmaker.seatsOf('ann')
    if (seat !== undefined) await game.matchmaker.releaseSeat(seat.id, 'ann')
  }
  await expect(game.matchmaker.startServer({ playerIds: ['ann'], attributes: {} })).rejects.toThrow(PlayerOverLimit)
  expect(game.service.calls.create).toHaveLength(3)
})
