import { describe, expect, test } from 'vitest'
import { PlayerBusy, UnknownQueue } from '../errors.js'
import { deploy, duel, setUp } from '../matchmaker.fixture.js'
import type { TicketInput } from './ticket.js'

const trio = { name: 'trio', matchSize: 3, deploy }
const ip = '198.51.100.7'
const ticket = (id: string, ...queues: string[]): TicketInput => ({ id, queues, players: [{ id, ip }] })

describe('a ticket in several queues', () => {
  test('a ticket in several queues joins the first match that is found, and leaves the other queues', async () => {
    const { matchmaker, run } = setUp({ queues: [duel, trio] })
    expect(matchmaker.createTicket(ticket('ann', 'duel', 'trio'))).toMatchObject({
      queues: ['duel', 'trio'],
      queue: undefined,
    })
    matchmaker.createTicket(ticket('ben', 'trio'))
    matchmaker.createTicket(ticket('cas', 'trio'))
    await run(250)
    for (const id of ['ann', 'ben', 'cas']) {
      expect(matchmaker.getTicket(id)).toMatchObject({ status: 'MATCH_FOUND', queue: 'trio', team: 'team' })
    }
    matchmaker.createTicket(ticket('dee', 'duel'))
    await run(250)
    expect(matchmaker.getTicket('dee')).toMatchObject({ status: 'SEARCHING' })
    expect(matchmaker.inspect().queues.map(({ players }) => players)).toEqual([1, 0])
  })

  test('of two matches found for one ticket in a tick, only one is made', async () => {
    const { matchmaker, service, seen, run, status } = setUp({ queues: [duel, trio] })
    matchmaker.createTicket(ticket('both', 'duel', 'trio'))
    matchmaker.createTicket(ticket('ann', 'duel'))
    matchmaker.createTicket(ticket('ben', 'trio'))
    matchmaker.createTicket(ticket('cas', 'trio'))
    await run(500)
    expect(['both', 'ann', 'ben', 'cas'].map(status)).toEqual(['MATCH_FOUND', 'MATCH_FOUND', 'SEARCHING', 'SEARCHING'])
    expect(seen.matchFound).toHaveLength(1)
    matchmaker.createTicket(ticket('dee', 'trio'))
    await run(250)
    expect(['ben', 'cas', 'dee'].map(status)).toEqual(['MATCH_FOUND', 'MATCH_FOUND', 'MATCH_FOUND'])
    expect(service.calls.create).toHaveLength(2)
  })

  test('a ticket in several queues stays in all of them if there is no server for its match', async () => {
    const { matchmaker, run } = setUp({ queues: [duel, trio], maxServers: 1 })
    matchmaker.createTicket({
      id: 'x',
      queue: 'duel',
      players: [
        { id: 'x', ip },
        { id: 'y', ip },
      ],
    })
    await run(250)
    matchmaker.createTicket(ticket('ann', 'duel', 'trio'))
    matchmaker.createTicket(ticket('ben', 'duel', 'trio'))
    await run(250)
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'SEARCHING', waitingFor: 'servers' })
    expect(matchmaker.inspect()).toMatchObject({ blockedBy: 'maxServers', queues: [{ players: 2 }, { players: 2 }] })
    matchmaker.cancelTicket('x')
    matchmaker.createTicket(ticket('cas', 'trio'))
    await run(6000)
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'HOST_ASSIGNED', queue: 'duel' })
  })

  test('a ticket in several queues leaves each queue at its expiry, and ends with the last', async () => {
    const { matchmaker, run } = setUp({
      queues: [
        { ...duel, expireAfterMs: 2000 },
        { ...trio, expireAfterMs: 4000 },
      ],
    })
    matchmaker.createTicket(ticket('ann', 'duel', 'trio'))
    await run(2250)
    matchmaker.createTicket(ticket('ben', 'duel'))
    await run(250)
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'SEARCHING', queues: ['duel', 'trio'] })
    expect(matchmaker.inspect().queues.map(({ players }) => players)).toEqual([1, 1])
    await run(2000)
    expect(matchmaker.getTicket('ann')).toMatchObject({ status: 'CANCELLED', cancelReason: 'expired' })
  })

  test('a ticket in several queues is refused if one of them refuses it', () => {
    const { matchmaker, names } = setUp({
      queues: [duel, { ...trio, rules: [{ kind: 'equal', attribute: 'mode', missing: 'refuse' }] }],
    })
    expect(() => matchmaker.createTicket(ticket('ann', 'duel', 'trio'))).toThrow('players.0.attributes.mode')
    expect(() => matchmaker.createTicket(ticket('ann', 'duel', 'chess'))).toThrow(UnknownQueue)
    expect(() => matchmaker.createTicket(ticket('ann', 'trios'))).toThrow(
      'There is no queue "trios"; did you mean trio?',
    )
    expect(() => matchmaker.createTicket({ ...ticket('ann', 'duel'), queue: 'duel' })).toThrow(
      'ticket: queue: is required unless queues',
    )
    expect(names).toEqual([])
    expect(matchmaker.inspect().queues[0]?.players).toBe(0)
  })
})

