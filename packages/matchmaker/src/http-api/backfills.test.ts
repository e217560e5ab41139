import { describe, expect, test } from 'vitest'
import { createTicketApi } from './ticket-api.js'
import { setUp } from './ticket-api.fixture.js'
import { assignment } from './ticket-service.fixture.js'

/** A match of ann and bob with a running server. */
const running = {
  matchId: 'm1',
  queue: 'duel',
  tag: 't',
  ticketIds: ['ticket-1', 'ticket-2'],
  playerIds: ['ann', 'bob'],
  at: 0,
  phase: 'running',
  requestId: 'r1',
  assignment,
} as const

const postOf = (path: string, body: object) =>
  new Request(`http://localhost${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

describe('backfills and matches through the backend API', () => {
  test('a backend creates a backfill, changes it with its version, and cancels it', async () => {
    const { call, service } = setUp()
    service.matches.push(running)
    const created = await call('backend', 'POST', '/backfills', {
      match_id: 'm1',
      teams: [{ name: 'red', slots: 2, players: [{ player_id: 'ann', attributes: { skill: 1 } }] }],
    })
    expect(created).toMatchObject({
      status: 201,
      json: {
        id: 'backfill-1',
        profile: 'duel',
        status: 'SEARCHING',
        tickets: {},
        assigned_ticket: null,
        attributes: { assignment: null },
        match_id: 'm1',
        version: 1,
        teams: [{ name: 'red', slots: 2, players: ['ann'] }],
      },
    })
    expect(
      (await call('backend', 'PATCH', '/backfills/backfill-1', { version: 1, teams: [{ name: 'red', slots: 1 }] }))
        .json,
    ).toMatchObject({ version: 2 })
    expect(
      await call('backend', 'PATCH', '/backfills/backfill-1', { version: 1, teams: [{ name: 'red', slots: 3 }] }),
    ).toMatchObject({ status: 409, json: { code: 'stale-version', version: 2 } })
    expect(await call('backend', 'POST', '/backfills', { match_id: 'm1' })).toMatchObject({
      status: 409,
      json: { backfill_id: 'backfill-1' },
    })
    expect((await call('backend', 'DELETE', '/backfills/backfill-1')).status).toBe(204)
    expect((await call('backend', 'GET', '/backfills/backfill-1')).json).toMatchObject({ status: 'CANCELLED' })
    expect((await call('backend', 'GET', '/backfills/nothing')).status).toBe(404)
  })

  test('players of a match count as left if a backend’s backfill does not list their tickets as present', async () => {
    const { call, service } = setUp()
    service.matches.push(running)
    const ask = (body: object) =>
      call('backend', 'POST', '/backfills', { profile: 'duel', attributes: { assignment }, ...body })
    expect((await ask({ tickets: {} })).status).toBe(400)
    expect((await ask({ tickets: { nothing: {} } })).status).toBe(404)
    expect((await ask({ profile: 'ranked', tickets: { 'ticket-1': {} } })).status).toBe(400)
    expect((await ask({ match_id: 'm1', tickets: { 'ticket-9': {} } })).status).toBe(400)
    expect(service.left).toEqual([])
    expect((await ask({ tickets: { 'ticket-1': { id: 'ticket-1', player_id: 'ann' } } })).status).toBe(201)
    expect(service.left).toEqual(['bob'])
  })

  test('a backfill request may list tickets of the player’s earlier match while that match is stopping', async () => {
    const { call, service } = setUp()
    service.matches.push({ ...running, matchId: 'm0', phase: 'stopping' }, running)
    const tickets = { 'ticket-1': { player_id: 'ann' }, 'ticket-2': { player_id: 'bob' } }
    expect((await call('backend', 'POST', '/backfills', { tickets })).json).toMatchObject({ match_id: 'm1' })
  })

  test('a repeated backfill request does not remove players who joined through the open backfill', async () => {
    const { call, service } = setUp()
    service.matches.push({ ...running, playerIds: ['ann'] })
    const ask = (id: string) =>
      call('backend', 'POST', '/backfills', { id, tickets: { 'ticket-1': { player_id: 'ann' } } })
    expect((await ask('backfill-1')).status).toBe(201)
    service.matches.splice(0, 1, { ...running, playerIds: ['ann', 'cleo'] })
    await ask('backfill-1')
    expect(service.left).toEqual([])
    service.cancelBackfill('backfill-1')
    await ask('backfill-2')
    expect(service.left).toEqual(['cleo'])
  })

  test('after a restart, a repeated backfill request does not remove players who joined through it', async () => {
    const { call, service, clock } = setUp()
    service.matches.push({ ...running, playerIds: ['ann'] })
    const body = { id: 'backfill-1', tickets: { 'ticket-1': { player_id: 'ann' } } }
    expect((await call('backend', 'POST', '/backfills', body)).status).toBe(201)
    service.matches.splice(0, 1, { ...running, playerIds: ['ann', 'cleo'] })
    const next = createTicketApi(service, { authenticate: () => ({ id: 'backend', role: 'backend' }), clock })
    await next(postOf('/backfills', body), { remoteAddress: '192.0.2.1' })
    expect(service.left).toEqual([])
  })

  test('a backfill request to another process does not remove players who joined by the open backfill', async () => {
    const { call, service, clock } = setUp()
    service.matches.push({ ...running, playerIds: ['ann'] })
    const body = { tickets: { 'ticket-1': { player_id: 'ann' } } }
    expect((await call('backend', 'POST', '/backfills', body)).status).toBe(201)
    service.matches.splice(0, 1, { ...running, playerIds: ['ann', 'cleo'] })
    const other = createTicketApi(service, { authenticate: () => ({ id: 'backend', role: 'backend' }), clock })
    const again = await other(postOf('/backfills', body), { remoteAddress: '192.0.2.1' })
    expect([again.status, service.left]).toEqual([409, []])
  })

  test('repeating a backfill request after it was filled does not remove the player who joined', async () => {
    const { call, service } = setUp()
    service.matches.push({ ...running, playerIds: ['ann'] })
    const body = { id: 'backfill-1', tickets: { 'ticket-1': { player_id: 'ann' } } }
    expect((await call('backend', 'POST', '/backfills', body)).status).toBe(201)
    service.fillBackfill('backfill-1')
    service.matches.splice(0, 1, { ...running, playerIds: ['ann', 'cleo'] })
    const again = await call('backend', 'POST', '/backfills', body)
    expect(again).toMatchObject({ status: 201, json: { id: 'backfill-1', status: 'HOST_ASSIGNED' } })
    expect(service.left).toEqual([])
  })

  test('tickets of players who joined by a backfill are accepted as tickets of the match', async () => {
    const { call, service } = setUp()
    const cleo = service.createTicket({ queue: 'duel', players: [{ id: 'cleo' }] })
    service.change(cleo.id, { status: 'HOST_ASSIGNED', matchId: 'm1' })
    service.matches.push({ ...running, ticketIds: ['ticket-8'], playerIds: ['ann', 'cleo', 'dan'] })
    const ask = (tickets: object) => call('backend', 'POST', '/backfills', { tickets })
    expect((await ask({ 'ticket-9': { player_id: 'zoe' } })).status).toBe(404)
    expect((await ask({ [cleo.id]: {}, 'ticket-9': { player_id: 'zoe' } })).status).toBe(404)
    expect((await ask({ 'ticket-8': { player_id: 'ann' }, 'ticket-9': { player_id: 'zoe' } })).status).toBe(400)
    expect((await ask({ [cleo.id]: {}, 'ticket-9': { player_id: 'dan' } })).status).toBe(201)
    expect(service.left).toEqual(['ann'])
  })

  test.each([
    ['nobody, if a listed ticket is unknown and names no player', { 'ticket-1': {} }, []],
    [
      'nobody, if one of the listed tickets is unknown and names no player',
      { 'ticket-1': { player_id: 'ann' }, 'ticket-2': {} },
      [],
    ],
    ['players who are in no listed ticket', { 'ticket-2': { players: ['bob'] } }, ['ann']],
    [
      'nobody, if all tickets of the match are listed',
      { 'ticket-1': { player_id: 'ann' }, 'ticket-2': { player_id: 'bob' } },
      [],
    ],
    ['nobody, if no listed player is in the match', { 'ticket-1': { player_id: 'zoe' } }, []],
  ])('a backfill request that lists the present tickets removes from the match: %s', async (_, tickets, left) => {
    const { call, service } = setUp()
    service.matches.push(running)
    expect((await call('backend', 'POST', '/backfills', { tickets })).status).toBe(201)
    expect(service.left).toEqual(left)
  })

  test('a backend reports players who left a match, and stops the match', async () => {
    const { call, service } = setUp()
    service.matches.push(running)
    expect((await call('backend', 'POST', '/matches/m1/players-left', { player_ids: ['ann'] })).status).toBe(204)
    expect(service.left).toEqual(['ann'])
    expect((await call('backend', 'POST', '/matches/m2/players-left', { player_ids: ['ann'] })).status).toBe(404)
    expect((await call('backend', 'DELETE', '/matches/m1')).status).toBe(202)
    expect(service.stopped).toEqual(['m1'])
    expect((await call('backend', 'DELETE', '/matches/m2')).status).toBe(404)
  })
})
