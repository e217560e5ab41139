/** Sends requests of game servers, and of processes that pretend to be one, to POST /servers and PUT /servers/me. */
import { bearerToken, clientAddress } from '@muster/core/http'
import { describe, expect, test } from 'vitest'
import { deploy, duel, setUp as setUpMatchmaker } from '../matchmaker.fixture.js'
import { createTicketApi } from './ticket-api.js'
import type { TicketApiOptions } from './api-options.js'

const queues = [{ ...duel, deploy: { ...deploy, probe: { kind: 'registration' as const } } }]

interface Reply {
  readonly status: number
  readonly json: Readonly<Record<string, unknown>>
  readonly headers: Headers
}

const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, nth) => [`player ${nth}`, 'in']))

/** Starts a match of ann and ben with a running server, behind the API. Players' tokens are their ids. */
async function open(
  options: Partial<TicketApiOptions> = {},
  players: readonly string[] = ['ann', 'ben'],
  matchmakerOptions: Parameters<typeof setUpMatchmaker>[0] = {},
) {
  const world = setUpMatchmaker({
    ...matchmakerOptions,
    queues: [{ ...queues[0], matchSize: players.length } as (typeof queues)[number]],
  })
  const { clock, matchmaker, service } = world
  const errors: unknown[] = []
  const api = createTicketApi(matchmaker, {
    authenticate: (request) => {
      const id = bearerToken(request)
      if (id === undefined || id.includes('.')) return undefined
      return id.startsWith('backend') ? { id, role: 'backend' } : { id }
    },
    address: clientAddress({ trustedProxies: ['10.0.0.0/8'] }),
    clock,
    onError: (error) => errors.push(error),
    ...options,
  })
  const send = async (who: string, method: string, path: string, body: unknown, from = '192.0.2.1'): Promise<Reply> => {
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const answer = await api(
      new Request(`http://localhost${path}`, {
        method,
        headers: { authorization: `Bearer ${who}`, 'content-type': 'application/json' },
        body: text,
      }),
      { remoteAddress: from },
    )
    const read = await answer.text()
    return {
      status: answer.status,
      json: (read === '' ? {} : JSON.parse(read)) as Reply['json'],
      headers: answer.headers,
    }
  }
  world.join(...players)
  await world.run(6000)
  const tokenOf = (nth: number) =>
    service.calls.create[nth]?.environment_variables?.find(({ key }) => key === 'MUSTER_SERVER_TOKEN')?.value ?? ''
  const token = tokenOf(0)
  const matchId = matchmaker.inspect().matches[0]?.matchId ?? ''
  const register = (who = token, instance = 'one') => send(who, 'POST', '/servers', { instance })
  let seq = 0
  const report = (state: object = {}, who = token, query = '') =>
    send(who, 'PUT', `/servers/me${query}`, { instance: 'one', seq: (seq += 1), ...state })
  const playing = (more: object = {}) => report({ matches: [{ id: matchId, status: 'open', ...more }] })
  return { ...world, api, errors, send, token, tokenOf, matchId, register, report, playing }
}

