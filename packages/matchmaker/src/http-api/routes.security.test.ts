import { describe, expect, test } from 'vitest'
import { setUp } from './ticket-api.fixture.js'
import { ticketRoutes } from './routes.js'

const duel = { profile: 'duel', attributes: {} }
const pathOf = (path: string) => path.replaceAll(/\{\w+\}/g, 'x')
/** A body that every route parses far enough to identify the caller. */
const bodyFor = (method: string) => (method === 'POST' || method === 'PATCH' ? {} : undefined)

/** The routes for backends, listed again so that a change of the route table cannot open one to players unnoticed. */
const OF_BACKENDS = [
  ...(['findPlayer', 'createTickets', 'createParty', 'createMatch', 'endMatch', 'playersLeft', 'findInMatch'] as const),
  ...(['createBackfill', 'getBackfill', 'updateBackfill', 'deleteBackfill'] as const),
  ...(['inspectTickets', 'inspectMatches', 'inspectServers'] as const),
  ...(['readCooldown', 'forgive', 'readPools', 'pausePool', 'drainServer', 'stopServer', 'revokeEnrolment'] as const),
  ...(['readResults', 'repeatResult', 'dropResult', 'pauseQueue', 'resumeQueue'] as const),
] as const

test('backends and match servers may call exactly the routes listed in this test', () => {
  const names = Object.entries(ticketRoutes).flatMap(([name, { who }]) =>
    who === 'backends' || who === 'backends and the server of the match' ? [name] : [],
  )
  expect(names.toSorted()).toEqual([...OF_BACKENDS].toSorted())
})

describe('a caller with unknown credentials', () => {
  const OPEN = ['document', 'monitor', 'serverReady', 'joinKeys']
  const closed = Object.entries(ticketRoutes).filter(([name]) => !OPEN.includes(name))
  test.each(closed)(
    'a caller with unknown credentials is refused with 401 by the operation %s',
    async (_, { method, path }) => {
      const { request } = setUp()
      const response = await request(undefined, method, pathOf(path), bodyFor(method))
      expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
    },
  )

  test('a caller with unknown credentials gets no part of the error that `authenticate` threw', async () => {
    const { call, errors } = setUp({ authenticate: () => Promise.reject(new Error('token hunter2 is bad')) })
    const { status, json } = await call('ann', 'GET', '/tickets/x')
    expect([status, errors.length]).toEqual([500, 1])
    expect(JSON.stringify(json)).not.toContain('hunter2')
  })

  test('a caller is authenticated by a token in the header, raw or as Bearer', async () => {
    const { call } = setUp()
    await call('ann', 'POST', '/tickets', duel)
    expect((await call('ann', 'GET', '/tickets/ticket-1')).status).toBe(200)
    expect((await call('Bearer ann', 'GET', '/tickets/ticket-1')).status).toBe(200)
    expect((await call('Basic ann', 'GET', '/tickets/ticket-1')).status).toBe(401)
  })
})

