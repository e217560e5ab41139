/** Tests cooldowns: players who let others down must wait before they may queue again. */
import { describe, expect, test } from 'vitest'
import { InvalidInput } from '@muster/core'
import { InvalidTicket, PlayerCoolingDown } from './errors.js'
import { duel, setUp } from './matchmaker.fixture.js'
import type { QueueDefinition } from './queues/queue.js'

const cooldown = { firstMs: 10_000, maxMs: 40_000, forgiveAfterMs: 60_000 }
const plain: QueueDefinition = { ...duel, cooldown }
const asking: QueueDefinition = { ...plain, acceptance: { withinMs: 5000 } }
const ip = '198.51.100.7'

const setUpWith = (queue: QueueDefinition, ...more: QueueDefinition[]) => {
  const all = setUp({ queues: [queue, ...more] })
  /** Returns the remaining milliseconds of the player's cooldown. */
  const kept = (playerId: string) =>
    all.matchmaker.cooldownsOf(playerId).map(({ until }) => Math.max(0, until - all.clock.now()))
  const found = async (...ids: string[]) => {
    for (const id of ids) all.join(id)
    await all.run(250)
    for (const id of ids) expect(all.status(id)).toBe('MATCH_FOUND')
  }
  return { ...all, kept, found }
}

describe('the cooldown of a player', () => {
  test('a player who declines a match gets a cooldown, and the others keep their place in the queue', async () => {
    const { matchmaker, seen, join, run, status, kept, found, clock } = setUpWith(asking)
    await found('ann', 'ben')
    const { createdAt } = matchmaker.getTicket('ben') ?? {}
    matchmaker.acceptMatch('ben')
    matchmaker.declineMatch('ann')
    const until = clock.now() + 10_000
    expect(seen.cooldownBegan).toEqual([
      {
        queue: 'duel',
        offence: 'declined',
        cooldown: { playerId: 'ann', name: 'duel', offences: 1, until, forgiveAfterMs: 60_000 },
      },
    ])
    expect([kept('ann'), kept('ben')]).toEqual([[10_000], []])
    expect(() => matchmaker.createTicket({ queue: 'duel', players: [{ id: 'ann', ip }] })).toThrow(
      new PlayerCoolingDown('ann', 'duel', until, clock.now()),
    )
    expect(matchmaker.getTicket('ben')).toMatchObject({ status: 'SEARCHING', createdAt, attempts: 0 })
    join('cas')
    join('dee')
    await run(250)
    expect(['ben', 'cas', 'dee'].map(status)).toEqual(['MATCH_FOUND', 'MATCH_FOUND', 'SEARCHING'])
  })

  test('a missed acceptance starts a cooldown only for the party members who did not accept', async () => {
    const { matchmaker, seen, join, run, kept } = setUpWith({ ...asking, matchSize: 3 })
    join('ann', 'ben')
    join('cas')
    await run(250)
    matchmaker.acceptMatch('ann-ben', 'ann')
    matchmaker.acceptMatch('cas')
    await run(5250)
    expect(seen.cooldownBegan?.map(({ offence, cooldown: { playerId } }) => [playerId, offence])).toEqual([
      ['ben', 'not-accepted'],
    ])
    expect([kept('ann'), kept('cas')]).toEqual([[], []])
    join('ann')
    expect(() => join('ben')).toThrow(PlayerCoolingDown)
  })

  test('cancelling a found match starts a cooldown: `declined` before accepting, `left` after it', async () => {
    const { matchmaker, seen, found } = setUpWith(asking)
    await found('ann', 'ben')
    matchmaker.cancelTicket('ann', 'ann')
    expect(seen.cooldownBegan).toMatchObject([{ offence: 'declined' }])
    await found('cas')
    matchmaker.acceptMatch('cas')
    matchmaker.cancelTicket('cas', 'cas')
    expect(seen.cooldownBegan).toMatchObject([{}, { offence: 'left', cooldown: { playerId: 'cas' } }])
  })

  test('leaving during the deployment starts a cooldown, by cancelTicket and by a report of the backend', async () => {
    const { matchmaker, seen, run, found, service } = setUpWith(plain)
    await found('ann', 'ben')
    await run(500)
    matchmaker.cancelTicket('ann', 'ann')
    await found('cas')
    matchmaker.playersLeft(matchmaker.getTicket('cas')?.matchId ?? '', ['cas'])
    expect(seen.cooldownBegan?.map(({ offence, cooldown: { playerId } }) => [playerId, offence])).toEqual([
      ['ann', 'left'],
      ['cas', 'left'],
    ])
    await run(10_000)
    expect(service.unstopped()).toEqual([])
  })

  test('leaving a running match starts a cooldown if configured, and prevents a return by backfill', async () => {
    const leavers: QueueDefinition = { ...plain, cooldown: { ...cooldown, for: ['left-running'] } }
    const { matchmaker, run, found, join, kept, status } = setUpWith(leavers)
    await found('ann', 'ben')
    await run(10_000)
    const { matchId = '' } = matchmaker.getTicket('ann') ?? {}
    await matchmaker.playersLeft(matchId, ['ann'])
    expect(kept('ann')).toEqual([10_000])
    expect(() => matchmaker.createTicket({ id: 'again', queue: 'duel', players: [{ id: 'ann', ip }] })).toThrow(
      PlayerCoolingDown,
    )
    // The last player leaves nobody behind, and the match is over.
    await matchmaker.playersLeft(matchId, ['ben'])
    expect(kept('ben')).toEqual([])
    join('cas')
    expect(status('cas')).toBe('SEARCHING')
  })
})