describe('a caller of the game server API without a valid server token', () => {
  test('the game server API answers 401 for a wrong token, and 403 for one of a player or backend', async () => {
    const { token, register, report, errors } = await open()
    const [credential = '', signature = ''] = token.split('.')
    const flipped = signature.startsWith('A') ? `B${signature.slice(1)}` : `A${signature.slice(1)}`
    const wrong = [
      `${credential}.${flipped}`,
      `${credential}0.${signature}`,
      `${credential.slice(1)}.${signature}`,
      `${'0'.repeat(21)}.${signature}`,
      `${credential}.${signature}.${signature}`,
      `${credential}.${signature}=`,
      `${credential}.`,
      `.${signature}`,
    ]
    for (const guess of wrong) {
      expect([guess, (await register(guess)).status]).toEqual([guess, 401])
      expect([guess, (await report({}, guess)).status]).toEqual([guess, 401])
    }
    for (const who of ['ann', 'backend']) {
      expect(await register(who)).toMatchObject({ status: 403, json: { code: 'servers-only' } })
      expect(await report({}, who)).toMatchObject({ status: 403, json: { code: 'servers-only' } })
    }
    expect((await register()).status).toBe(200)
    expect(errors).toEqual([])
  })

  test('guesses of server tokens are counted by address, without blocking known or new servers there', async () => {
    const { token, send, register } = await open({ limits: { perAddress: { limit: 20, windowMs: 60_000 } } })
    expect((await register()).status).toBe(200)
    const guess = (text: string, from: string) => send(text, 'PUT', '/servers/me', { instance: 'x', seq: 1 }, from)
    const statuses: number[] = []
    for (let nth = 0; nth < 30; nth += 1) statuses.push((await guess(`guess.${nth}`, '192.0.2.1')).status)
    expect(statuses).toEqual([...Array<number>(20).fill(401), ...Array<number>(10).fill(429)])
    expect((await guess(token, '192.0.2.1')).status).not.toBe(401)
    expect((await guess(token, '192.0.2.1')).status).not.toBe(429)
    // This address has used up its guesses. A signed token that was never used there is checked anyway.
    for (let nth = 0; nth < 30; nth += 1) await guess(`guess.${nth}`, '192.0.2.2')
    expect((await guess('guess.31', '192.0.2.2')).status).toBe(429)
    expect((await send(token, 'POST', '/servers', { instance: 'one' }, '192.0.2.2')).status).toBe(200)
    // Guesses in the format of signed tokens. Beyond a limit per second, they are refused without a check.
    const shaped = (nth: number) => `${'0'.repeat(21)}.${`${nth}`.padStart(22, 'x')}`
    const many: number[] = []
    for (let nth = 0; nth < 150; nth += 1) many.push((await guess(shaped(nth), '192.0.2.2')).status)
    expect(new Set(many)).toEqual(new Set([401, 429]))
  })

  test('a server token of another server gives access only to the match of that server', async () => {
    const { join, run, register, matchmaker, tokenOf, matchId, send, playing } = await open()
    join('cas', 'dan')
    await run(7000)
    expect(await register(tokenOf(1), 'two')).toMatchObject({
      status: 200,
      json: { id: expect.not.stringContaining(matchId) },
    })
    await register()
    await playing({ players: { ann: 'in' } })
    const foreign = { instance: 'two', seq: 1, matches: [{ id: matchId, status: 'over', players: { ann: 'left' } }] }
    const { status, json } = await send(tokenOf(1), 'PUT', '/servers/me', foreign)
    expect([status, JSON.stringify(json).includes(matchId)]).toEqual([200, false])
    expect(matchmaker.inspect().matches.find((match) => match.matchId === matchId)?.playerIds).toEqual(['ann', 'ben'])
    expect((await playing({ players: { ann: 'in' } })).json).toMatchObject({ want: 'run', matches: [{ id: matchId }] })
  })
})

test.each(['', '/mm'])('a token is compared with enrolment keys only at POST %s/servers', async (basePath) => {
  const { matchmaker, clock } = setUpMatchmaker({ queues })
  const asked: string[] = []
  const isEnrolmentKey = (key: string) => asked.push(key) === 0
  const api = createTicketApi(
    { ...matchmaker, isEnrolmentKey },
    { authenticate: () => ({ id: 'ann' }), clock, basePath },
  )
  const call = (method: string, path: string) => {
    const authorization = `Bearer ${path.padEnd(40, '-')}`
    return api(new Request(`http://localhost${basePath}${path}`, { method, headers: { authorization } }), {
      remoteAddress: '192.0.2.1',
    })
  }
  await call('POST', '/pools/arena/servers')
  await call('POST', '/servers/own/seats')
  await call('GET', '/servers')
  await call('POST', '/tickets?next=/servers')
  expect(asked).toEqual([])
  await call('POST', '/servers')
  expect(asked).toHaveLength(1)
})