describe('a player who calls the ticket API', () => {
  test.each([
    ['GET', ''],
    ['GET', '?wait=25'],
    ['GET', '/events'],
    ['GET', '/explain'],
    ['DELETE', ''],
    ['POST', '/accept'],
    ['POST', '/decline'],
  ])(
    'a player’s %s /tickets/ID%s of another player is answered by 404, like that of a missing ticket',
    async (method, path) => {
      const { call, service } = setUp()
      await call('ann', 'POST', '/tickets', duel)
      service.change('ticket-1', { acceptance: { until: 1, accepted: [] } })
      const others = await call('bob', method, `/tickets/ticket-1${path}`)
      const none = await call('bob', method, `/tickets/ticket-9${path}`)
      expect(others.status).toBe(404)
      expect(others.json).toEqual(none.json)
      expect(service.getTicket('ticket-1')).toMatchObject({ status: 'SEARCHING', acceptance: { accepted: [] } })
      expect((await call('backend', 'GET', `/tickets/ticket-1`)).status).toBe(200)
    },
  )

  test.each([
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/members/MEMBER'],
    ['PATCH', '/members/MEMBER'],
    ['DELETE', '/members/MEMBER'],
  ])('a player’s %s /groups/ID%s is refused for a group of other players', async (method, path) => {
    const { call } = setUp()
    const { group_id, member_id } = (await call('ann', 'POST', '/groups', { ...duel, is_ready: false })).json as {
      group_id: string
      member_id: string
    }
    const target = `/groups/${group_id}${path.replace('MEMBER', member_id)}`
    const body = method === 'PATCH' ? { is_ready: true } : undefined
    expect((await call('bob', method, target, body)).status).toBe(404)
    await call('bob', 'POST', `/groups/${group_id}/members`, { ...duel, is_ready: false })
    expect((await call('bob', method, target, body)).status).toBe(
      path === '' && method === 'GET' ? 200 : path === '' ? 403 : 404,
    )
    expect((await call('ann', 'GET', `/groups/${group_id}/members/${member_id}`)).json).toMatchObject({
      is_ready: false,
    })
  })

  test.each(OF_BACKENDS)('a player is refused with 403 by the backend operation %s', async (name) => {
    const { method, path } = ticketRoutes[name]
    const { request } = setUp({ inspect: true })
    const response = await request('ann', method, pathOf(path), bodyFor(method))
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([403, 'backend-only'])
  })

  test.each([
    ['player_id', { player_id: 'bob' }],
    ['coordinates', { coordinates: { latitude: 1, longitude: 2 } }],
    ['id', { id: 'mine' }],
    ['priority', { priority: 100 }],
  ])('a player may not set %s in a ticket', async (field, more) => {
    const { call, service } = setUp()
    expect(await call('ann', 'POST', '/tickets', { ...duel, ...more })).toMatchObject({ status: 403, json: { field } })
    expect(service.players.size).toBe(0)
  })

  test('the address of a player is that of the socket or from a trusted proxy, never from the body', async () => {
    const { call, service } = setUp()
    const ipOf = async (who: string, from: string, forwarded?: string) => {
      const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded }
      const { json } = await call(who, 'POST', '/tickets', { ...duel, player_ip: '198.51.100.99' }, { from, headers })
      return service.players.get((json as { id: string }).id)?.[0]?.ip
    }
    expect(await ipOf('ann', '203.0.113.7')).toBe('203.0.113.7')
    expect(await ipOf('bob', '203.0.113.7', '198.51.100.98')).toBe('203.0.113.7')
    expect(await ipOf('cleo', '10.0.0.1', '198.51.100.98, 203.0.113.8')).toBe('203.0.113.8')
    expect(await ipOf('dan', '::ffff:203.0.113.9')).toBe('203.0.113.9')
    expect(await ipOf('eve', '10.0.0.1')).toBe('10.0.0.1')
    const { status } = await call('fay', 'POST', '/tickets', duel, { from: 'not an address' })
    expect(status).toBe(400)
  })

  test('a ticket that a backend creates without player_ip does not get the address of the backend', async () => {
    const { call, service } = setUp()
    expect(
      await call('backend', 'POST', '/tickets', { ...duel, player_id: 'ann' }, { from: '203.0.113.7' }),
    ).toMatchObject({ status: 400, json: { field: 'player_ip' } })
    expect(service.players.size).toBe(0)
  })
})

