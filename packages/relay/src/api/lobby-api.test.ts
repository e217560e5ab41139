import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createManualClock } from '@muster/core/clock'
import { bearerToken, clientAddress, nodeListener } from '@muster/core/http'
import { afterEach, describe, expect, test } from 'vitest'
import { createLobbies } from '../lobby/create-lobbies.js'
import { setUp } from '../lobby/lobbies.fixture.js'
import { createLobbyApi, type LobbyApiOptions } from './lobby-api.js'
import { lobbyRoutes } from './routes.js'

const closers: (() => Promise<void> | void)[] = []
afterEach(async () => {
  for (const close of closers.splice(0)) await close()
})

/** The lobby API on a port, over lobbies in time that stands still. */
async function serve(options: Partial<LobbyApiOptions> = {}) {
  const world = setUp()
  const api = createLobbyApi(world.lobbies, {
    authenticate: (request) => {
      const id = bearerToken(request)
      return id === undefined ? undefined : { id }
    },
    // Tests come from one address; they say from which they would.
    address: clientAddress({ trustedProxies: ['127.0.0.0/8'] }),
    clock: world.clock,
    ...options,
  })
  const server = createServer(nodeListener(api))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closers.push(async () => {
    server.closeAllConnections()
    server.close()
    await world.tearDown()
  })
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const request = (
    player: string | undefined,
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
  ) =>
    fetch(url + path, {
      method,
      headers: {
        ...(player === undefined
          ? {}
          : { authorization: `Bearer ${player}`, 'x-forwarded-for': `192.0.2.${player.charCodeAt(0) % 3}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
  const call = async (player: string | undefined, method: string, path: string, body?: unknown) => {
    const response = await request(player, method, path, body)
    const text = await response.text()
    // Whatever is answered fits its description, and says nothing more.
    const route = Object.values(lobbyRoutes).find(
      (one) =>
        one.method === method &&
        new RegExp(`^${one.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path.split('?')[0] as string),
    )
    const json: unknown = text === '' ? undefined : JSON.parse(text)
    if (response.ok && route?.output !== undefined) expect(route.output.parse(json)).toEqual(json)
    if (!response.ok && route !== undefined)
      expect([...route.errors, 400, 401, 413, 415, 429]).toContain(response.status)
    return { status: response.status, json: json as never, headers: response.headers }
  }
  const lobby = async (body: object = {}) => {
    const { json } = await call('ann', 'POST', '/lobbies', { maxPlayers: 4, requireReady: false, ...body })
    return json as { lobbyId: string; code: string; cursor: number }
  }
  return { ...world, url, request, call, lobby }
}

describe('the lobby API', () => {
  test('makes, finds, joins, starts and ends a lobby', async () => {
    const { clock, service, call, lobby } = await serve()
    const { lobbyId, code } = await lobby({ data: { map: 'ice' } })
    expect(
      (await call('bob', 'GET', `/lobbies?data=${encodeURIComponent('{"map":"ice"}')}&minFree=2`)).json,
    ).toMatchObject({
      lobbies: [{ lobbyId, players: 1 }],
      next: null,
    })
    expect(await call('bob', 'POST', '/lobbies/join', { code })).toMatchObject({
      status: 200,
      json: { status: 'joined' },
    })
    expect(await call('cleo', 'POST', `/lobbies/${lobbyId}/join`, {})).toMatchObject({ status: 200 })
    expect(await call('bob', 'PUT', `/lobbies/${lobbyId}/me/ready`, { ready: true })).toMatchObject({ status: 200 })
    expect(await call('bob', 'PATCH', `/lobbies/${lobbyId}/me`, { data: { hat: 'red' }, ifVersion: 1 })).toMatchObject({
      status: 200,
    })
    expect(await call('ann', 'PATCH', `/lobbies/${lobbyId}`, { data: { map: null, fog: true } })).toMatchObject({
      status: 200,
      json: { data: { fog: true } },
    })
    expect(await call('ann', 'POST', `/lobbies/${lobbyId}/start`)).toMatchObject({
      status: 202,
      json: { phase: 'starting' },
    })
    await clock.advance(2000)
    const views = await Promise.all(
      ['ann', 'bob', 'cleo'].map(
        async (id) =>
          (await call(id, 'GET', `/lobbies/${lobbyId}`)).json as {
            run: { credentials: { role: string; port: number; userToken: number } }
          },
      ),
    )
    expect(views.map(({ run }) => [run.credentials.role, run.credentials.port])).toEqual([
      ['host', 4001],
      ['client', 4002],
      ['client', 4002],
    ])
    expect(new Set(views.map(({ run }) => run.credentials.userToken)).size).toBe(3)
    expect(JSON.stringify(views)).not.toContain('192.0.2')
    expect(await call('ann', 'PUT', `/lobbies/${lobbyId}/host`, { playerId: 'bob' })).toMatchObject({
      status: 200,
      json: { hostId: 'bob' },
    })
    expect(await call('bob', 'DELETE', `/lobbies/${lobbyId}/members/ann`)).toMatchObject({ status: 200 })
    expect(await call('cleo', 'DELETE', `/lobbies/${lobbyId}/me`)).toMatchObject({ status: 204 })
    expect(await call('bob', 'POST', `/lobbies/${lobbyId}/stop`)).toMatchObject({
      status: 200,
      json: { phase: 'open' },
    })
    expect(await call('bob', 'POST', `/lobbies/${lobbyId}/heartbeat`)).toMatchObject({ status: 204 })
    expect(await call('bob', 'DELETE', `/lobbies/${lobbyId}`)).toMatchObject({ status: 204 })
    await clock.advance(5000)
    expect(service.open).toEqual([])
  })

  test('lets the host decide, ban, and let in again', async () => {
    const { call, lobby } = await serve()
    const { lobbyId, code } = await lobby({ approval: true })
    expect(await call('bob', 'POST', '/lobbies/join', { code })).toMatchObject({
      status: 202,
      json: { status: 'waiting', lobbyId },
    })
    expect(await call('ann', 'PUT', `/lobbies/${lobbyId}/applicants/bob`, { approve: true })).toMatchObject({
      status: 200,
      json: { members: [{}, { playerId: 'bob' }] },
    })
    expect(await call('ann', 'PUT', `/lobbies/${lobbyId}/bans/bob`)).toMatchObject({
      status: 200,
      json: { members: [{ playerId: 'ann' }] },
    })
    expect(await call('bob', 'POST', '/lobbies/join', { code })).toMatchObject({
      status: 404,
      json: { code: 'not-joinable' },
    })
    expect(await call('ann', 'DELETE', `/lobbies/${lobbyId}/bans/bob`)).toMatchObject({ status: 200 })
    expect(await call('bob', 'POST', '/lobbies/join', { code })).toMatchObject({ status: 202 })
  })

  test.each([
    ['bob', 'GET', '/lobbies/nobody', undefined, 404, 'no-such-lobby'],
    ['bob', 'POST', '/lobbies/join', { code: 'BCDFGHJK' }, 404, 'not-joinable'],
    ['bob', 'POST', '/lobbies/L/start', undefined, 403, 'not-host'],
    ['ann', 'POST', '/lobbies/L/stop', undefined, 409, 'not-started'],
    ['ann', 'PATCH', '/lobbies/L', { data: {}, ifVersion: 7 }, 409, 'stale-version'],
    [
      'ann',
      'PATCH',
      '/lobbies/L',
      { data: Object.fromEntries(Array.from({ length: 33 }, (_, index) => [`k${index}`, 1])) },
      400,
      'data-too-large',
    ],
    ['ann', 'DELETE', '/lobbies/L/members/eve', undefined, 404, 'no-such-player'],
    ['ann', 'DELETE', '/lobbies/L/members/ann', undefined, 409, 'own-player'],
    ['eve', 'GET', '/lobbies/L/events', undefined, 404, 'no-such-lobby'],
    ['ann', 'POST', '/lobbies', { maxPlayers: 65 }, 400, 'invalid-input'],
    ['ann', 'POST', '/lobbies', { maxPlayers: 2, admin: true }, 400, 'invalid-input'],
    ['ann', 'POST', '/lobbies', { maxPlayers: 2, data: { x: { y: 1 } } }, 400, 'invalid-input'],
    ['ann', 'POST', '/lobbies', '{"maxPlayers":2,"data":{"__proto__":{"x":1}}}', 400, 'invalid-input'],
    ['ann', 'POST', '/lobbies', `{"maxPlayers":2,"password":"${'x'.repeat(40_000)}"}`, 413, 'body-too-large'],
    ['ann', 'GET', '/lobbies?data=desert', undefined, 400, 'invalid-input'],
    ['ann', 'GET', '/lobbies?limit=1000', undefined, 400, 'invalid-input'],
    ['ann', 'PUT', '/lobbies/L', undefined, 405, 'method-not-allowed'],
    [undefined, 'GET', '/lobbies', undefined, 401, 'unauthorized'],
  ])('refuses: %s %s %s %o with %s %s', async (player, method, path, body, status, code) => {
    const { call, lobby } = await serve()
    const { lobbyId, code: joinCode } = await lobby()
    await call('bob', 'POST', '/lobbies/join', { code: joinCode })
    const { status: given, json, headers } = await call(player, method, path.replace('/L', `/${lobbyId}`), body)
    expect([given, (json as { code: string }).code]).toEqual([status, code])
    expect(headers.get('content-type')).toBe('application/problem+json')
    expect(json).toMatchObject({
      message: expect.any(String),
      detail: expect.any(String),
      status,
      title: expect.any(String),
    })
  })

  test('answers the same to a code that is wrong, or of a lobby that is full, begun, guarded, or closed to one', async () => {
    const { clock, request, call, lobby } = await serve()
    const full = await lobby({ maxPlayers: 1 })
    const hidden = await lobby({ visibility: 'private' })
    const guarded = await lobby({ password: 'sesame' })
    const begun = await lobby({ lateJoin: false })
    await call('ann', 'POST', `/lobbies/${begun.lobbyId}/start`)
    const banning = await lobby()
    await call('ann', 'PUT', `/lobbies/${banning.lobbyId}/bans/eve`)
    const ended = await lobby()
    await call('ann', 'DELETE', `/lobbies/${ended.lobbyId}`)
    const answers: unknown[] = []
    for (const [path, body] of [
      ['/lobbies/join', { code: 'BCDFGHJK' }],
      ['/lobbies/join', { code: 'no code' }],
      ['/lobbies/join', { code: full.code }],
      [`/lobbies/${hidden.lobbyId}/join`, {}],
      ['/lobbies/join', { code: guarded.code, password: 'simsalabim' }],
      ['/lobbies/join', { code: begun.code }],
      ['/lobbies/join', { code: banning.code }],
      [`/lobbies/${ended.lobbyId}/join`, {}],
      ['/lobbies/nobody/join', {}],
    ] as const) {
      const response = await request('eve', 'POST', path, body)
      const { date: _, ...headers } = Object.fromEntries(response.headers)
      answers.push({ status: response.status, headers, body: await response.text() })
    }
    expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1)
    expect(answers[0]).toMatchObject({ status: 404, body: expect.stringContaining('not-joinable') })
    await clock.advance(1000)
  })

  test('tells who guesses codes when to go on', async () => {
    const { call } = await serve()
    for (let guesses = 0; guesses < 10; guesses += 1) await call('eve', 'POST', '/lobbies/join', { code: 'BCDFGHJK' })
    const { status, json, headers } = await call('eve', 'POST', '/lobbies/join', { code: 'BCDFGHJK' })
    expect([status, headers.get('retry-after')]).toEqual([429, '6'])
    expect(json).toMatchObject({ code: 'too-many-attempts', retryAfterMs: 6000 })
  })

  test('needs an address: the socket’s, a trusted proxy’s, or a trusted caller’s, never the body’s', async () => {
    const { call } = await serve({ address: () => undefined })
    expect(await call('ann', 'POST', '/lobbies', { maxPlayers: 2 })).toMatchObject({
      status: 400,
      json: { code: 'address-unknown' },
    })
    expect(await call('ann', 'POST', '/lobbies', { maxPlayers: 2, ip: '192.0.2.1' })).toMatchObject({
      status: 400,
      json: { field: 'ip' },
    })
    const trusted = await serve({ address: () => undefined, authenticate: () => ({ id: 'ann', ip: '192.0.2.9' }) })
    expect(await trusted.call('ann', 'POST', '/lobbies', { maxPlayers: 2 })).toMatchObject({ status: 201 })
  })

  test('bounds requests per caller', async () => {
    const { call } = await serve({ limits: { perCaller: { limit: 3, windowMs: 1000 } } })
    const statuses: number[] = []
    for (let count = 0; count < 4; count += 1) statuses.push((await call('ann', 'GET', '/lobbies')).status)
    expect(statuses).toEqual([200, 200, 200, 429])
  })

  test('bounds lists per caller, besides all else', async () => {
    const { call } = await serve({ limits: { listsPerCaller: { limit: 2, windowMs: 1000 } } })
    const statuses: number[] = []
    for (const who of ['ann', 'ann', 'ann', 'bob']) statuses.push((await call(who, 'GET', '/lobbies')).status)
    expect(statuses).toEqual([200, 200, 429, 200])
    expect((await call('ann', 'POST', '/lobbies', { maxPlayers: 2 })).status).toBe(201)
    const usual = await serve()
    for (let count = 0; count < 20; count += 1) expect((await usual.call('ann', 'GET', '/lobbies')).status).toBe(200)
    expect((await usual.call('ann', 'GET', '/lobbies')).status).toBe(429)
  })

  test('bounds what waits in all, the bytes of a body, and how long it may take', async () => {
    const { call, request } = await serve({ limits: { streams: 1, bodyBytes: 100 } })
    const lobby = await call('ann', 'POST', '/lobbies', { maxPlayers: 2 })
    const { lobbyId } = lobby.json as unknown as { readonly lobbyId: string }
    const stream = await request('ann', 'GET', `/lobbies/${lobbyId}/events`, undefined, { accept: 'text/event-stream' })
    expect((await call('bob', 'POST', `/lobbies/${lobbyId}/join`)).status).toBe(200)
    expect((await call('bob', 'GET', `/lobbies/${lobbyId}/events?wait=1`)).status).toBe(503)
    await stream.body?.cancel()
    expect((await call('ann', 'PATCH', `/lobbies/${lobbyId}`, { data: { text: 'x'.repeat(100) } })).status).toBe(413)
  })

  test.each([
    [{ perCaller: { limit: 0, windowMs: 1 } }, 'limits perCaller.limit'],
    [{ streams: 0 }, 'limits streams'],
    [{ bodies: { timeoutMs: -1 } }, 'limits bodies.timeoutMs'],
    [{ perPlayer: null }, 'limits perPlayer'],
  ])('names a limit that is none: %j', (limits, named) => {
    expect(() => createLobbyApi(setUp().lobbies, { authenticate: () => undefined, limits: limits as never })).toThrow(
      named,
    )
  })

  test('says what to do where no address is known, as in a test in process', async () => {
    const { lobbies, clock } = setUp()
    const api = createLobbyApi(lobbies, { authenticate: () => ({ id: 'ann' }), clock })
    const body = JSON.stringify({ maxPlayers: 2 })
    const create = () =>
      new Request('http://localhost/lobbies', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
    expect(await (await api(create())).json()).toMatchObject({
      message: expect.stringContaining('api(request, { remoteAddress })'),
    })
    expect((await api(create(), { remoteAddress: '192.0.2.1' })).status).toBe(201)
    await lobbies.close()
  })

  test('tells members of a match what their matchmaker reports, as described', async () => {
    const clock = createManualClock()
    const matchmaker = { handOver: async () => ({ reference: 'ticket-1' }), withdraw: async () => {} }
    const lobbies = createLobbies({ clock, matchmaker })
    closers.push(() => lobbies.close())
    const api = createLobbyApi(lobbies, { authenticate: () => ({ id: 'ann', ip: '192.0.2.1' }), clock })
    const { lobbyId } = await lobbies.create({ player: { id: 'ann', ip: '192.0.2.1' }, maxPlayers: 2 })
    const get = async (path: string): Promise<unknown> => {
      const response = await api(new Request(`http://lobbies.example/lobbies/${lobbyId}${path}`))
      return response.json()
    }
    const described = async () => {
      const lobby = await get('')
      expect(lobbyRoutes.get.output?.parse(lobby)).toEqual(lobby)
      return lobby
    }
    await lobbies.start({ lobbyId, playerId: 'ann' })
    await clock.advance(0)
    expect(await described()).toMatchObject({ run: { term: 1, status: 'handed-over', reference: 'ticket-1' } })
    const assignment = { server: 'match.example:31000', port: 31_000 }
    await lobbies.reportMatch({ key: `${lobbyId}-1`, status: 'assigned', assignment })
    expect(await described()).toMatchObject({ run: { term: 1, status: 'assigned', assignment } })
    const followed = await get('/events?after=0')
    expect(lobbyRoutes.events.output?.parse(followed)).toEqual(followed)
    expect(followed).toMatchObject({
      messages: [{}, { reference: 'ticket-1' }, { type: 'match.assigned', assignment }],
    })
  })

  test('describes itself, to anybody', async () => {
    const { call } = await serve({ basePath: '' })
    const { json } = await call(undefined, 'GET', '/openapi.json')
    const { paths, components } = json as {
      paths: Record<string, Record<string, { operationId: string }>>
      components: { schemas: object }
    }
    const described = Object.values(paths).flatMap((methods) =>
      Object.values(methods).map(({ operationId }) => operationId),
    )
    expect(described.toSorted()).toEqual(Object.keys(lobbyRoutes).toSorted())
    expect(Object.keys(components.schemas).toSorted()).toEqual([
      'ListedLobby',
      'Lobby',
      'Message',
      'Problem',
      'RelayCredentials',
      'Run',
    ])
  })
})

describe('events', () => {
  /** Reads a stream of events to its end, or until `count` have come. */
  async function read(response: Response, count = Infinity): Promise<{ id: string; event: string; data: never }[]> {
    const events: { id: string; event: string; data: never }[] = []
    let text = ''
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk)
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const fields = Object.fromEntries(
          part.split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        )
        if (fields['event'] !== undefined)
          events.push({
            id: fields['id'] as string,
            event: fields['event'],
            data: JSON.parse(fields['data'] as string) as never,
          })
      }
      if (events.length >= count) break
    }
    return events
  }
  const accept = { accept: 'text/event-stream' }

  test('come by long poll', async () => {
    const { clock, call, lobby } = await serve()
    const { lobbyId, code, cursor } = await lobby()
    expect((await call('ann', 'GET', `/lobbies/${lobbyId}/events`)).json).toMatchObject({
      messages: [{ type: 'snapshot' }],
      cursor,
    })
    expect((await call('ann', 'GET', `/lobbies/${lobbyId}/events?after=${cursor}`)).json).toEqual({
      messages: [],
      cursor,
      over: false,
    })
    const waiting = call('ann', 'GET', `/lobbies/${lobbyId}/events?after=${cursor}&wait=25`)
    await call('bob', 'POST', '/lobbies/join', { code })
    expect((await waiting).json).toMatchObject({
      messages: [{ type: 'member.joined', playerId: 'bob' }],
      cursor: cursor + 1,
    })
    await clock.advance(0)
    expect((await call('ann', 'GET', `/lobbies/${lobbyId}/events?wait=31`)).status).toBe(400)
  })

  test('come as a stream, are resumed where it broke off, and end with the lobby', async () => {
    const { clock, request, call, lobby } = await serve()
    const { lobbyId, code } = await lobby()
    const first = read(await request('ann', 'GET', `/lobbies/${lobbyId}/events`, undefined, accept), 2)
    await call('bob', 'POST', '/lobbies/join', { code })
    const seen = await first
    expect(seen.map(({ event }) => event)).toEqual(['snapshot', 'member.joined'])
    await call('bob', 'PUT', `/lobbies/${lobbyId}/me/ready`, { ready: true })
    const resumed = read(
      await request('ann', 'GET', `/lobbies/${lobbyId}/events`, undefined, {
        ...accept,
        'last-event-id': seen[1]?.id as string,
      }),
    )
    await call('ann', 'POST', `/lobbies/${lobbyId}/start`)
    await clock.advance(2000)
    await call('ann', 'DELETE', `/lobbies/${lobbyId}`)
    const rest = await resumed
    expect(rest.map(({ event }) => event)).toEqual([
      'member.ready',
      'lobby.starting',
      'relay.ready',
      'run.ended',
      'lobby.closed',
    ])
    expect(rest[2]?.data).toMatchObject({ credentials: { role: 'host' } })
    expect(
      (await request('ann', 'GET', `/lobbies/${lobbyId}/events?after=${rest.at(-1)?.id}`, undefined, accept)).status,
    ).toBe(204)
  })

  test('are open eight times at once: then the oldest ends', async () => {
    const { request, call, lobby, clock } = await serve()
    const { lobbyId, code, cursor } = await lobby()
    const path = `/lobbies/${lobbyId}/events?after=${cursor}`
    const polling = call('ann', 'GET', `${path}&wait=25`)
    const streams: Promise<unknown[]>[] = []
    for (let count = 0; count < 8; count += 1)
      streams.push(read(await request('ann', 'GET', path, undefined, accept), 2))
    expect(await polling).toMatchObject({ status: 409, json: { code: 'superseded' } })
    await call('bob', 'POST', '/lobbies/join', { code })
    await call('bob', 'PUT', `/lobbies/${lobbyId}/me/ready`, { ready: true })
    for (const events of await Promise.all(streams)) expect(events).toHaveLength(2)
    await clock.advance(0)
  })

  test('are refused by an answer, not by a stream that breaks off', async () => {
    const { request, lobby } = await serve()
    const { lobbyId } = await lobby()
    const response = await request('eve', 'GET', `/lobbies/${lobbyId}/events`, undefined, accept)
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'application/problem+json'])
    await response.text()
  })
})
