import { describe, expect, test } from 'vitest'
import { Unavailable } from '../errors.js'
import { duel } from '../matchmaker.fixture.js'
import type { PlayerView } from './schemas.js'
import { setUp, setUpReal } from './ticket-api.fixture.js'
import { assignment } from './ticket-service.fixture.js'

type World = Pick<ReturnType<typeof setUp>, 'call'>

const me = async ({ call }: World, who: string) => (await call(who, 'GET', '/me')).json as PlayerView
const create = async ({ call }: World, who: string) =>
  (await call(who, 'POST', '/tickets', { profile: 'duel' })).json as { readonly id: string }
const nothing = { tickets: [], groups: [], matches: [], seats: [], lobbies: [] }

describe('GET /me', () => {
  test('GET /me returns only empty fields for a player without ticket, group, match or lobby', async () => {
    expect(await me(setUp(), 'ann')).toEqual({ player_id: 'ann', ...nothing })
  })

  test('GET /me returns the ticket from its creation to the end of its match, and the server address', async () => {
    const world = setUpReal([duel])
    const { service, clock } = world
    const run = async (ms: number) => {
      for (let passed = 0; passed < ms; passed += 250) {
        await service.tick()
        await clock.advance(250)
      }
    }
    const ann = await create(world, 'ann')
    expect(await me(world, 'ann')).toMatchObject({ tickets: [{ id: ann.id, status: 'SEARCHING' }], matches: [] })
    await create(world, 'ben')
    await run(500)
    expect(await me(world, 'ann')).toMatchObject({ tickets: [{ id: ann.id, status: 'MATCH_FOUND' }], matches: [] })
    await run(10_000)
    await clock.advance(3_600_000)
    await service.tick()
    const playing = await me(world, 'ann')
    const match = { profile: 'duel', team_id: 'team', ticket_id: ann.id, assignment: { fqdn: 'r1.example.com' } }
    expect(playing).toMatchObject({ tickets: [{ id: ann.id, status: 'HOST_ASSIGNED' }], matches: [match] })
    service.playersLeft(playing.matches[0]?.match_id ?? '', ['ann'])
    expect(await me(world, 'ann')).toEqual({ player_id: 'ann', ...nothing })
    expect((await me(world, 'ben')).matches).toHaveLength(1)
    await service.stopMatch(playing.matches[0]?.match_id ?? '').catch(() => {})
    expect((await me(world, 'ben')).matches).toEqual([])
  })

  test('GET /me returns to each player of a party their own seat', async () => {
    const world = setUp()
    const player_tickets = ['ann', 'bob'].map((id) => ({ profile: 'duel', player_id: id, player_ip: '203.0.113.1' }))
    await world.call('backend', 'POST', '/group-tickets', { player_tickets })
    expect((await me(world, 'bob')).tickets).toMatchObject([{ id: 'ticket-1.1', player_id: 'bob' }])
    world.service.change('ticket-1', { status: 'HOST_ASSIGNED', matchId: 'm1', team: 'red', assignment })
    const found = await me(world, 'bob')
    expect(found.matches).toMatchObject([{ match_id: 'm1', team_id: 'red', ticket_id: 'ticket-1.1' }])
    expect(JSON.stringify(found)).not.toMatch(/ann|203\.0\.113/)
  })

  test('GET /me returns the group while it gathers, searches and plays', async () => {
    const world = setUp()
    const { call, service } = world
    const body = { profile: 'duel', is_ready: false }
    const ann = (await call('ann', 'POST', '/groups', body)).json as { member_id: string; group_id: string }
    await call('bob', 'POST', `/groups/${ann.group_id}/members`, { profile: 'duel', is_ready: true })
    const place = { member_id: ann.member_id, group_id: ann.group_id }
    expect(await me(world, 'ann')).toMatchObject({ tickets: [], groups: [{ ...place, status: 'FORMING' }] })
    await call('ann', 'PATCH', `/groups/${ann.group_id}/members/${ann.member_id}`, { is_ready: true })
    const searching = await me(world, 'ann')
    const own = { ...place, status: 'SEARCHING', ticket_id: `${ann.group_id}.0` }
    expect(searching).toMatchObject({ tickets: [{ id: `${ann.group_id}.0` }], groups: [own] })
    expect((await me(world, 'bob')).groups).toMatchObject([{ ticket_id: `${ann.group_id}.1` }])
    service.change(ann.group_id, { status: 'HOST_ASSIGNED', matchId: 'm1', assignment })
    expect((await me(world, 'ann')).groups).toMatchObject([{ ...place, status: 'HOST_ASSIGNED' }])
    service.change(ann.group_id, { status: 'CANCELLED', assignment: undefined })
    expect(await me(world, 'ann')).toMatchObject(nothing)
  })

  test('GET /me returns the player’s lobbies, and still returns a match if the lobbies cannot be read', async () => {
    let isAway = false
    const asked: string[] = []
    const world = setUp({
      lobbies: async (playerId) => {
        asked.push(playerId)
        if (isAway) throw new Error('no lobbies today')
        return [{ lobbyId: 'l1', phase: 'open', code: 'SECRET' }]
      },
    })
    expect(await me(world, 'ann')).toMatchObject({ lobbies: [{ lobby_id: 'l1', phase: 'open' }] })
    expect(asked).toEqual(['ann'])
    isAway = true
    await create(world, 'ann')
    const { tickets, lobbies } = await me(world, 'ann')
    expect([tickets.length, lobbies]).toEqual([1, null])
    expect(world.errors).toMatchObject([{ message: 'no lobbies today' }])
  })

  test('GET /me returns a match even if seats on listed servers cannot be read, e.g. without a leader', async () => {
    const world = setUp()
    await create(world, 'ann')
    expect(await me(world, 'ann')).toMatchObject({ seats: [] })
    world.service.seatsOf = () => {
      throw new Unavailable('no process leads')
    }
    const found = await me(world, 'ann')
    expect([found.tickets.length, 'seats' in found]).toEqual([1, false])
    expect(world.errors).toMatchObject([{ message: 'no process leads' }])
  })

  test('GET /me is refused to backends, and returns nothing about other players', async () => {
    const world = setUp()
    await create(world, 'ann')
    expect(await me(world, 'eve')).toMatchObject(nothing)
    expect((await world.call(undefined, 'GET', '/me')).status).toBe(401)
    expect(await world.call('backend', 'GET', '/me')).toMatchObject({ status: 403, json: { code: 'players-only' } })
    expect((await world.call('eve', 'GET', '/me?player_id=ann')).status).toBe(400)
  })
})

describe('GET /players/{player_id}', () => {
  test('GET /players/{player_id} returns to a backend the same as GET /me, for any characters in the id', async () => {
    const world = setUp()
    const id = 'an/n %1'
    await world.call('backend', 'POST', '/tickets', { profile: 'duel', player_id: id, player_ip: '203.0.113.1' })
    const found = await world.call('backend', 'GET', `/players/${encodeURIComponent(id)}`)
    expect(found).toMatchObject({ status: 200, json: { player_id: id, tickets: [{ id: 'ticket-1', player_id: id }] } })
  })
})

test('GET /me returns a match whose tickets are unknown, for example after a restart', async () => {
  const world = setUp()
  world.service.findPlayer = () => ({ tickets: [], match: { matchId: 'm1', queue: 'duel', assignment } })
  const match = { match_id: 'm1', profile: 'duel', team_id: null, ticket_id: null }
  expect(await me(world, 'ann')).toMatchObject({
    tickets: [],
    matches: [{ ...match, assignment: { fqdn: 'abc.example.com' } }],
  })
  world.service.findPlayer = () => ({ tickets: [], match: { matchId: 'm1', queue: 'duel' } })
  expect((await me(world, 'ann')).matches).toEqual([{ ...match, assignment: null }])
})
