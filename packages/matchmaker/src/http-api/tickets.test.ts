import { describe, expect, test } from 'vitest'
import { setUp } from './ticket-api.fixture.js'
import { assignment } from './ticket-service.fixture.js'

const duel = { profile: 'duel', attributes: { skill: 1200, maps: ['ice'] } }
describe('a ticket in the HTTP API', () => {
  test('POST /tickets creates a ticket with the address of the request, and answers in snake case', async () => {
    const { call, service } = setUp()
    const { status, json, headers } = await call('ann', 'POST', '/tickets', duel, { from: '203.0.113.7' })
    expect(status).toBe(201)
    expect(headers.get('cache-control')).toBe('no-store')
    expect(json).toEqual({
      id: 'ticket-1',
      profile: 'duel',
      created_at: '2026-01-31T08:15:00.000Z',
      status: 'SEARCHING',
      group_id: 'ticket-1',
      team_id: null,
      match_id: null,
      assignment: null,
      player_id: 'ann',
      version: 1,
      waiting_for: 'players',
      estimated_wait: null,
    })
    expect(service.players.get('ticket-1')).toEqual([
      { id: 'ann', ip: '203.0.113.7', attributes: { skill: 1200, maps: ['ice'] } },
    ])
  })

  test('a ticket shows its match and then its assignment, after which DELETE is refused', async () => {
    const { call, service } = setUp()
    await call('ann', 'POST', '/tickets', duel)
    service.change('ticket-1', {
      status: 'MATCH_FOUND',
      matchId: 'm1',
      queue: 'duel',
      team: 'red',
      waitingFor: undefined,
    })
    expect((await call('ann', 'GET', '/tickets/ticket-1')).json).toMatchObject({
      status: 'MATCH_FOUND',
      match_id: 'm1',
      team_id: 'red',
      version: 2,
    })
    service.change('ticket-1', { status: 'HOST_ASSIGNED', assignment })
    expect((await call('ann', 'GET', '/tickets/ticket-1')).json).toMatchObject({
      status: 'HOST_ASSIGNED',
      assignment: {
        fqdn: 'abc.example.com',
        public_ip: '198.51.100.9',
        ports: { game: { internal: 7777, external: 30001, protocol: 'UDP', link: 'abc.example.com:30001' } },
        location: { city: 'Oslo', administrative_division: null },
      },
    })
    expect(await call('ann', 'DELETE', '/tickets/ticket-1')).toMatchObject({
      status: 409,
      json: { code: 'too-late', match_id: 'm1' },
    })
  })

  test('DELETE cancels a ticket, even with a JSON content type and no body', async () => {
    const { call } = setUp()
    await call('ann', 'POST', '/tickets', duel)
    const headers = { 'content-type': 'application/json' }
    expect((await call('ann', 'DELETE', '/tickets/ticket-1', undefined, { headers })).status).toBe(204)
    expect((await call('ann', 'GET', '/tickets/ticket-1', undefined, { headers })).json).toMatchObject({
      status: 'CANCELLED',
      cancel_reason: 'cancelled',
    })
    expect((await call('ann', 'DELETE', '/tickets/ticket-1')).status).toBe(204)
  })

  test('POST /tickets accepts null for unknown attributes and addresses', async () => {
    const { call, service } = setUp()
    expect((await call('ann', 'POST', '/tickets', { profile: 'duel', attributes: null, player_ip: null })).status).toBe(
      201,
    )
    expect(service.players.get('ticket-1')).toEqual([{ id: 'ann', ip: '192.0.2.1' }])
  })

  test('a ticket is created with `profile` or `profiles`, and refused with both fields or neither', async () => {
    const { call } = setUp()
    const { json } = await call('ann', 'POST', '/tickets', { profiles: ['duel', 'ranked'], attributes: { skill: 1 } })
    expect(json).toMatchObject({ profile: 'duel', profiles: ['duel', 'ranked'] })
    expect((await call('bob', 'POST', '/tickets', { ...duel, profiles: ['duel'] })).json).toMatchObject({
      status: 400,
      field: 'profile',
    })
    expect((await call('bob', 'POST', '/tickets', { attributes: {} })).json).toMatchObject({
      status: 400,
      field: 'profile',
    })
  })

  test.each([
    [
      'an unknown profile',
      { profile: 'chess' },
      400,
      { code: 'unknown-profile', field: 'profile', message: 'There is no queue "chess".' },
    ],
    [
      'a missing attribute',
      { profile: 'ranked' },
      400,
      { code: 'invalid-ticket', field: 'attributes.skill', message: 'attributes.skill: must be a number' },
    ],
    ['an unknown key', { ...duel, colour: 'red' }, 400, { code: 'invalid-input', field: 'colour' }],
    ['attributes that are a list', { profile: 'duel', attributes: [] }, 400, { field: 'attributes' }],
    [
      'beacons that are a list',
      { profile: 'duel', attributes: { beacons: [1] } },
      400,
      { field: 'attributes.beacons' },
    ],
    [
      'a latency that is text',
      { profile: 'duel', attributes: { beacons: { Oslo: '12' } } },
      400,
      { field: 'attributes.beacons.Oslo' },
    ],
  ])(
    'an invalid POST /tickets is refused with a problem document that names the field: %s',
    async (_, body, status, problem) => {
      const answer = await setUp().call('ann', 'POST', '/tickets', body)
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
      expect(answer).toMatchObject({ status, json: { status, ...problem } })
    },
  )

  test('POST /tickets is refused with the id of the other ticket if its player already waits', async () => {
    const { call } = setUp()
    await call('ann', 'POST', '/tickets', duel)
    expect(await call('ann', 'POST', '/tickets', duel)).toMatchObject({
      status: 409,
      json: { code: 'player-busy', ticket_id: 'ticket-1' },
    })
  })

  test('GET /explain explains a waiting ticket', async () => {
    const { call } = setUp()
    await call('ann', 'POST', '/tickets', duel)
    expect((await call('ann', 'GET', '/tickets/ticket-1/explain')).json).toEqual({
      ticket_id: 'ticket-1',
      summary: 'waits for others',
      waited_ms: 5,
      waiting_for: 'players',
      queues: [],
    })
  })

  test('a player can accept or decline a match that awaits acceptance', async () => {
    const { call, service, clock } = setUp()
    await call('ann', 'POST', '/tickets', duel)
    expect(await call('ann', 'POST', '/tickets/ticket-1/accept')).toMatchObject({
      status: 409,
      json: { code: 'nothing-to-accept' },
    })
    const acceptance = { until: clock.now() + 10_000, accepted: [] }
    service.change('ticket-1', { status: 'MATCH_FOUND', matchId: 'm2', acceptance })
    expect(await call('ann', 'POST', '/tickets/ticket-1/accept', { match_id: 'm1' })).toMatchObject({
      status: 409,
      json: { code: 'nothing-to-accept' },
    })
    expect((await call('ann', 'GET', '/tickets/ticket-1')).json).toMatchObject({
      acceptance: { until: '2026-01-31T08:15:10.000Z', accepted: false },
    })
    for (const body of [undefined, { match_id: 'm2' }])
      expect((await call('ann', 'POST', '/tickets/ticket-1/accept', body)).json).toMatchObject({
        acceptance: { accepted: true },
      })
    service.change('ticket-1', { acceptance })
    expect((await call('ann', 'POST', '/tickets/ticket-1/decline')).json).toMatchObject({
      status: 'CANCELLED',
      cancel_reason: 'declined',
    })
  })
})