describe('GET /.well-known/jwks.json', () => {
  const read = async (world: Awaited<ReturnType<typeof open>>, method = 'GET') =>
    world.api(new Request('http://localhost/.well-known/jwks.json', { method }), { remoteAddress: '192.0.2.1' })

  test('GET /.well-known/jwks.json needs no authentication, and may be cached for some minutes', async () => {
    const world = await open({}, ['ann', 'ben'], { joinTokens: { alg: 'EdDSA' } })
    const answer = await read(world)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'public, max-age=300'])
    const { keys } = (await answer.json()) as { keys: readonly { x: string; kid: string }[] }
    expect(keys).toMatchObject([{ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' }])
    expect((await world.register()).json).toMatchObject({ alg: 'EdDSA', key: keys[0]?.x })
    expect((await read(world, 'POST')).status).toBe(405)
  })

  test('GET /.well-known/jwks.json is empty with HS256 keys per server, and limits anonymous requests', async () => {
    const world = await open({ limits: { perAddress: { limit: 3, windowMs: 60_000 } } })
    expect(await (await read(world)).json()).toEqual({ keys: [] })
    expect((await world.register()).json).toMatchObject({ alg: 'HS256', key: expect.stringMatching(/^[\w-]{43}$/) })
    const statuses: number[] = []
    for (let nth = 0; nth < 4; nth += 1) statuses.push((await read(world)).status)
    expect(statuses).toEqual([200, 200, 429, 429])
  })
})

describe('a request body of a game server', () => {
  test.each([
    ['not JSON', '{"instance":', 400, undefined],
    ['a list', '[]', 400, undefined],
    ['an object without an instance', '{}', 400, 'instance'],
    ['an object with an unknown member', '{"instance":"a","biuld":"1"}', 400, 'biuld'],
    ['an object with more matches than a server may serve', '{"instance":"a","matches":65}', 400, 'matches'],
    ['an object with an invalid port', '{"instance":"a","ports":{"game":0}}', 400, 'ports.game'],
    ['an object with nested attributes', '{"instance":"a","attributes":{"mode":{"of":1}}}', 400, 'attributes.mode'],
    [
      'an object with __proto__ among its attributes',
      '{"instance":"a","attributes":{"__proto__":{"isAdmin":true}}}',
      400,
      '__proto__',
    ],
    ['an object with a number above the range', '{"instance":"a","seats":1e999}', 400, 'seats'],
    ['nested too deeply', `{"instance":"a","attributes":${'['.repeat(900)}${']'.repeat(900)}}`, 400, undefined],
    ['larger than its limit', JSON.stringify({ instance: 'a', build: 'x'.repeat(200_000) }), 413, undefined],
  ])('a game server’s registration is refused if its body is %s', async (_, body, status, field) => {
    const { send, token, errors } = await open()
    const answer = await send(token, 'POST', '/servers', body)
    expect([answer.status, answer.json['field']]).toEqual([status, field])
    expect(Reflect.get({}, 'isAdmin')).toBeUndefined()
    expect(errors).toEqual([])
  })

  const match = (more: object) => ({ matches: [{ id: 'MATCH', status: 'open', ...more }] })
  test.each<[string, object | string, number, string | undefined]>([
    ['an unknown status of a match', { matches: [{ id: 'MATCH', status: 'opened' }] }, 400, 'matches.0.status'],
    ['an unknown status of a player', match({ players: { ann: 'here' } }), 400, 'matches.0.players.ann'],
    ['a player with an empty id', match({ players: { '': 'in' } }), 400, 'matches.0.players.'],
    ['1,001 players', match({ players: many(1001) }), 400, 'matches.0.players'],
    [
      'more than 20,000 players in all matches',
      { matches: Array.from({ length: 21 }, (_, nth) => ({ id: `${nth}`, status: 'open', players: many(1000) })) },
      400,
      'matches',
    ],
    ['the same match twice', { matches: [...match({}).matches, ...match({}).matches] }, 400, 'matches.1.id'],
    [
      'more matches than the server registered',
      { matches: [...match({}).matches, { id: 'other', status: 'open' }] },
      400,
      'matches',
    ],
    ['a result for a match that is not over', match({ result: {} }), 400, 'matches.0.result'],
    [
      'a ranking with a player who is not in the match',
      match({ status: 'over', players: { ann: 'in' }, result: { ranking: [['eve']] } }),
      400,
      'matches.0.result.ranking',
    ],
    [
      'a player ranked twice',
      match({ status: 'over', players: { ann: 'in' }, result: { ranking: [['ann'], ['ann']] } }),
      400,
      'matches.0.result.ranking',
    ],
    [
      'a result of more than 8 KiB',
      match({ status: 'over', result: { data: 'x'.repeat(9000) } }),
      400,
      'matches.0.result',
    ],
    [
      'free seats of an unknown team',
      match({ seats: { open: true, teams: { green: 1 } } }),
      400,
      'matches.0.seats.teams.green',
    ],
    [
      'more free seats than the team has',
      match({ seats: { open: true, teams: { team: 9 } } }),
      400,
      'matches.0.seats.teams.team',
    ],
    ...[0x202e, 0x200b, 0x2028, 0x1b].map((code): [string, object, number, string] => [
      `a name with U+${code.toString(16)}`,
      { listing: { name: `Night${String.fromCodePoint(code)}CTF`, seats: 1, players: {} } },
      400,
      'listing.name',
    ]),
    [
      'more than 1,000 players in a match',
      match({ players: Object.fromEntries(Array.from({ length: 1001 }, (_, nth) => [`p${nth}`, 'in'])) }),
      400,
      'matches.0.players',
    ],
    ['a player of an unknown status', match({ players: { ann: 'here' } }), 400, 'matches.0.players.ann'],
    ['a player without an id', match({ players: { '': 'in' } }), 400, 'matches.0.players.'],
    ['players that are a list', match({ players: ['ann'] }), 400, 'matches.0.players'],
    [
      'half a seat of a team',
      match({ seats: { open: true, teams: { team: 0.5 } } }),
      400,
      'matches.0.seats.teams.team',
    ],
    [
      'a ranking of an empty list',
      match({ status: 'over', result: { ranking: [[]] } }),
      400,
      'matches.0.result.ranking.0',
    ],
    ['a negative sequence number', { seq: -1 }, 400, 'seq'],
    ['a fractional sequence number', { seq: 0.5 }, 400, 'seq'],
    ['a body larger than its limit', { attributes: { a: 'x'.repeat(1_100_000) } }, 413, undefined],
    [
      '__proto__ among its players',
      '{"instance":"one","seq":9,"matches":[{"id":"m","status":"open","players":{"__proto__":"in"}}]}',
      400,
      '__proto__',
    ],
  ])('a game server’s report is refused and changes nothing if it has %s', async (_, state, status, field) => {
    const { register, send, token, matchId, playing, errors, seen } = await open()
    await register()
    await playing({ players: { ann: 'in' } })
    const text = typeof state === 'string' ? state : JSON.stringify({ instance: 'one', seq: 50, ...state })
    const answer = await send(token, 'PUT', '/servers/me', text.replaceAll('MATCH', matchId))
    expect([answer.status, answer.json['field']]).toEqual([status, field])
    // The next valid report is accepted.
    expect((await playing({ players: { ann: 'in', ben: 'left' } })).status).toBe(200)
    expect(seen.playersLeft).toHaveLength(1)
    expect(seen.matchOver).toBeUndefined()
    expect(errors).toEqual([])
  })

  test('a server report may name 1,000 players, with ids such as `constructor` of Object.prototype', async () => {
    const odd = ['constructor', 'toString', 'hasOwnProperty', 'prototype', '💥', ' ', 'a'.repeat(128)]
    const { register, playing, errors, matchmaker } = await open({}, odd.slice(0, 2))
    await register()
    const players = { ...many(1000 - odd.length), ...Object.fromEntries(odd.map((id) => [id, 'in'])) }
    expect(await playing({ players })).toMatchObject({ status: 200, json: { want: 'run' } })
    expect((await playing({ players: { ...players, constructor: 'left' } })).status).toBe(200)
    expect(matchmaker.inspect().matches[0]?.playerIds).toEqual(['toString'])
    expect(errors).toEqual([])
  })

  test.each([
    ['wait=21', 'wait'],
    ['wait=-1', 'wait'],
    ['wait=1e9', 'wait'],
    ['version=x', 'version'],
    ['version=9007199254740993', 'version'],
  ])('a long poll of a game server is refused for the query %s', async (query, field) => {
    const { register, report } = await open()
    await register()
    expect(await report({}, undefined, `?${query}`)).toMatchObject({ status: 400, json: { field } })
  })
})

describe('a registered game server', () => {
  test('a server’s long poll is answered after its wait time, or when the server polls again', async () => {
    const { register, report, clock, run, token } = await open()
    const { json } = await register()
    const version = String(json['version'])
    const before = clock.now()
    const held = report({}, token, `?wait=20&version=${version}`).then(({ status }) => [status, clock.now() - before])
    await run(5000)
    const again = report({}, token, `?wait=20&version=${version}`).then(({ status }) => [status, clock.now() - before])
    await run(30_000)
    expect(await held).toEqual([200, 5000])
    expect(await again).toEqual([200, 25_000])
  })

  test('a player whom a server reports as left loses their join token in their ticket and in their group', async () => {
    const { send, run, tokenOf, matchmaker } = await open()
    const become = async (who: string, path: string) =>
      (await send(who, 'POST', path, { profile: 'duel', is_ready: false })).json
    const cat = await become('cat', '/groups')
    const group = `/groups/${String(cat['group_id'])}`
    const dee = await become('dee', `${group}/members`)
    const members = {
      cat: `${group}/members/${String(cat['member_id'])}`,
      dee: `${group}/members/${String(dee['member_id'])}`,
    }
    for (const [who, path] of Object.entries(members)) await send(who, 'PATCH', path, { is_ready: true })
    await run(6000)
    const match = matchmaker.inspect().matches.find(({ playerIds }) => playerIds.includes('cat'))
    await send(tokenOf(1), 'POST', '/servers', { instance: 'two' })
    const report = async (seq: number, players: object) => {
      const matches = [{ id: match?.matchId, status: 'open', players }]
      expect((await send(tokenOf(1), 'PUT', '/servers/me', { instance: 'two', seq, matches })).status).toBe(200)
    }
    await report(1, { cat: 'in', dee: 'in' })
    await run(500)
    const tokens = async (who: 'cat' | 'dee') => {
      const { json } = await send(who, 'GET', members[who], undefined)
      const ticket = (await send(who, 'GET', `/tickets/${String(json['ticket_id'])}`, undefined)).json
      return [json, ticket].map(({ assignment }) => 'join_token' in (assignment as object))
    }
    expect([await tokens('cat'), await tokens('dee')].flat()).toEqual([true, true, true, true])
    await report(2, { cat: 'in', dee: 'left' })
    expect([await tokens('cat'), await tokens('dee')].flat()).toEqual([true, true, false, false])
  })

  test('a server is not lost while it long-polls with the longest wait', async () => {
    const { register, report, run, token, matchmaker, playing } = await open()
    await register()
    const { json } = await playing()
    for (let nth = 0; nth < 4; nth += 1) {
      const held = report(
        { matches: [{ id: matchmaker.inspect().matches[0]?.matchId, status: 'open' }] },
        token,
        `?wait=20&version=${String(json['version'])}`,
      )
      await run(20_250)
      expect((await held).status).toBe(200)
    }
    expect(matchmaker.inspect().matches[0]).toMatchObject({ phase: 'running' })
  })

  test('a server process gets 410 for a foreign deployment, and 503 while its own deployment is unknown', async () => {
    let createMs = 0
    const { send, token, tokenOf, run, matchmaker } = await open({}, ['ann'], {
      service: { latencyMs: (method) => (method === 'create' ? createMs : 0) },
    })
    const register = (deployment: unknown, who = token) =>
      send(who, 'POST', '/servers', { instance: 'one', deployment })
    expect((await register('r1')).status).toBe(200)
    expect(await register('r2')).toMatchObject({ status: 410, json: { code: 'server-gone' } })
    expect(await register('r 1')).toMatchObject({ status: 400, json: { field: 'deployment' } })
    createMs = 2000
    matchmaker.createTicket({ queue: 'duel', players: [{ id: 'ben', ip: '198.51.100.7' }] })
    await run(1000)
    const early = await register('r2', tokenOf(1))
    expect(early).toMatchObject({ status: 503, json: { code: 'unavailable' } })
    expect(early.headers.get('retry-after')).toBe('1')
    await run(4000)
    expect((await register('r2', tokenOf(1))).status).toBe(200)
  })

  test('two processes of one server each get their own orders, even during a long poll', async () => {
    const { register, send, token, run, playing, matchId, clock } = await open()
    await register()
    await playing()
    await run(1000)
    const { json } = await playing()
    const exchange = async (instance: string, seq: number, version: unknown) => {
      const begunAt = clock.now()
      const matches = [{ id: matchId, status: 'open' }]
      const path = `/servers/me?wait=10&version=${String(version)}`
      const answer = await send(token, 'PUT', path, { instance, seq, matches })
      return { ...answer, passed: clock.now() - begunAt }
    }
    const waiting = exchange('one', 50, json['version'])
    await run(1000)
    const second = await register(token, 'two')
    const replaced = await waiting
    expect(replaced.json).toMatchObject({ want: 'drain', reason: 'replaced', matches: [] })
    const [version, known] = [second.json['version'], replaced.json['version']]
    const held = exchange('two', 1, version)
    await run(1000)
    const drains = exchange('one', 51, known)
    await run(12_000)
    expect(await held).toMatchObject({ passed: 10_000, json: { want: 'run', matches: [{ id: matchId }] } })
    expect(await drains).toMatchObject({ passed: 10_000, json: { want: 'drain', matches: [] } })
  })

  test('hundreds of reports from one server are rate-limited, but not reports of others at its address', async () => {
    const { join, run, register, report, send, tokenOf, clock } = await open()
    join('cas', 'dan')
    await run(7000)
    await register()
    expect((await register(tokenOf(1), 'two')).status).toBe(200)
    const statuses: number[] = []
    let refused: Reply | undefined
    for (let nth = 0; nth < 400; nth += 1) {
      const answer = await report()
      statuses.push(answer.status)
      if (answer.status === 429) refused = answer
    }
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(300)
    expect(Number(refused?.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(refused?.json).toMatchObject({ code: 'too-many-requests' })
    expect((await send(tokenOf(1), 'PUT', '/servers/me', { instance: 'two', seq: 1 })).status).toBe(200)
    await clock.advance(5000)
    expect((await report()).status).toBe(200)
  })

  test.each([
    [
      'valid',
      { matches: Array.from({ length: 20 }, (_, nth) => ({ id: `m${nth}`, status: 'open', players: many(1000) })) },
    ],
    ['invalid', { junk: 'x'.repeat(270_000) }],
  ])('a server may send only two large reports a second on average, %s', async (_, state) => {
    const { register, report, clock } = await open()
    await register()
    expect(JSON.stringify(state).length).toBeGreaterThan(256 * 1024)
    let processed = 0
    for (let second = 0; second < 8; second += 1) {
      for (let nth = 0; nth < 12; nth += 1) if ((await report(state)).status !== 429) processed += 1
      await clock.advance(1000)
    }
    expect(processed).toBeGreaterThan(8)
    expect(processed).toBeLessThanOrEqual(8 * 2 + 10)
    await clock.advance(5000)
    expect((await report()).status).toBe(200)
  })

  test('each game server has its own rate limit, so that any number of servers can share one address', async () => {
    const { register, token, send } = await open({ limits: { perAddress: { limit: 5, windowMs: 60_000 } } })
    await register()
    for (let nth = 0; nth < 30; nth += 1)
      expect((await send(token, 'PUT', '/servers/me', { instance: 'one', seq: nth + 1 })).status).toBe(200)
  })
})
