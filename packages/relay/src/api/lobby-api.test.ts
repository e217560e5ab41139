import { createManualClock } from '@muster/core/clock'
import { describe, expect, onTestFinished, test } from 'vitest'
import { createLobbies } from '../lobby/create-lobbies.js'
import { setUp } from '../lobby/lobbies.fixture.js'
import { createLobbyApi } from './lobby-api.js'
import { lobbyRoutes } from './routes.js'
import { serve } from './lobby-api.fixture.js'

describe('the lobby API', () => {
  test('the lobby API creates, lists, joins, starts and ends a lobby', async () => {
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

  test('the lobby API lets the host approve applicants, ban players and lift a ban', async () => {
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
    // A lobby without a name, to test the list of lobbies.
    ['ann', 'POST', '/lobbies', { maxPlayers: 2, data: { name: '\u3164' } }, 400, 'invalid-input'],
    ['ann', 'PATCH', '/lobbies/L', { data: { name: '  ' } }, 400, 'invalid-input'],
    ['ann', 'PATCH', '/lobbies/L/me', { data: { name: 'ann\u200b' } }, 400, 'invalid-input'],
    ['ann', 'POST', '/lobbies', { maxPlayers: 2, admin: true }, 400, 'invalid-input'],
    ['ann', 'POST', '/lobbies', { maxPlayers: 2, data: { x: { y: 1 } } }, 400, 'invalid-input'],
    ['ann', 'POST', '/lobbies', '{"maxPlayers":2,"data":{"__proto__":{"x":1}}}', 400, 'invalid-input'],
    ['ann', 'POST', '/lobbies', `{"maxPlayers":2,"password":"${'x'.repeat(40_000)}"}`, 413, 'body-too-large'],
    ['ann', 'GET', '/lobbies?data=desert', undefined, 400, 'invalid-input'],
    ['ann', 'GET', '/lobbies?limit=1000', undefined, 400, 'invalid-input'],
    ['ann', 'PUT', '/lobbies/L', undefined, 405, 'method-not-allowed'],
    [undefined, 'GET', '/lobbies', undefined, 401, 'unauthorized'],
  ])(
    'for player %s, %s %s of the lobby API with the body %o is answered with %s %s',
    async (player, method, path, body, status, code) => {
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
    },
  )

  test('the lobby API gives the same answer for a wrong code and for every lobby that cannot be joined', async () => {
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

  test('the lobby API refuses further guesses of codes with Retry-After', async () => {
    const { call } = await serve()
    for (let guesses = 0; guesses < 10; guesses += 1) await call('eve', 'POST', '/lobbies/join', { code: 'BCDFGHJK' })
    const { status, json, headers } = await call('eve', 'POST', '/lobbies/join', { code: 'BCDFGHJK' })
    expect([status, headers.get('retry-after')]).toEqual([429, '6'])
    expect(json).toMatchObject({ code: 'too-many-attempts', retryAfterMs: 6000 })
  })

  test('the lobby API takes the address from socket, trusted proxy or authenticate, not from the body', async () => {
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

  test('the lobby API explains how to pass an address if none is known, as in a test in process', async () => {
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

  test('the lobby API shows the reports of the matchmaker to the members of a match', async () => {
    const clock = createManualClock()
    const matchmaker = { handOver: async () => ({ reference: 'ticket-1' }), withdraw: async () => {} }
    const lobbies = createLobbies({ clock, matchmaker })
    onTestFinished(() => lobbies.close())
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

  test('the lobby API serves its OpenAPI document without a token', async () => {
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
