import { describe, expect, test } from 'vitest'
import { setUpReal } from './ticket-api.fixture.js'

const deploy = { application: 'game', version: '1' }
const teams = [{ name: 'side', count: 2, size: 2 }]
const queues = [{ name: 'teams', teams, acceptance: { withinMs: 10_000 }, deploy }]
const player = (id: string) => ({ player_id: id, player_ip: '198.51.100.7' })
const body = {
  id: 'm',
  profile: 'teams',
  teams: [
    { name: 'side-1', players: [player('ann'), player('ben')] },
    { name: 'side-2', players: [player('cas')] },
  ],
}

describe('POST /matches', () => {
  test('POST /matches creates a match whose players read, accept and follow their own tickets', async () => {
    const { call, service, clock } = setUpReal(queues)
    await service.tick()
    const made = await call('backend', 'POST', '/matches', body)
    expect(made).toMatchObject({
      status: 201,
      json: {
        id: 'm',
        profile: 'teams',
        match_id: expect.any(String),
        player_tickets: [
          { id: 'm-1.0', group_id: 'm-1', player_id: 'ann', team_id: 'side-1', status: 'MATCH_FOUND' },
          { id: 'm-1.1', player_id: 'ben', team_id: 'side-1' },
          { id: 'm-2', player_id: 'cas', team_id: 'side-2', acceptance: { accepted: false } },
        ],
      },
    })
    expect((await call('backend', 'POST', '/matches', body)).json).toEqual(made.json)
    expect((await call('ann', 'GET', '/tickets/m-2')).status).toBe(404)
    const own = { ann: 'm-1.0', ben: 'm-1.1', cas: 'm-2' }
    for (const [who, id] of Object.entries(own))
      expect((await call(who, 'POST', `/tickets/${id}/accept`)).status).toBe(200)
    for (let passed = 0; passed < 7000; passed += 500) {
      await service.tick()
      await clock.advance(500)
    }
    expect((await call('cas', 'GET', '/tickets/m-2')).json).toMatchObject({
      status: 'HOST_ASSIGNED',
      assignment: { fqdn: expect.any(String) },
    })
  })

  test('POST /matches creates a match without acceptance if the backend requests that', async () => {
    const { call } = setUpReal(queues)
    const { json } = await call('backend', 'POST', '/matches', { ...body, skip_acceptance: true })
    expect(json).toMatchObject({ player_tickets: [{ waiting_for: 'servers' }, {}, {}] })
    expect(JSON.stringify(json)).not.toContain('198.51.100')
  })

  test('POST /matches with busy players creates no match, and the error names these players', async () => {
    const { call } = setUpReal(queues)
    const { json } = await call('cas', 'POST', '/tickets', { profile: 'teams' })
    expect(await call('backend', 'POST', '/matches', body)).toMatchObject({
      status: 409,
      json: { code: 'player-busy', ticket_id: (json as { id: string }).id, detail: expect.stringContaining('"cas"') },
    })
    expect((await call('backend', 'GET', '/tickets/m-1')).status).toBe(404)
  })

  test.each([
    ['id', { ...body, id: 'a b' }],
    ['profile', { ...body, profile: 'nothing' }],
    ['teams.0.name', { ...body, teams: [{ name: 'red', players: [player('ann')] }] }],
    ['teams.0.players.0.player_id', { ...body, teams: [{ name: 'side-1', players: [{ player_ip: '198.51.100.7' }] }] }],
    ['player_ip', { ...body, teams: [{ name: 'side-1', players: [{ player_id: 'ann' }] }] }],
    [
      'teams.0.players.0.attributes.x',
      { ...body, teams: [{ name: 'side-1', players: [{ ...player('ann'), attributes: { x: {} } }] }] },
    ],
    [
      'teams.1.players.0.player_id',
      {
        ...body,
        teams: [
          { name: 'side-1', players: [player('ann')] },
          { name: 'side-2', players: [player('ann')] },
        ],
      },
    ],
  ])('POST /matches refuses a body with a wrong %s, naming this field: %j', async (field, given) => {
    const { call } = setUpReal(queues)
    expect(await call('backend', 'POST', '/matches', given)).toMatchObject({ status: 400, json: { field } })
  })
})
