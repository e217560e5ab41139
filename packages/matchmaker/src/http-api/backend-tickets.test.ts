import { describe, expect, test } from 'vitest'
import { setUp } from './ticket-api.fixture.js'

const duel = { profile: 'duel', attributes: { skill: 1200, maps: ['ice'] } }
describe('creating tickets as a backend', () => {
  test('a backend, unlike a player, may set id, player, address, priority and coordinates of a ticket', async () => {
    const { call, service } = setUp()
    const { json } = await call('backend', 'POST', '/tickets', {
      ...duel,
      id: 'own-1',
      player_id: 'ann',
      player_ip: '203.0.113.7',
      priority: 5,
      coordinates: { latitude: 1, longitude: 2 },
    })
    expect(json).toMatchObject({ id: 'own-1', player_id: 'ann' })
    expect(service.getTicket('own-1')).toMatchObject({ priority: 5 })
    expect(service.players.get('own-1')).toEqual([
      { id: 'ann', ip: '203.0.113.7', coordinates: { latitude: 1, longitude: 2 }, attributes: duel.attributes },
    ])
    expect(await call('backend', 'POST', '/tickets', duel)).toMatchObject({ status: 400, json: { field: 'player_ip' } })
    expect(await call('backend', 'POST', '/tickets', { ...duel, player_ip: 'home' })).toMatchObject({
      status: 400,
      json: { field: 'player_ip' },
    })
  })

  test('a backend can create a batch of tickets, and each ticket is accepted or refused separately', async () => {
    const { call } = setUp()
    const of = (player_id: string, more: object = {}) => ({ ...duel, player_id, player_ip: '203.0.113.7', ...more })
    const { status, json } = await call('backend', 'POST', '/tickets/batch', {
      tickets: [of('ann'), of('bob', { profile: 'chess' }), 7, of('cleo'), of('ann'), of('dan', { player_ip: '' })],
    })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      results: [
        { ticket: { id: 'ticket-1', player_id: 'ann' } },
        { error: { status: 400, code: 'unknown-profile' } },
        { error: { status: 400, code: 'invalid-input' } },
        { ticket: { id: 'ticket-2', player_id: 'cleo' } },
        { error: { status: 409, code: 'player-busy', ticket_id: 'ticket-1' } },
        { error: { status: 400, field: 'player_ip' } },
      ],
    })
  })

  test('an unexpected error of one ticket of a batch answers 500 for that ticket, and is reported', async () => {
    const { call, service, errors } = setUp()
    const cause = new Error('a lookup failed')
    service.createTickets = (inputs) => inputs.map(() => ({ error: cause as never }))
    const tickets = [{ ...duel, player_id: 'ann', player_ip: '203.0.113.7' }]
    const { json } = await call('backend', 'POST', '/tickets/batch', { tickets })
    expect(json).toMatchObject({ results: [{ error: { status: 500, code: 'internal-error' } }] })
    expect(errors).toEqual([cause])
  })
})