describe('addresses of players in the ticket API', () => {
  test('the address of a player appears in no answer to any caller', async () => {
    const { call, request, service, errors } = setUp({ inspect: true })
    const from = '203.0.113.77'
    const texts: string[] = []
    const ask = async (who: string, method: string, path: string, body?: unknown) => {
      const { json } = await call(who, method, path, body, { from })
      texts.push(JSON.stringify(json ?? null))
      return json as unknown as Record<string, string>
    }
    await ask('ann', 'POST', '/tickets', { ...duel, player_ip: from })
    await ask('ann', 'POST', '/tickets', { ...duel, player_ip: from })
    await ask('ann', 'GET', '/tickets/ticket-1')
    await ask('ann', 'GET', '/tickets/ticket-1/explain')
    const { group_id } = await ask('bob', 'POST', '/groups', { ...duel, is_ready: false })
    await ask('cleo', 'POST', `/groups/${group_id}/members`, duel)
    await ask('cleo', 'GET', `/groups/${group_id}`)
    await ask('backend', 'POST', '/group-tickets', {
      player_tickets: [
        { ...duel, player_ip: from },
        { ...duel, player_ip: from },
      ],
    })
    await ask('backend', 'POST', '/tickets/batch', {
      tickets: [
        { ...duel, player_ip: from },
        { ...duel, player_ip: `${from}0` },
      ],
    })
    await ask('backend', 'POST', '/tickets', { ...duel, player_ip: `${from}.example` })
    await ask('backend', 'GET', '/inspect/tickets')
    await ask('backend', 'GET', '/inspect/matches')
    service.change('ticket-1', { status: 'CANCELLED' })
    texts.push(await (await request('ann', 'GET', '/tickets/ticket-1/events')).text())
    expect(texts.filter((text) => text.includes('203.0.113'))).toEqual([])
    expect(errors).toEqual([])
  })
})

describe('features that are off by default', () => {
  test('/inspect answers 404 until it is enabled', async () => {
    const { call } = setUp()
    for (const path of ['/inspect/tickets', '/inspect/matches', '/inspect/servers']) {
      const { status, json } = await call('backend', 'GET', path)
      expect({ status, json }).toMatchObject({ status: 404, json: { detail: expect.stringContaining('`inspect`') } })
    }
    const on = setUp({ inspect: true })
    for (const who of ['ann', 'bob', 'cleo']) await on.call(who, 'POST', '/tickets', duel)
    expect((await on.call('backend', 'GET', '/inspect/tickets?limit=2')).json).toMatchObject({
      total: 3,
      queues: [{ name: 'duel' }, { name: 'ranked' }],
      tickets: [{ player_id: 'ann' }, { player_id: 'bob' }],
    })
    expect((await on.call('backend', 'GET', '/inspect/matches')).json).toEqual({ matches: [] })
  })

  test('/inspect/matches shows an abandoned match while its deployment is still being searched for', async () => {
    const { call, service } = setUp({ inspect: true })
    const match = { queue: 'duel', ticketIds: [], playerIds: ['ann'], at: 0, assignment: undefined }
    service.matches.push({ ...match, matchId: 'm1', tag: 't1', phase: 'running', requestId: 'r1' })
    const lost = { phase: 'finding', stopReason: 'lost', requestId: undefined } as const
    service.matches.push({ ...match, matchId: 'm2', tag: 't2', ...lost })
    expect((await call('backend', 'GET', '/inspect/matches')).json).toMatchObject({
      matches: [
        { match_id: 'm1', phase: 'running', stop_reason: null },
        { match_id: 'm2', phase: 'finding', stop_reason: 'lost' },
      ],
    })
  })

  test('a browser page of another origin is refused until this origin is allowed', async () => {
    const origin = 'https://play.example'
    const preflight = { headers: { origin, 'access-control-request-method': 'POST' } }
    const off = setUp()
    expect((await off.request('ann', 'OPTIONS', '/tickets', undefined, preflight)).status).toBe(405)
    expect(
      (await off.call('ann', 'POST', '/tickets', duel, { headers: { origin } })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBeNull()
    const on = setUp({ cors: { origins: [origin] } })
    const allowed = await on.request(undefined, 'OPTIONS', '/tickets', undefined, preflight)
    expect([allowed.status, allowed.headers.get('access-control-allow-origin')]).toEqual([204, origin])
    // Pages of players who share a token must be able to send the secret's header.
    expect(allowed.headers.get('access-control-allow-headers')?.split(', ')).toContain('x-player-secret')
    expect(
      (await on.call('ann', 'POST', '/tickets', duel, { headers: { origin } })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBe(origin)
    expect(
      (await on.call('bob', 'POST', '/tickets', duel, { headers: { origin: 'https://evil.example' } })).headers.get(
        'access-control-allow-origin',
      ),
    ).toBeNull()
  })
})
