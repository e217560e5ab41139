import { bearerToken } from '@muster/core/http'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { setUp } from './ticket-api.fixture.js'
import { backendRoutes, ticketRoutes } from './routes.js'

const duel = { profile: 'duel', attributes: {} }
const pathOf = (path: string) => path.replaceAll(/\{\w+\}/g, 'x')
/** A body that every route parses far enough to identify the caller. */
const bodyFor = (method: string) => (method === 'POST' || method === 'PATCH' ? {} : undefined)

describe('who is not known', () => {
  const closed = Object.entries(ticketRoutes).filter(([name]) => !['document', 'monitor', 'serverReady'].includes(name))
  test.each(closed)('may not ask %s', async (_, { method, path }) => {
    const { request } = setUp()
    const response = await request(undefined, method, pathOf(path), bodyFor(method))
    expect([response.status, response.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  })

  test('may be told so by whoever authenticates; what that says besides is not passed on', async () => {
    const { call, errors } = setUp({ authenticate: () => Promise.reject(new Error('token hunter2 is bad')) })
    const { status, json } = await call('ann', 'GET', '/tickets/x')
    expect([status, errors.length]).toEqual([500, 1])
    expect(JSON.stringify(json)).not.toContain('hunter2')
  })

  test('is known by a token that stands in the header raw or as Bearer', async () => {
    const { call } = setUp()
    await call('ann', 'POST', '/tickets', duel)
    expect((await call('ann', 'GET', '/tickets/ticket-1')).status).toBe(200)
    expect((await call('Bearer ann', 'GET', '/tickets/ticket-1')).status).toBe(200)
    expect((await call('Basic ann', 'GET', '/tickets/ticket-1')).status).toBe(401)
  })
})

describe('a player', () => {
  test.each([
    ['GET', ''],
    ['GET', '?wait=25'],
    ['GET', '/events'],
    ['GET', '/explain'],
    ['DELETE', ''],
    ['POST', '/accept'],
    ['POST', '/decline'],
  ])('cannot %s a ticket%s of another: to them there is none', async (method, path) => {
    const { call, service } = setUp()
    await call('ann', 'POST', '/tickets', duel)
    service.change('ticket-1', { acceptance: { until: 1, accepted: [] } })
    const others = await call('bob', method, `/tickets/ticket-1${path}`)
    const none = await call('bob', method, `/tickets/ticket-9${path}`)
    expect(others.status).toBe(404)
    expect(others.json).toEqual(none.json)
    expect(service.getTicket('ticket-1')).toMatchObject({ status: 'SEARCHING', acceptance: { accepted: [] } })
    expect((await call('backend', 'GET', `/tickets/ticket-1`)).status).toBe(200)
  })

  test.each([
    ['GET', ''],
    ['DELETE', ''],
    ['GET', '/members/MEMBER'],
    ['PATCH', '/members/MEMBER'],
    ['DELETE', '/members/MEMBER'],
  ])('cannot %s a group%s of others', async (method, path) => {
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

  test.each([...backendRoutes])('may not ask %s', async (name) => {
    const { method, path } = ticketRoutes[name as keyof typeof ticketRoutes]
    const { request } = setUp({ inspect: true })
    const response = await request('ann', method, pathOf(path), bodyFor(method))
    expect([response.status, ((await response.json()) as { code: string }).code]).toEqual([403, 'backend-only'])
  })

  test.each([
    ['player_id', { player_id: 'bob' }],
    ['coordinates', { coordinates: { latitude: 1, longitude: 2 } }],
    ['id', { id: 'mine' }],
    ['priority', { priority: 100 }],
  ])('cannot say %s', async (field, more) => {
    const { call, service } = setUp()
    expect(await call('ann', 'POST', '/tickets', { ...duel, ...more })).toMatchObject({ status: 403, json: { field } })
    expect(service.players.size).toBe(0)
  })

  test('plays from the address of the socket, or the one a trusted proxy names, never one of their own choice', async () => {
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

  test('does not have the address of a backend that forgets to say theirs', async () => {
    const { call, service } = setUp()
    expect(
      await call('backend', 'POST', '/tickets', { ...duel, player_id: 'ann' }, { from: '203.0.113.7' }),
    ).toMatchObject({ status: 400, json: { field: 'player_ip' } })
    expect(service.players.size).toBe(0)
  })
})

describe('addresses', () => {
  test('of players are in no answer, to whomever', async () => {
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

describe('limits', () => {
  const statuses = async (
    call: ReturnType<typeof setUp>['call'],
    asks: readonly (readonly [who: string, from: string])[],
  ) => {
    const found: number[] = []
    for (const [who, from] of asks) found.push((await call(who, 'GET', '/tickets/x', undefined, { from })).status)
    return found
  }

  test('count requests per player, from wherever', async () => {
    const { call, clock } = setUp({ limits: { perCaller: { limit: 2, windowMs: 3000 } } })
    expect(
      await statuses(call, [
        ['ann', '192.0.2.1'],
        ['ann', '192.0.2.2'],
        ['ann', '192.0.2.3'],
        ['bob', '192.0.2.3'],
      ]),
    ).toEqual([404, 404, 429, 404])
    const refused = await call('ann', 'GET', '/tickets/x')
    expect([refused.headers.get('retry-after'), refused.json]).toMatchObject([
      '2',
      { code: 'too-many-requests', retryAfterMs: 1500 },
    ])
    await clock.advance(1500)
    expect(await statuses(call, [['ann', '192.0.2.1']])).toEqual([404])
  })

  test('count requests per address, of IPv6 per /64; beyond, it is looked only whether a backend asks', async () => {
    let asked = 0
    const { call } = setUp({
      limits: { perAddress: { limit: 2, windowMs: 3000 } },
      authenticate: (request) => {
        asked += 1
        return { id: bearerToken(request) ?? '' }
      },
    })
    expect(
      await statuses(call, [
        ['a', '192.0.2.1'],
        ['b', '192.0.2.1'],
        ['c', '192.0.2.1'],
        ['d', '192.0.2.2'],
      ]),
    ).toEqual([404, 404, 429, 404])
    expect(
      await statuses(call, [
        ['a', '2001:db8::1'],
        ['b', '2001:db8::2'],
        ['c', '2001:db8::3'],
        ['d', '2001:db8:0:1::1'],
      ]),
    ).toEqual([404, 404, 429, 404])
    expect(asked).toBe(8)
  })

  test('are there without being asked for: 50 and 250 in 5 seconds', async () => {
    const { call } = setUp()
    const own = await statuses(
      call,
      Array.from({ length: 51 }, () => ['ann', '192.0.2.1']),
    )
    expect(own.indexOf(429)).toBe(50)
    const all = await statuses(
      call,
      Array.from({ length: 251 }, (_, index) => [`p${index}`, '192.0.2.9']),
    )
    expect(all.indexOf(429)).toBe(250)
  })

  test('do not count requests of backends, and can be switched off', async () => {
    const { call } = setUp({
      limits: { perCaller: { limit: 1, windowMs: 3000 }, perAddress: { limit: 1, windowMs: 3000 } },
    })
    expect(
      await statuses(
        call,
        Array.from({ length: 5 }, () => ['backend', '192.0.2.1']),
      ),
    ).toEqual([404, 404, 404, 404, 404])
    const open = setUp({ limits: { perCaller: null, perAddress: null } })
    expect(
      new Set(
        await statuses(
          open.call,
          Array.from({ length: 300 }, () => ['ann', '192.0.2.1']),
        ),
      ),
    ).toEqual(new Set([404]))
  })

  test('count how often one waits, and all do', async () => {
    const { call, request } = setUp({ limits: { waitsPerCaller: 2, waits: 3 } })
    for (const who of ['ann', 'bob']) await call(who, 'POST', '/tickets', duel)
    const stream = (who: string, ticket: string) => request(who, 'GET', `/tickets/${ticket}/events`)
    const [first, second] = [await stream('ann', 'ticket-1'), await stream('ann', 'ticket-1')]
    expect([first.status, second.status]).toEqual([200, 200])
    expect(await call('ann', 'GET', '/tickets/ticket-1?wait=1')).toMatchObject({
      status: 429,
      json: { code: 'too-many-waits' },
    })
    const third = await stream('bob', 'ticket-2')
    expect(await call('bob', 'GET', '/tickets/ticket-2?wait=1')).toMatchObject({ status: 503, json: { code: 'busy' } })
    expect((await call('bob', 'GET', '/tickets/ticket-2')).status).toBe(200)
    await second.body?.cancel()
    const again = await stream('ann', 'ticket-1')
    expect(again.status).toBe(200)
    for (const one of [first, third, again]) await one.body?.cancel()
  })
})

describe('what is sent', () => {
  test('may have so many bytes: few from players, more from backends', async () => {
    const { call } = setUp()
    const large = { ...duel, attributes: { text: 'x'.repeat(16 * 1024) } }
    expect((await call('ann', 'POST', '/tickets', large)).status).toBe(413)
    const batch = {
      tickets: Array.from({ length: 40 }, () => ({
        ...duel,
        player_ip: '203.0.113.7',
        attributes: { text: 'x'.repeat(1000) },
      })),
    }
    expect((await call('backend', 'POST', '/tickets/batch', batch)).status).toBe(200)
    const { call: strict } = setUp({ limits: { bodyBytes: 30, backendBodyBytes: 1000 } })
    expect((await strict('ann', 'POST', '/tickets', duel)).status).toBe(413)
    expect((await strict('backend', 'POST', '/tickets/batch', batch)).status).toBe(413)
    expect((await strict('ann', 'POST', '/tickets/batch', batch)).status).toBe(403)
  })

  test.each([
    ['of another type', '{"profile":"duel"}', 'text/plain', 415],
    ['that is no JSON', '{profile:duel}', 'application/json', 400],
    [
      'that is deep',
      `{"profile":"duel","attributes":${'{"a":'.repeat(40)}1${'}'.repeat(40)}}`,
      'application/json',
      400,
    ],
    [
      'that would change prototypes',
      '{"profile":"duel","attributes":{"__proto__":{"skill":1}}}',
      'application/json',
      400,
    ],
    [
      'with too many beacons',
      `{"profile":"duel","attributes":{"beacons":${JSON.stringify(Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`b${index}`, 1])))}}}`,
      'application/json',
      400,
    ],
    ['with a name too long', JSON.stringify({ profile: 'x'.repeat(65) }), 'application/json', 400],
  ])('%s is refused', async (_, body, type, status) => {
    const { call, service } = setUp()
    expect((await call('ann', 'POST', '/tickets', body, { headers: { 'content-type': type } })).status).toBe(status)
    expect(service.players.size).toBe(0)
  })

  test('pollutes no prototype, whatever it is', async () => {
    const { call } = setUp({ limits: { perCaller: null, perAddress: null } })
    const key = fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'beacons', 'hasOwnProperty')
    const value = fc.letrec((tie) => ({
      value: fc.oneof({ maxDepth: 3 }, fc.double(), fc.string(), tie('object')),
      object: fc.array(fc.tuple(key, tie('value')), { maxLength: 3 }).map((pairs) => Object.fromEntries(pairs)),
    })).value
    await fc.assert(
      fc.asyncProperty(value, fc.nat(), async (attributes, player) => {
        const { status } = await call(`p${player}`, 'POST', '/tickets', { profile: 'duel', attributes })
        expect([201, 400, 409]).toContain(status)
        expect(Object.keys(Object.prototype)).toEqual([])
        expect(({} as Record<string, unknown>)['skill']).toBeUndefined()
      }),
      { numRuns: 200 },
    )
  })

  test('about attributes that objects have anyway is taken as said', async () => {
    const { call, service } = setUp()
    await call('ann', 'POST', '/tickets', '{"profile":"duel","attributes":{"constructor":"x","toString":1}}')
    const attributes = service.players.get('ticket-1')?.[0]?.attributes ?? {}
    expect([Object.keys(attributes), Object.getPrototypeOf(attributes)]).toEqual([
      ['constructor', 'toString'],
      Object.prototype,
    ])
  })
})

describe('what is not switched on', () => {
  test('is not there: /inspect', async () => {
    const { call } = setUp()
    for (const path of ['/inspect/tickets', '/inspect/matches'])
      expect((await call('backend', 'GET', path)).status).toBe(404)
    const on = setUp({ inspect: true })
    for (const who of ['ann', 'bob', 'cleo']) await on.call(who, 'POST', '/tickets', duel)
    expect((await on.call('backend', 'GET', '/inspect/tickets?limit=2')).json).toMatchObject({
      total: 3,
      queues: [{ name: 'duel' }, { name: 'ranked' }],
      tickets: [{ player_id: 'ann' }, { player_id: 'bob' }],
    })
    expect((await on.call('backend', 'GET', '/inspect/matches')).json).toEqual({ matches: [] })
  })

  test('is not there: pages of other origins', async () => {
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