describe('a player with two tickets', () => {
  const queues = [
    { ...duel, playersMayWaitTwice: true },
    { ...trio, playersMayWaitTwice: true },
    { ...duel, name: 'strict' },
  ]
  const again = (id: string, queue: string, ...players: string[]): TicketInput => ({
    id,
    queue,
    players: players.map((player) => ({ id: player, ip })),
  })

  test('a player’s second ticket is held while the first has a match, and searches again if it fails', async () => {
    const { matchmaker, run, status } = setUp({ queues })
    matchmaker.createTicket(again('a', 'duel', 'ann'))
    matchmaker.createTicket(again('b', 'trio', 'ann', 'ben'))
    matchmaker.createTicket(again('c', 'duel', 'cas'))
    await run(250)
    expect(status('a')).toBe('MATCH_FOUND')
    matchmaker.createTicket(again('d', 'trio', 'dee'))
    await run(500)
    expect(matchmaker.getTicket('b')).toMatchObject({ status: 'SEARCHING', waitingFor: 'other-ticket' })
    matchmaker.cancelTicket('c')
    await run(250)
    expect(status('b')).toBe('MATCH_FOUND')
    expect(matchmaker.getTicket('a')).toMatchObject({ status: 'SEARCHING', waitingFor: 'other-ticket' })
  })

  test('a player’s second ticket is cancelled when the match of the first ticket starts', async () => {
    const { matchmaker, run } = setUp({ queues })
    matchmaker.createTicket(again('a', 'duel', 'ann', 'cas'))
    matchmaker.createTicket(again('b', 'trio', 'ann'))
    await run(6500)
    expect(matchmaker.getTicket('a')?.status).toBe('HOST_ASSIGNED')
    expect(matchmaker.getTicket('b')).toMatchObject({ status: 'CANCELLED', cancelReason: 'elsewhere' })
  })

  test('a player may not queue twice in one queue, nor where one of the queues does not allow it', () => {
    const { matchmaker } = setUp({ queues })
    matchmaker.createTicket(again('a', 'duel', 'ann'))
    expect(() => matchmaker.createTicket(again('b', 'duel', 'ann'))).toThrow(PlayerBusy)
    expect(() => matchmaker.createTicket(again('b', 'strict', 'ann'))).toThrow(PlayerBusy)
    matchmaker.createTicket(again('c', 'strict', 'cas'))
    expect(() => matchmaker.createTicket(again('d', 'trio', 'cas'))).toThrow(expect.objectContaining({ ticketId: 'c' }))
  })
})

test('tickets of higher priority get the servers first', async () => {
  const { matchmaker, run, status } = setUp({ queues: [duel, trio], maxServers: 1 })
  matchmaker.createTicket({
    id: 'old',
    queue: 'duel',
    players: [
      { id: 'a', ip },
      { id: 'b', ip },
    ],
  })
  matchmaker.createTicket({ id: 'vip', queue: 'trio', priority: 1, players: ['c', 'd', 'e'].map((id) => ({ id, ip })) })
  await run(250)
  expect([status('old'), status('vip')]).toEqual(['SEARCHING', 'MATCH_FOUND'])
})