describe('events that start no cooldown', () => {
  test('a cancel by a backend, a stop, a cancelled search or leaving a running match starts no cooldown', async () => {
    const { matchmaker, seen, join, run, found, service } = setUpWith(plain)
    join('zoe')
    matchmaker.cancelTicket('zoe', 'zoe')
    await found('ann', 'ben')
    matchmaker.cancelTicket('ann')
    await found('cas')
    void matchmaker.stopMatch(matchmaker.getTicket('cas')?.matchId ?? '')
    await run(10_000)
    expect(service.calls.create.length).toBeGreaterThan(1)
    matchmaker.playersLeft(matchmaker.getTicket('cas')?.matchId ?? '', ['cas'])
    expect(seen.cooldownBegan).toBeUndefined()
  })

  test('a failed deployment starts no cooldown', async () => {
    const { matchmaker, seen, join, run } = setUp({
      queues: [{ ...plain, maxAttempts: 1 }],
      service: { fate: () => ({ errorMs: 500 }) },
    })
    join('ann')
    join('ben')
    await run(3000)
    expect(matchmaker.getTicket('ann')?.cancelReason).toBe('attempts')
    expect(seen.cooldownBegan).toBeUndefined()
  })

  test('a private match may contain players on cooldown, and declining it starts none', async () => {
    const { matchmaker, seen, run, found } = setUpWith(asking)
    await found('ann', 'ben')
    matchmaker.declineMatch('ann')
    matchmaker.cancelTicket('ben')
    const players = ['ann', 'cas'].map((id) => ({ id, ip }))
    matchmaker.createMatch({ id: 'm', queue: 'duel', teams: [{ name: 'team', players }] })
    await run(250)
    matchmaker.declineMatch('m-1', 'cas')
    expect(seen.cooldownBegan).toHaveLength(1)
  })
})

test('a cooldown refuses every ticket with its player and its queue, but not tickets of other queues', async () => {
  const { matchmaker, join, found } = setUpWith(asking, { ...duel, name: 'other' })
  await found('ann', 'ben')
  matchmaker.declineMatch('ann')
  expect(() => join('cas', 'ann')).toThrow(PlayerCoolingDown)
  expect(() => matchmaker.createTicket({ queues: ['other', 'duel'], players: [{ id: 'ann', ip }] })).toThrow(
    PlayerCoolingDown,
  )
  expect(matchmaker.getTicket('cas-ann')).toBeUndefined()
  expect(() => matchmaker.createTicket({ queue: 'other', players: [{ id: 'ann', ip }] })).not.toThrow()
})

test('a player whose cooldowns are forgiven may queue immediately', async () => {
  const { matchmaker, seen, found } = setUpWith(asking)
  await found('ann', 'ben')
  matchmaker.declineMatch('ann')
  matchmaker.forgive('ann')
  matchmaker.forgive('ann')
  expect(seen.cooldownForgiven).toEqual([{ playerId: 'ann' }])
  expect(matchmaker.cooldownsOf('ann')).toEqual([])
  expect(() => matchmaker.createTicket({ queue: 'duel', players: [{ id: 'ann', ip }] })).not.toThrow()
})

test('cooldowns survive export, import and reconfigure, and do not refuse imported tickets', async () => {
  const { matchmaker, found } = setUpWith(asking)
  await found('ann', 'ben')
  matchmaker.declineMatch('ann')
  const exported = JSON.parse(JSON.stringify(matchmaker.exportCooldowns())) as never
  const next = setUpWith(asking)
  next.join('ann')
  const snapshot = next.matchmaker.exportTickets({ take: true })
  next.matchmaker.importCooldowns(exported)
  next.matchmaker.reconfigure([{ ...asking, expireAfterMs: 1000 }])
  expect(() => next.join('eve', 'ann')).toThrow(PlayerCoolingDown)
  expect(next.matchmaker.importTickets(snapshot).refused).toEqual([])
  expect(() => next.matchmaker.importCooldowns([{ playerId: 'ann' }] as never)).toThrow(InvalidInput)
})

test('a player can cancel only a ticket that they are in', async () => {
  const { matchmaker, found, status } = setUpWith(asking)
  await found('ann', 'ben')
  expect(() => matchmaker.cancelTicket('ann', 'ben')).toThrow(InvalidTicket)
  expect(status('ann')).toBe('MATCH_FOUND')
})
