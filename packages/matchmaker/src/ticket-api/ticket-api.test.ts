import { describe, expect, test } from 'vitest'
import { setUp } from './ticket-api.fixture.js'
import { assignment } from './ticket-service.fixture.js'

const duel = { profile: 'duel', attributes: { skill: 1200, maps: ['ice'] } }
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

describe('a ticket', () => {
  test('is created from the address of the request, and told in the words of existing clients', async () => {
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
    })
    expect(service.players.get('ticket-1')).toEqual([
      { id: 'ann', ip: '203.0.113.7', attributes: { skill: 1200, maps: ['ice'] } },
    ])
  })

  test('goes through its states', async () => {
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

  test('is cancelled, also with the JSON type and no body that existing clients send', async () => {
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

  test('may be what existing clients send: null for what they do not know', async () => {
    const { call, service } = setUp()
    expect((await call('ann', 'POST', '/tickets', { profile: 'duel', attributes: null, player_ip: null })).status).toBe(
      201,
    )
    expect(service.players.get('ticket-1')).toEqual([{ id: 'ann', ip: '192.0.2.1' }])
  })

  test('may wait in several profiles', async () => {
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
      'no such profile',
      { profile: 'chess' },
      400,
      { code: 'unknown-profile', field: 'profile', message: 'there is no queue "chess"' },
    ],
    [
      'an attribute missing',
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
  ])('is refused with a problem document that names the key: %s', async (_, body, status, problem) => {
    const answer = await setUp().call('ann', 'POST', '/tickets', body)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(answer).toMatchObject({ status, json: { status, ...problem } })
  })

  test('of a player who waits already is refused, naming the other', async () => {
    const { call } = setUp()
    await call('ann', 'POST', '/tickets', duel)
    expect(await call('ann', 'POST', '/tickets', duel)).toMatchObject({
      status: 409,
      json: { code: 'player-busy', ticket_id: 'ticket-1' },
    })
  })

  test('is explained', async () => {
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

  test('accepts and declines a match that asks for it', async () => {
    const { call, service, clock } = setUp()
    await call('ann', 'POST', '/tickets', duel)
    expect(await call('ann', 'POST', '/tickets/ticket-1/accept')).toMatchObject({
      status: 409,
      json: { code: 'nothing-to-accept' },
    })
    const acceptance = { until: clock.now() + 10_000, accepted: [] }
    service.change('ticket-1', { status: 'MATCH_FOUND', acceptance })
    expect((await call('ann', 'GET', '/tickets/ticket-1')).json).toMatchObject({
      acceptance: { until: '2026-01-31T08:15:10.000Z', accepted: false },
    })
    expect((await call('ann', 'POST', '/tickets/ticket-1/accept')).json).toMatchObject({
      acceptance: { accepted: true },
    })
    service.change('ticket-1', { acceptance })
    expect((await call('ann', 'POST', '/tickets/ticket-1/decline')).json).toMatchObject({
      status: 'CANCELLED',
      cancel_reason: 'declined',
    })
  })
})

describe('waiting for a ticket', () => {
  const waiting = async () => {
    const world = setUp()
    await world.call('ann', 'POST', '/tickets', duel)
    return world
  }
  const settled = async (turns = 20) => {
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }

  test('by long poll ends with the change', async () => {
    const { api, call, service } = await waiting()
    const polled = call('ann', 'GET', '/tickets/ticket-1?wait=25')
    await settled()
    expect(api.counts().waiting).toBe(1)
    service.change('ticket-1', { status: 'MATCH_FOUND' })
    expect((await polled).json).toMatchObject({ status: 'MATCH_FOUND', version: 2 })
    expect(api.counts().waiting).toBe(0)
  })

  test('by long poll ends with the time', async () => {
    const { api, call, clock } = await waiting()
    const polled = call('ann', 'GET', '/tickets/ticket-1?wait=25&version=1')
    await settled()
    await clock.advance(24_999)
    expect(api.counts().waiting).toBe(1)
    await clock.advance(1)
    expect((await polled).json).toMatchObject({ status: 'SEARCHING', version: 1 })
    expect(api.counts().waiting).toBe(0)
  })

  test('by long poll misses nothing between two polls, and does not wait for what has ended', async () => {
    const { api, call, service } = await waiting()
    service.change('ticket-1', { status: 'MATCH_FOUND' })
    expect((await call('ann', 'GET', '/tickets/ticket-1?wait=25&version=1')).json).toMatchObject({ version: 2 })
    service.change('ticket-1', { status: 'CANCELLED' })
    expect((await call('ann', 'GET', '/tickets/ticket-1?wait=25')).json).toMatchObject({ status: 'CANCELLED' })
    expect(api.counts().waiting).toBe(0)
  })

  test('by long poll ends when the client goes', async () => {
    const { api, call, errors } = await waiting()
    const leaving = new AbortController()
    const polled = call('ann', 'GET', '/tickets/ticket-1?wait=25', undefined, { signal: leaving.signal })
    await settled()
    leaving.abort()
    expect((await polled).status).toBe(499)
    expect(api.counts().waiting).toBe(0)
    expect(errors).toEqual([])
  })

  test.each(['31', '-1', 'x', '1.5'])('for %s seconds is refused', async (wait) => {
    const { call } = await waiting()
    expect(await call('ann', 'GET', `/tickets/ticket-1?wait=${wait}`)).toMatchObject({
      status: 400,
      json: { field: 'wait' },
    })
  })

  test('by events gives the ticket with every change, until it ends', async () => {
    const { api, request, service } = await waiting()
    const response = await request('ann', 'GET', '/tickets/ticket-1/events')
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(api.counts().waiting).toBe(1)
    const text = response.text()
    await settled()
    service.change('ticket-1', { status: 'MATCH_FOUND' })
    await settled()
    service.change('ticket-1', { status: 'HOST_ASSIGNED', assignment })
    const events = (await text).split('\n\n').filter((part) => part.startsWith('id: '))
    expect(
      events.map((event) => [
        /^id: (\d+)/m.exec(event)?.[1],
        /^event: (\w+)/m.exec(event)?.[1],
        /"status":"(\w+)"/.exec(event)?.[1],
      ]),
    ).toEqual([
      ['1', 'ticket', 'SEARCHING'],
      ['2', 'ticket', 'MATCH_FOUND'],
      ['3', 'ticket', 'HOST_ASSIGNED'],
    ])
    expect(api.counts().waiting).toBe(0)
  })

  test('by events goes on where it broke off', async () => {
    const { request, service } = await waiting()
    service.change('ticket-1', { status: 'MATCH_FOUND' })
    const resumed = (last: string) =>
      request('ann', 'GET', '/tickets/ticket-1/events', undefined, {
        headers: { 'last-event-id': last },
      })
    const missed = await resumed('1')
    const current = await resumed('2')
    service.change('ticket-1', { status: 'CANCELLED' })
    const ids = (text: string) => [...text.matchAll(/^id: (\d+)/gm)].map((match) => match[1])
    // A stream reads the next version once the last event is consumed, and sends the ticket as it is then.
    expect(ids(await missed.text())).toEqual(['2', '3'])
    expect(ids(await current.text())).toEqual(['3'])
    expect((await resumed('3')).status).toBe(204)
  })

  test('by events that nobody reads any more is over', async () => {
    const { api, request } = await waiting()
    const response = await request('ann', 'GET', '/tickets/ticket-1/events')
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await reader.cancel()
    expect(api.counts().waiting).toBe(0)
    const head = await request('ann', 'HEAD', '/tickets/ticket-1/events')
    await settled()
    expect([head.status, api.counts().waiting]).toEqual([200, 0])
  })
})

describe('a party', () => {
  const party = {
    player_tickets: [
      { profile: 'duel', player_id: 'ann', player_ip: '203.0.113.1', attributes: { skill: 1 } },
      { profile: 'duel', player_id: 'bob', player_ip: '203.0.113.2', attributes: { skill: 2 } },
    ],
  }

  test('has a ticket for each of its players, in their order', async () => {
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

  test('is refused naming the player', async () => {
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

describe('a backend', () => {
  test('creates tickets for others, with what only it may say', async () => {
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

  test('creates many at once: those that are refused do not keep the others from it', async () => {
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

  test('asks for more players for a match, changes that, and ends it', async () => {
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

  test('may ask as existing servers do: by the tickets that are there, and whoever is missing has left', async () => {
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

  test('by tickets whose first server failed and is being stopped: for the match that runs', async () => {
    const { call, service } = setUp()
    service.matches.push({ ...running, matchId: 'm0', phase: 'stopping' }, running)
    const tickets = { 'ticket-1': { player_id: 'ann' }, 'ticket-2': { player_id: 'bob' } }
    expect((await call('backend', 'POST', '/backfills', { tickets })).json).toMatchObject({ match_id: 'm1' })
  })

  test('again while the first one is open: whoever came by that in the meantime, and is not named, has not left', async () => {
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

  test('also by the tickets of those who came later, which are not among those that were matched', async () => {
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
    ['whose players are not known any more', { 'ticket-1': {} }, []],
    ['of which one says nothing, and is not known any more', { 'ticket-1': { player_id: 'ann' }, 'ticket-2': {} }, []],
    ['with the players of the server’s variables', { 'ticket-2': { players: ['bob'] } }, ['ann']],
    ['all of them', { 'ticket-1': { player_id: 'ann' }, 'ticket-2': { player_id: 'bob' } }, []],
    ['of nobody who is in the match', { 'ticket-1': { player_id: 'zoe' } }, []],
  ])('by tickets %s', async (_, tickets, left) => {
    const { call, service } = setUp()
    service.matches.push(running)
    expect((await call('backend', 'POST', '/backfills', { tickets })).status).toBe(201)
    expect(service.left).toEqual(left)
  })

  test('says who has left, and when it is over', async () => {
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

describe('a game server', () => {
  test('says by its own secret that players may come', async () => {
    const { call } = setUp()
    const ready = async (secret: string | undefined, match_id: string) =>
      (await call(secret, 'POST', '/server-ready', { match_id })).status
    expect(await Promise.all([ready('hush', 'm1'), ready('Bearer hush', 'm1')])).toEqual([204, 204])
    expect(
      await Promise.all([ready('loud', 'm1'), ready('hush', 'm2'), ready(undefined, 'm1'), ready('backend', 'm1')]),
    ).toEqual([403, 403, 403, 403])
  })
})

describe('about itself', () => {
  test('the API says what it offers', async () => {
    const { call } = setUp({ basePath: '/mm' })
    const { json } = await call(undefined, 'GET', '/mm/openapi.json')
    const document = json as { openapi: string; paths: Record<string, object>; components: { schemas: object } }
    expect(document.openapi).toBe('3.1.0')
    expect(Object.keys(document.paths)).toEqual(
      expect.arrayContaining(['/mm/tickets', '/mm/tickets/{ticket_id}/events', '/mm/groups/{group_id}/members']),
    )
    expect(Object.keys(document.components.schemas)).toEqual(
      expect.arrayContaining(['Ticket', 'Assignment', 'Group', 'Member', 'Backfill', 'Problem']),
    )
  })

  test('the monitor says whether all is well, and looks at most once a second', async () => {
    const { call, service, clock } = setUp({ beacons: () => Promise.reject(new Error('down')) })
    expect((await call(undefined, 'GET', '/monitor')).json).toEqual({
      status: 'healthy',
      healthy_components: 3,
      unhealthy_components: 0,
      message: 'all is well',
    })
    await call('ann', 'GET', '/locations/beacons')
    service.pausedUntil = clock.now() + 5000
    expect((await call(undefined, 'GET', '/monitor')).json).toMatchObject({
      unhealthy_components: 1,
      message: 'not well: beacons',
    })
    expect(service.looks).toBe(1)
    await clock.advance(1000)
    expect((await call(undefined, 'GET', '/monitor')).json).toEqual({
      status: 'unhealthy',
      healthy_components: 1,
      unhealthy_components: 2,
      message: 'not well: deployments, beacons',
    })
  })
})
