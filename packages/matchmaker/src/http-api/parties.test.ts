import { describe, expect, test } from 'vitest'
import { setUp } from './ticket-api.fixture.js'

describe('a party created by POST /group-tickets', () => {
  const party = {
    player_tickets: [
      { profile: 'duel', player_id: 'ann', player_ip: '203.0.113.1', attributes: { skill: 1 } },
      { profile: 'duel', player_id: 'bob', player_ip: '203.0.113.2', attributes: { skill: 2 } },
    ],
  }

  test('POST /group-tickets creates one ticket for each player of the party, in their order', async () => {
    const { call, service } = setUp()
    const { status, json } = await call('backend', 'POST', '/group-tickets', party)
    expect(status).toBe(201)
    expect(json).toMatchObject({
      player_tickets: [
        { id: 'ticket-1.0', group_id: 'ticket-1', player_id: 'ann' },
        { id: 'ticket-1.1', group_id: 'ticket-1', player_id: 'bob' },
      ],
    })
    expect(service.players.get('ticket-1')?.map(({ id, ip }) => [id, ip])).toEqual([
      ['ann', '203.0.113.1'],
      ['bob', '203.0.113.2'],
    ])
    expect((await call('bob', 'GET', '/tickets/ticket-1.1')).json).toMatchObject({ id: 'ticket-1.1', player_id: 'bob' })
    expect((await call('bob', 'GET', '/tickets/ticket-1')).json).toMatchObject({ id: 'ticket-1.1' })
    expect((await call('bob', 'GET', '/tickets/ticket-1.0')).status).toBe(404)
    expect((await call('bob', 'DELETE', '/tickets/ticket-1.1')).status).toBe(204)
    expect((await call('ann', 'GET', '/tickets/ticket-1.0')).json).toMatchObject({ status: 'CANCELLED' })
  })

  test('POST /group-tickets is refused with the field of the player at fault', async () => {
    const { call } = setUp()
    const [ann, bob] = party.player_tickets
    const answer = await call('backend', 'POST', '/group-tickets', {
      player_tickets: [
        { ...ann, profile: 'ranked' },
        { ...bob, profile: 'ranked', attributes: {} },
      ],
    })
    expect(answer).toMatchObject({
      status: 400,
      json: {
        field: 'player_tickets.1.attributes.skill',
        message: 'player_tickets.1.attributes.skill: must be a number',
      },
    })
    const mixed = await call('backend', 'POST', '/group-tickets', {
      player_tickets: [ann, { ...bob, profile: 'ranked' }],
    })
    expect(mixed).toMatchObject({ status: 400, json: { field: 'player_tickets.1.profile' } })
  })
})
