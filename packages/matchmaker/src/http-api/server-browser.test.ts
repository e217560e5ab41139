import { createMemoryStore, type StoreMemory } from '@muster/hosting'
import { seededRandom } from '@muster/core/clock'
import { bearerToken } from '@muster/core/http'
import { describe, expect, test } from 'vitest'
import { open, world } from '../listed-servers.fixture.js'
import type { TicketApiOptions } from './api-options.js'
import { createTicketApi } from './ticket-api.js'

/**
 * Starts the ticket API over a real matchmaker with listed servers. Tokens are callers' ids, and `backend` is a
 * backend.
 */
function serve(options: Partial<TicketApiOptions> & { matchmaker?: Parameters<typeof open>[0] } = {}) {
  const { matchmaker: given, ...apiOptions } = options
  const all = open({ pools: [world], ...given })
  const api = createTicketApi(all.matchmaker, {
    authenticate: (request) => {
      const id = bearerToken(request)
      return id === undefined ? undefined : id === 'backend' ? { id, role: 'backend' } : { id }
    },
    clock: all.clock,
    random: seededRandom(1),
    limits: { perCaller: null, perAddress: null },
    onError: (error) => {
      throw error
    },
    ...apiOptions,
  })
  const call = async (who: string, target: string, body?: unknown, signal?: AbortSignal) => {
    const [method = '', path = ''] = target.split(' ')
    const request = new Request(`http://localhost${path}`, {
      method,
      headers: { authorization: `Bearer ${who}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal !== undefined && { signal }),
    })
    const response = await api(request, { remoteAddress: '198.51.100.7' })
    const text =
      response.headers.get('content-type')?.startsWith('text/event-stream') === true ? '' : await response.text()
    // Tests read any key of the body.
    return { status: response.status, json: (text === '' ? {} : JSON.parse(text)) as never, response, text }
  }
  return { ...all, call, api }
}
interface Seat {
  seat_id: string
  server_id: string
  player_id: string
  status: string
  assignment: { join_token?: string; fqdn: string } | null
  party?: Seat[]
}
interface Page {
  servers: { server_id: string; name: string; ping: number | null }[]
  total: number
  next: string | null
}

describe('GET /servers', () => {
  test('GET /servers returns a page of the server list without data of players', async () => {
    const { call, listed, servers, run } = serve()
    await listed({ password: 'secret' })
    if (servers[0] !== undefined) servers[0].players = { ann: 'in' }
    await run(1000)
    const { status, json, text } = await call('ben', 'GET /servers?where=mode%20eq%20ctf&sort=-seats.taken&limit=1')
    expect(status).toBe(200)
    expect(json).toMatchObject({
      total: 2,
      servers: [
        {
          name: 'world 0',
          pool: 'arena',
          build: '7',
          open: true,
          password: true,
          attributes: { mode: 'ctf' },
          seats: { total: 2, free: 1, held: 0, taken: 1, away: 0 },
          teams: [],
        },
      ],
    })
    for (const hidden of ['ann', 'secret', '198.51.100.7', 'example.com']) expect(text).not.toContain(hidden)
    const { next } = json as Page
    const second = await call('ben', `GET /servers?where=mode%20eq%20ctf&sort=-seats.taken&limit=1&cursor=${next}`)
    expect(second.json).toMatchObject({ total: 2, next: null, servers: [{ name: 'world 1' }] })
  })

  test('GET /servers refuses an invalid filter with its field and column', async () => {
    const { call } = serve()
    const { status, json } = await call('ben', 'GET /servers?where=mode%20eq%20ctf&where=seats.free%20ge%20two')
    expect(status).toBe(400)
    expect(json).toMatchObject({ type: 'urn:muster:problem:filter', field: 'where.1', column: 15 })
    expect((await call('ben', 'GET /servers?limit=101')).status).toBe(400)
    expect((await call('ben', `GET /servers?${'where=mode%20eq%20ctf&'.repeat(17)}`)).status).toBe(400)
    expect((await call('ben', `GET /servers?q=${'x'.repeat(65)}`)).status).toBe(400)
  })

  test('GET /servers returns pings from the caller’s measurements, or else estimates from the address', async () => {
    const { call, listed } = serve({
      locate: () => ({ latitude: 48.1, longitude: 11.6 }),
      beacons: async () =>
        [
          {
            host: '203.0.113.1',
            fqdn: 'a',
            udp_port: 1,
            tcp_port: 1,
            location: { city: 'Oslo', latitude: 59.9, longitude: 10.7 },
          },
        ] as never,
    })
    await listed()
    const at = (await call('ben', 'GET /servers')).json as Page
    // Munich and Oslo are 1,314 km apart.
    expect(at.servers.map(({ ping }) => ping)).toEqual([40, 40])
    const measured = (await call('ben', 'GET /servers?latency=Oslo%2063')).json as Page
    expect(measured.servers.map(({ ping }) => ping)).toEqual([60, 60])
    expect(((await call('ben', 'GET /servers?latency=Oslo%2063&where=ping%20lt%2050')).json as Page).total).toBe(0)
  })

  test('each listed server can be read at its own path, GET /servers/{id}', async () => {
    const { call, listed } = serve()
    const [first = ''] = await listed()
    expect((await call('ben', `GET /servers/${first}`)).json).toMatchObject({ server_id: first, name: 'world 0' })
    expect((await call('ben', 'GET /servers/none')).status).toBe(404)
  })
})

describe('a seat on a listed server', () => {
  test('a seat on a listed server can be held, read, renewed and given back', async () => {
    const { call, listed, run } = serve()
    const [first = ''] = await listed()
    const held = await call('ann', `POST /servers/${first}/seats`, { build: '7' })
    expect(held.status).toBe(201)
    const seat = held.json as Seat
    expect(seat).toMatchObject({ server_id: first, player_id: 'ann', team_id: null, status: 'held' })
    expect(seat.assignment?.join_token).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/)
    expect((await call('ann', `POST /servers/${first}/seats`, {})).status).toBe(200)
    for (let beat = 0; beat < 5; beat += 1) {
      await run(20_000)
      expect((await call('ann', `GET /seats/${seat.seat_id}`)).status).toBe(200)
    }
    // `GET /me` alone has everything that a player needs to rejoin.
    const me = (await call('ann', 'GET /me')).json as { seats: Seat[] }
    expect(me.seats).toMatchObject([{ seat_id: seat.seat_id, status: 'held' }])
    expect(me.seats[0]?.assignment?.join_token).toBeDefined()
    expect((await call('ben', `GET /seats/${seat.seat_id}`)).status).toBe(404)
    expect((await call('ben', `DELETE /seats/${seat.seat_id}`)).status).toBe(404)
    expect((await call('ann', `DELETE /seats/${seat.seat_id}`)).status).toBe(204)
    expect((await call('ann', `GET /seats/${seat.seat_id}`)).status).toBe(404)
  })

  test('a seat is refused to a player whose id cannot be a JSON key in reports, such as __proto__', async () => {
    const { call, listed } = serve()
    const [first = ''] = await listed()
    const refused = await call('__proto__', `POST /servers/${first}/seats`, {})
    expect(refused).toMatchObject({ status: 400, json: { field: 'player_id' } })
    expect((await call('constructor', `POST /servers/${first}/seats`, {})).status).toBe(201)
  })

  test('a refused seat has a different code for each reason', async () => {
    const { call, listed, servers, run } = serve()
    const [first = '', second = ''] = await listed()
    if (servers[1]?.listing !== undefined) servers[1].listing['password'] = 'secret'
    await call('ann', `POST /servers/${first}/seats`, {})
    if (servers[0] !== undefined) servers[0].players = { ann: 'in' }
    await run(1000)
    const post = async (who: string, id: string, body: unknown = {}) => {
      const { status, json, text } = await call(who, `POST /servers/${id}/seats`, body)
      expect(text).not.toContain('secret')
      const { type, ...members } = json as { type: string; alternatives?: string[]; seat_id?: string }
      return [status, type.replace('urn:muster:problem:', ''), members] as const
    }
    expect((await post('ben', 'none')).slice(0, 2)).toEqual([404, 'no-such-server'])
    expect((await post('ben', first, { build: '8' })).slice(0, 2)).toEqual([409, 'wrong-build'])
    expect((await post('ben', second, { password: 'x' })).slice(0, 2)).toEqual([403, 'wrong-password'])
    const elsewhere = await post('ann', second, { password: 'secret' })
    expect(elsewhere.slice(0, 2)).toEqual([409, 'seat-held-elsewhere'])
    expect(elsewhere[2].seat_id).toBeDefined()
    await call('ben', `POST /servers/${first}/seats`, {})
    const full = await post('cat', first)
    expect(full.slice(0, 2)).toEqual([409, 'server-full'])
    // The other server needs a password, so it is not suggested.
    expect(full[2].alternatives).toEqual([])
    expect((await post('cat', first, { player_ids: ['dan'] })).slice(0, 2)).toEqual([403, 'backend-only'])
    await post('ben', second, { password: 'x' })
    await post('ben', second, { password: 'x' })
    expect((await post('ben', second, { password: 'secret' })).slice(0, 2)).toEqual([429, 'too-many-tries'])
  })

  test('seats on a listed server are held for all members of a group or for none', async () => {
    const { call, listed, servers, run } = serve()
    const [first = '', second = ''] = await listed()
    const group = (await call('ann', 'POST /groups', { profile: 'duel', is_ready: false })).json as { group_id: string }
    expect(
      await call('ben', `POST /groups/${group.group_id}/members`, { profile: 'duel', is_ready: false }),
    ).toMatchObject({ status: 201 })
    if (servers[0] !== undefined) servers[0].players = { cat: 'in' }
    await run(1000)
    const body = { group_id: group.group_id }
    const full = await call('ann', `POST /servers/${first}/seats`, body)
    expect(full).toMatchObject({ status: 409, json: { alternatives: [second] } })
    expect((await call('ben', 'GET /me')).json).toMatchObject({ seats: [] })
    const held = await call('ann', `POST /servers/${second}/seats`, body)
    expect(held).toMatchObject({ status: 201, json: { player_id: 'ann' } })
    expect(held.text).not.toContain('ben')
    expect((await call('ben', 'GET /me')).json).toMatchObject({ seats: [{ server_id: second, player_id: 'ben' }] })
    // A player can take seats only for a group that they are in.
    expect((await call('eve', `POST /servers/${second}/seats`, body)).status).toBe(404)
  })

  test('a seat is refused without saying where another member of the group plays', async () => {
    const { call, listed, servers, run } = serve()
    const [first = '', second = ''] = await listed()
    const group = (await call('ann', 'POST /groups', { profile: 'duel', is_ready: false })).json as { group_id: string }
    expect(
      await call('ben', `POST /groups/${group.group_id}/members`, { profile: 'duel', is_ready: false }),
    ).toMatchObject({ status: 201 })
    await call('ben', `POST /servers/${first}/seats`, {})
    if (servers[0] !== undefined) servers[0].players = { ben: 'in' }
    await run(1000)
    const { status, json, text } = await call('ann', `POST /servers/${second}/seats`, { group_id: group.group_id })
    expect([status, (json as { type: string }).type]).toEqual([409, 'urn:muster:problem:member-playing'])
    expect(text).not.toContain(first)
  })

  test('a seat is refused with the end of a member’s cooldown, without naming the member', async () => {
    const { call, listed, run, clock } = serve()
    const [first = ''] = await listed()
    const group = (await call('ann', 'POST /groups', { profile: 'duel', is_ready: false })).json as { group_id: string }
    await call('ben', `POST /groups/${group.group_id}/members`, { profile: 'duel', is_ready: false })
    for (let hold = 0; hold < 3; hold += 1) {
      await call('ben', `POST /servers/${first}/seats`, {})
      await run(36_000)
    }
    const { status, json, text, response } = await call('ann', `POST /servers/${first}/seats`, {
      group_id: group.group_id,
    })
    expect([status, (json as { type: string }).type]).toEqual([409, 'urn:muster:problem:member-cooling-down'])
    const waitMs = Date.parse((json as { retry_at: string }).retry_at) - clock.now()
    expect(response.headers.get('retry-after')).toBe(String(Math.ceil(waitMs / 1000)))
    expect(text).not.toContain('ben')
  })

  test('a backend can hold seats for many players with one request', async () => {
    const { call, listed } = serve()
    const [first = ''] = await listed()
    const held = await call('backend', `POST /servers/${first}/seats`, { player_ids: ['ann', 'ben'] })
    expect(held.status).toBe(201)
    expect((held.json as Seat).party?.map(({ player_id }) => player_id)).toEqual(['ann', 'ben'])
    expect((await call('backend', `POST /servers/${first}/seats`, {})).status).toBe(400)
  })
})

describe('a quick join by POST /seats', () => {
  test('POST /seats takes the best server that fits, or the next best if that server is full by then', async () => {
    const { call, listed, matchmaker } = serve()
    const [first = '', second = ''] = await listed()
    await call('ann', 'GET /servers')
    // The cached list, which is up to a second old, does not show this yet.
    matchmaker.holdSeats({ serverId: first, playerIds: ['x', 'y'] })
    const joined = await call('ann', 'POST /seats', { where: ['mode eq ctf'], sort: 'name', build: '7' })
    expect(joined).toMatchObject({ status: 201, json: { server_id: second, status: 'held' } })
    const none = await call('ben', 'POST /seats', { where: ['mode eq dm'] })
    expect(none).toMatchObject({ status: 409, json: { type: 'urn:muster:problem:no-server-fits' } })
    expect((await call('ben', 'POST /seats', { where: ['mode is dm'] })).json).toMatchObject({ column: 6 })
  })

  test('POST /seats skips servers with a password, without counting as a password attempt', async () => {
    const { call, listed, servers, run } = serve()
    const [first = '', second = ''] = await listed()
    if (servers[0]?.listing !== undefined) servers[0].listing['password'] = 'secret'
    await run(1000)
    for (let nth = 0; nth < 5; nth += 1)
      expect((await call('ann', 'POST /seats', { sort: 'name' })).json).toMatchObject({ server_id: second })
    expect(await call('ann', 'POST /seats', { password: 'secret' })).toMatchObject({ status: 400 })
    expect(await call('ann', `POST /servers/${first}/seats`, { password: 'secret' })).toMatchObject({ status: 201 })
  })

  test('POST /seats takes a server that has a free place in the wanted team', async () => {
    const { call, listed, servers, run } = serve()
    const [first = '', second = ''] = await listed()
    if (servers[1]?.listing !== undefined) servers[1].listing['teams'] = { red: 1, blue: 1 }
    await run(1000)
    expect(await call('ann', `POST /servers/${first}/seats`, { team: 'red' })).toMatchObject({
      status: 400,
      json: { type: 'urn:muster:problem:no-such-team' },
    })
    const red = { team: 'red', sort: 'name' }
    expect((await call('ann', 'POST /seats', red)).json).toMatchObject({ server_id: second, team_id: 'red' })
    expect((await call('ben', 'POST /seats', red)).json).toMatchObject({ type: 'urn:muster:problem:no-server-fits' })
    expect((await call('ben', `POST /servers/${second}/seats`, { team: 'red' })).json).toMatchObject({
      type: 'urn:muster:problem:server-full',
    })
  })

  test('POST /seats with `start` starts a server if none fits, and the player can follow the seat', async () => {
    const custom = { perPlayer: 1, max: 1 }
    const { call, run, matchmaker } = serve({ matchmaker: { pools: [{ ...world, at: [], custom }] } })
    await run(1000)
    const started = await call('ann', 'POST /seats', { start: true })
    expect(started).toMatchObject({ status: 202, json: { status: 'starting', assignment: null } })
    const { seat_id } = started.json as Seat
    expect((await call('ann', `GET /seats/${seat_id}`)).json).toMatchObject({ status: 'starting' })
    expect((await call('ben', `GET /seats/${seat_id}`)).status).toBe(404)
    await run(9000)
    expect((await call('ann', `GET /seats/${seat_id}`)).json).toMatchObject({ status: 'held', player_id: 'ann' })
    expect(matchmaker.listedServers().servers).toMatchObject([{ name: 'arena' }])
    const more = await call('ben', 'POST /pools/arena/servers', { name: "ben's" })
    expect(more).toMatchObject({ status: 503, json: { type: 'urn:muster:problem:no-capacity' } })
    expect(more.response.headers.get('retry-after')).toBe('10')
    expect((await call('ben', 'POST /pools/other/servers', {})).json).toMatchObject({ field: 'pool' })
    const chosen = await call('ben', 'POST /pools/arena/servers', { attributes: { admin: true } })
    expect(chosen).toMatchObject({ status: 400, json: { field: 'attributes.admin' } })
    for (const name of ['\u202eb', '\u3164', ' '])
      expect((await call('ben', 'POST /pools/arena/servers', { name })).json).toMatchObject({ field: 'name' })
  })
})

describe('the seats of a group on a server that it starts', () => {
  test('each group member who requests the server that the group starts gets their own seat on it', async () => {
    const { call, run } = serve({ matchmaker: { pools: [{ ...world, custom: { perPlayer: 1, max: 1 } }] } })
    const group = (await call('ann', 'POST /groups', { profile: 'duel', is_ready: false })).json as { group_id: string }
    await call('ben', `POST /groups/${group.group_id}/members`, { profile: 'duel', is_ready: false })
    await run(8000)
    const body = { group_id: group.group_id }
    for (const who of ['ann', 'ben']) {
      const started = await call(who, 'POST /pools/arena/servers', body)
      expect(started).toMatchObject({ status: 202, json: { seats: [{ player_id: who, status: 'starting' }] } })
      const joined = await call(who, 'POST /seats', { start: true, ...body })
      expect(joined).toMatchObject({ status: 202, json: { player_id: who, status: 'starting' } })
    }
  })
})

test('the server API answers 503 about listed servers that have not registered again after a restart', async () => {
  const memory: StoreMemory = new Map()
  const first = serve({ matchmaker: { pools: [world], store: createMemoryStore(memory) } })
  const [id = ''] = await first.listed()
  const held = (await first.call('ann', `POST /servers/${id}/seats`, {})).json as Seat
  const { call, matchmaker } = serve({ matchmaker: { pools: [world], store: createMemoryStore(memory) } })
  await matchmaker.ready()
  for (const target of [
    'GET /servers',
    'GET /servers/events',
    `GET /servers/${id}`,
    `POST /servers/${id}/seats`,
    'POST /seats',
    `GET /seats/${held.seat_id}`,
    `DELETE /seats/${held.seat_id}`,
  ]) {
    const { status, json, response } = await call('ann', target, target.startsWith('POST') ? {} : undefined)
    expect([target, status, response.headers.get('retry-after')]).toEqual([target, 503, '1'])
    expect(json).toMatchObject({ type: 'urn:muster:problem:unavailable' })
  }
  expect((await call('ann', 'POST /servers/none/seats', {})).status).toBe(404)
})

describe('GET /servers/events', () => {
  /** Returns a reader of a stream's events. */
  const events = (response: Response) => {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    return async () => {
      for (;;) {
        const { value = '', done } = (await reader?.read()) ?? { done: true }
        if (done) return undefined
        const name = /^event: (.*)$/m.exec(value)?.[1]
        if (name !== undefined) return [name, JSON.parse(/^data: (.*)$/m.exec(value)?.[1] ?? '{}')] as const
      }
    }
  }

  test('GET /servers/events sends the page, and then each change of the page', async () => {
    const { call, listed, matchmaker, clock, api } = serve()
    const [first = ''] = await listed()
    const leaving = new AbortController()
    const { response } = await call('ann', 'GET /servers/events?sort=name', undefined, leaving.signal)
    const next = events(response)
    const whole = await next()
    expect(whole).toMatchObject(['page', { total: 2, servers: [{ name: 'world 0' }, { name: 'world 1' }] }])
    matchmaker.holdSeats({ serverId: first, playerIds: ['ben'] })
    const change = next()
    await clock.advance(1000)
    expect(await change).toMatchObject([
      'change',
      { total: 2, order: null, servers: [{ server_id: first, seats: { free: 1, held: 1 } }] },
    ])
    expect(api.counts().waiting).toBe(1)
    leaving.abort()
    await clock.advance(0)
    expect(api.counts().waiting).toBe(0)
  })

  test('GET /servers/events is limited in open streams per player and in total', async () => {
    const { call, listed, clock, api } = serve({
      limits: { perCaller: null, perAddress: null, waitsPerCaller: 2, waits: 3 },
    })
    await listed()
    const first = events((await call('ann', 'GET /servers/events')).response)
    await first()
    await call('ann', 'GET /servers/events')
    await call('ann', 'GET /servers/events')
    // The oldest stream ends.
    await clock.advance(0)
    expect(await first()).toBeUndefined()
    expect(api.counts().waiting).toBe(2)
    await call('ben', 'GET /servers/events')
    const busy = await call('ben', 'GET /servers/events')
    expect([busy.status, (busy.json as { type: string }).type]).toEqual([503, 'urn:muster:problem:busy'])
  })
})

describe('POST /seats with `start` from many players', () => {
  const start = (call: ReturnType<typeof serve>['call'], ids: readonly string[]) =>
    Promise.all(ids.map((id) => call(id, 'POST /seats', { start: true })))
  const serversOf = (answers: readonly { json: never }[]) =>
    new Set(answers.flatMap(({ json }) => (json as { server_id?: string }).server_id ?? []))
  const players = (count: number) => Array.from({ length: count }, (_, nth) => `p${nth}`)
  const quick = { ...world, at: [], custom: { perPlayer: 1, max: 20 } }

  test('ten players who POST /seats with `start` share two starting servers of eight seats', async () => {
    const { call, run, service } = serve({ matchmaker: { pools: [quick] } })
    await run(1000)
    const answers = await start(call, players(10))
    expect(answers.map(({ status }) => status)).toEqual(Array<number>(10).fill(202))
    expect([serversOf(answers).size, service.calls.create.length]).toEqual([2, 2])
    await run(9000)
    const seats = await Promise.all(players(10).map((id, nth) => call(id, `GET /seats/${seatOf(answers[nth])}`)))
    expect(seats.map(({ json }) => (json as Seat).status)).toEqual(Array<string>(10).fill('held'))
    expect(serversOf(seats).size).toBe(2)
  })

  test('POST /seats starts no second server in the second in which the first server lists itself', async () => {
    const { call, run, service } = serve({ matchmaker: { pools: [quick] } })
    await run(1000)
    await start(call, ['ann'])
    for (let second = 0; second < 12; second += 1) {
      await run(1000)
      if (second < 7) await start(call, [`p${second}`])
    }
    expect(service.calls.create).toHaveLength(1)
  })

  test('players are moved to another server if a started server lists fewer seats than expected', async () => {
    const { call, run, service, servers } = serve({ matchmaker: { pools: [quick] } })
    await run(1000)
    const answers = await start(call, players(5))
    expect(service.calls.create).toHaveLength(1)
    for (let second = 0; second < 25; second += 1) {
      await run(1000)
      for (const server of servers) if (server?.listing !== undefined) server.listing['seats'] = 2
    }
    const seats = await Promise.all(players(5).map((id, nth) => call(id, `GET /seats/${seatOf(answers[nth])}`)))
    expect(seats.map(({ json }) => (json as Seat).status)).toEqual(Array<string>(5).fill('held'))
    expect([serversOf(seats).size, service.calls.create.length]).toEqual([3, 3])
  })

  test('POST /seats skips starting servers with a password, other attributes or another place', async () => {
    const tokyo = { name: 'Tokyo', latitude: 35.7, longitude: 139.7 }
    const pool = { ...quick, places: [...(world.places ?? []), tokyo] }
    const { call, run } = serve({
      matchmaker: { pools: [pool] },
      locate: async (ip) => (ip === '198.51.100.7' ? { latitude: 59.9, longitude: 10.7 } : undefined),
    })
    await run(1000)
    const answers = [
      await call('ann', 'POST /seats', { start: { password: 'hush' } }),
      await call('ben', 'POST /seats', { start: { attributes: { mode: 'ctf' } } }),
      await call('cat', 'POST /seats', { start: { attributes: { mode: 'dm' } } }),
      await call('dan', 'POST /seats', { start: { attributes: { mode: 'ctf' } } }),
      await call('eve', 'POST /pools/arena/servers', { attributes: { mode: 'ctf' } }),
    ]
    expect(serversOf(answers).size).toBe(4)
  })

  test('a started server is kept for its other players when the player who started it gives it back', async () => {
    const { call, run, service } = serve({ matchmaker: { pools: [quick] } })
    await run(1000)
    const answers = await start(call, ['ann', 'ben', 'cat'])
    expect((await call('ann', `DELETE /seats/${seatOf(answers[0])}`)).status).toBe(204)
    expect((await call('cat', `DELETE /seats/${seatOf(answers[2])}`)).status).toBe(204)
    await run(9000)
    expect((await call('ben', `GET /seats/${seatOf(answers[1])}`)).json).toMatchObject({ status: 'held' })
    expect((await call('cat', `GET /seats/${seatOf(answers[2])}`)).status).toBe(404)
    // Ann no longer owns a server, so she may start one.
    expect((await call('ann', 'POST /pools/arena/servers', { name: "ann's" })).status).toBe(202)
    expect(service.calls.create).toHaveLength(2)
  })
})

const seatOf = (answer: { json: never } | undefined): string => (answer?.json as Seat | undefined)?.seat_id ?? ''
