import { createManualClock } from '@muster/core/clock'
import { bearerToken, createMemoryLimitStore, type LimitStore } from '@muster/core/http'
import { describe, expect, test } from 'vitest'
import { createTicketApi } from './ticket-api.js'
import { setUp, setUpReal } from './ticket-api.fixture.js'
import type { TicketApiOptions } from './api-options.js'
import { ticketRoutes } from './routes.js'
import { deploy } from '../matchmaker.fixture.js'

const KEY = 'a key of the game that is long enough'
const shared = (sharedKey = KEY): Pick<TicketApiOptions, 'authenticate'> => ({
  authenticate: (request) => {
    const token = bearerToken(request)
    if (token === 'everyone') return { id: 'shared', sharedKey }
    return token === undefined ? undefined : { id: token, ...(token === 'backend' && { role: 'backend' as const }) }
  },
})
const queues = [{ name: 'duel', matchSize: 4, deploy }]
const solo = { profile: 'duel', attributes: {} }
const SECRET = 'drawn-by-the-client'
const home = { from: '192.0.2.1' }
const elsewhere = { from: '198.51.100.9' }

const annBy = (player_secret: string) => ({ player_id: 'ann', player_secret })

interface Ticket {
  readonly id: string
  readonly player_id: string
}
const of = (answer: { readonly json: never }) => answer.json as Ticket

describe('a token shared by many players', () => {
  test('a shared token creates each ticket for a new player, usable only from the same network', async () => {
    const { call, service } = setUpReal(queues, shared())
    const first = of(await call('everyone', 'POST', '/tickets', solo, home))
    const second = of(await call('everyone', 'POST', '/tickets', solo, home))
    expect(first.player_id).not.toBe(second.player_id)
    for (const [method, path] of [
      ['GET', `/tickets/${first.id}`],
      ['GET', `/tickets/${first.id}/explain`],
      ['DELETE', `/tickets/${first.id}`],
    ] as const)
      expect((await call('everyone', method, path, undefined, elsewhere)).status).toBe(404)
    expect(await call('everyone', 'GET', `/tickets/${first.id}`, undefined, home)).toMatchObject({ status: 200 })
    expect((await call('everyone', 'DELETE', `/tickets/${first.id}`, undefined, home)).status).toBe(204)
    expect(service.inspect().queues[0]?.players).toBe(1)
  })

  test('players who share a token in one network each have their own number of long polls', async () => {
    const { call } = setUpReal(queues, { ...shared(), limits: { waitsPerCaller: 1 } })
    const ids = await Promise.all(
      [solo, solo].map(async () => of(await call('everyone', 'POST', '/tickets', solo, home)).id),
    )
    let over = 0
    const poll = (id: string) =>
      void call('everyone', 'GET', `/tickets/${id}?wait=20`, undefined, home).then(() => (over += 1))
    for (const id of ids) poll(id)
    await call('everyone', 'GET', '/queues', undefined, home)
    expect(over).toBe(0)
    poll(ids[0] ?? '')
    await expect.poll(() => over).toBe(1)
  })

  test('a player whose id names a network does not use up the limits of a token shared there', async () => {
    const limits = { perCaller: { limit: 2, windowMs: 3000 }, waitsPerCaller: 1 }
    const authenticate: TicketApiOptions['authenticate'] = (request, connection) =>
      bearerToken(request) === 'named' ? { id: `network ${home.from}` } : shared().authenticate(request, connection)
    const { call } = setUpReal(queues, { authenticate, limits })
    const { id } = of(await call('everyone', 'POST', '/tickets', solo, home))
    const polled = call('everyone', 'GET', `/tickets/${id}?wait=20`, undefined, home)
    let isOver = false
    void polled.then(() => (isOver = true))
    const own = of(await call('named', 'POST', '/tickets', solo, elsewhere))
    void call('named', 'GET', `/tickets/${own.id}?wait=20`, undefined, elsewhere)
    expect((await call('named', 'GET', '/queues', undefined, elsewhere)).status).toBe(429)
    expect(isOver).toBe(false)
  })

  test('a player with a shared token is identified by name, secret and network together', async () => {
    const { call } = setUpReal(queues, shared())
    const ask = (name: string, secret: string, from: object) =>
      call('everyone', 'POST', '/tickets', { ...solo, player_id: name, player_secret: secret }, from)
    const ann = of(await ask('ann', SECRET, home))
    expect(ann.player_id).toMatch(/^ann~[\w-]{32}$/)
    expect(await ask('ann', SECRET, home)).toMatchObject({ status: 409, json: { code: 'player-busy' } })
    const others = [
      await ask('ann', 'another-secret-of-16', home),
      await ask('ann', SECRET, elsewhere),
      await ask('ben', SECRET, home),
    ]
    expect(others.map(({ status }) => status)).toEqual([201, 201, 201])
    expect(new Set([ann, ...others.map(of)].map((one) => one.player_id)).size).toBe(4)
    // Ids must not reveal which players come from the same network.
    const ofNetwork = [ann, ...others.map(of)].map((one) => one.player_id.slice(-16))
    expect(new Set(ofNetwork).size).toBe(4)
  })

  test('a caller with a shared token is never taken for a player who has a token of their own', async () => {
    const { call } = setUpReal(queues, shared())
    const real = of(await call('ann', 'POST', '/tickets', solo, home))
    expect(real.player_id).toBe('ann')
    const body = { ...solo, player_id: 'ann', player_secret: SECRET }
    expect((await call('everyone', 'POST', '/tickets', body, home)).status).toBe(201)
    expect((await call('everyone', 'GET', `/tickets/${real.id}`, undefined, home)).status).toBe(404)
    const guess = { ...solo, player_id: `ann~${'A'.repeat(32)}`, player_secret: SECRET }
    expect(of(await call('everyone', 'POST', '/tickets', guess, home)).player_id).toMatch(/^ann~A{32}~[\w-]{32}$/)
  })

  test.each<[what: string, who: string, body: object, field: string, header?: string]>([
    ['a name without a secret', 'everyone', { player_id: 'ann' }, 'player_secret'],
    ['a secret without a name', 'everyone', { player_secret: SECRET }, 'player_id'],
    ['a short secret', 'everyone', { player_id: 'ann', player_secret: 'short-secret' }, 'player_secret'],
    ['a long name', 'everyone', { player_id: 'a'.repeat(81), player_secret: SECRET }, 'player_id'],
    ['a name that looks like another name', 'everyone', { player_id: 'ann\u3164', player_secret: SECRET }, 'player_id'],
    ['a blank name', 'everyone', { player_id: ' ', player_secret: SECRET }, 'player_id'],
    ['coordinates', 'everyone', { coordinates: { latitude: 0, longitude: 0 } }, 'coordinates'],
    ['a secret of a player with a token', 'ann', { player_secret: SECRET }, 'player_secret'],
    [
      'a player secret sent by a backend',
      'backend',
      { player_ip: '192.0.2.1', player_secret: SECRET },
      'player_secret',
    ],
    ['a secret header without a name', 'everyone', {}, 'player_id', 'drawn-for-the-header'],
    [
      'a secret in the body that differs from the header',
      'everyone',
      annBy(SECRET),
      'player_secret',
      'drawn-for-the-header',
    ],
    ['a secret header that is too short', 'everyone', annBy(SECRET), 'x-player-secret', 'short-secret'],
    [
      'a secret header with non-ASCII letters',
      'everyone',
      { ...solo, player_id: 'ann' },
      'x-player-secret',
      'geheimer-schlüssel',
    ],
    ['a secret header that is too long', 'everyone', annBy(SECRET), 'x-player-secret', 'drawn'.repeat(52)],
  ])(
    'a request with a shared token is refused with %s, and the error does not contain the secret',
    async (_, who, body, field, header) => {
      const { call } = setUpReal(queues, shared())
      const given = header === undefined ? home : { ...home, headers: { 'x-player-secret': header } }
      const { status, json } = await call(who, 'POST', '/tickets', { ...solo, ...body }, given)
      expect([status === 400 || status === 403, (json as { field: string }).field]).toEqual([true, field])
      expect(JSON.stringify(json)).not.toMatch(/drawn|short-secret/)
    },
  )

  test('a shared token identifies the same player in every process that has the same key', async () => {
    const { call, service } = setUpReal(queues, shared())
    const ann = of(
      await call('everyone', 'POST', '/tickets', { ...solo, player_id: 'ann', player_secret: SECRET }, home),
    )
    const statusBy = async (key: string, from: string) => {
      const api = createTicketApi(service, { ...shared(key), clock: createManualClock() })
      const headers = { authorization: 'everyone' }
      const request = new Request(`http://localhost/tickets/${ann.id}`, { headers })
      return (await api(request, { remoteAddress: from })).status
    }
    expect(await statusBy(KEY, '192.0.2.1')).toBe(200)
    expect(await statusBy(KEY, '198.51.100.9')).toBe(404)
    expect(await statusBy('another key that is long enough too', '192.0.2.1')).toBe(404)
  })

  test('players with a shared token can form groups, in which each member acts only for themselves', async () => {
    const { call, service } = setUpReal(queues, shared())
    const body = (name: string) => ({ ...solo, player_id: name, player_secret: SECRET })
    interface Member {
      readonly group_id: string
      readonly member_id: string
    }
    const ann = (await call('everyone', 'POST', '/groups', { ...body('ann'), is_ready: false }, home)).json as Member
    const path = `/groups/${ann.group_id}`
    const ben = (await call('everyone', 'POST', `${path}/members`, body('ben'), elsewhere)).json as Member
    const member = (one: Member) => `${path}/members/${one.member_id}`
    expect((await call('everyone', 'PATCH', member(ann), { is_ready: true }, elsewhere)).status).toBe(404)
    expect((await call('everyone', 'DELETE', path, undefined, elsewhere)).status).toBe(403)
    expect((await call('everyone', 'GET', path, undefined, { from: '203.0.113.5' })).status).toBe(404)
    expect((await call('everyone', 'PATCH', member(ann), { is_ready: true }, home)).status).toBe(200)
    expect(service.exportTickets().tickets[0]?.players).toHaveLength(2)
    expect((await call('everyone', 'DELETE', member(ben), undefined, elsewhere)).status).toBe(204)
    expect(service.exportTickets().tickets).toEqual([])
  })

  test('stream tokens for a shared token are issued only for tickets of the same network', async () => {
    const { call } = setUpReal(queues, shared())
    const { id } = of(await call('everyone', 'POST', '/tickets', solo, home))
    expect((await call('everyone', 'POST', `/tickets/${id}/stream-token`, undefined, home)).status).toBe(201)
    expect((await call('everyone', 'POST', `/tickets/${id}/stream-token`, undefined, elsewhere)).status).toBe(404)
  })

  test('with a shared token, only a client with its secret in a header may continue from another network', async () => {
    const { call, service } = setUpReal(queues, shared())
    const named = { ...solo, player_id: 'ann' }
    // The ticket was created in the home network, by a client that sent the secret in the body.
    const first = of(await call('everyone', 'POST', '/tickets', { ...named, player_secret: SECRET }, home))
    const path = `/tickets/${first.id}`
    const mobile = { ...elsewhere, headers: { 'x-player-secret': SECRET } }
    const wrong = { ...elsewhere, headers: { 'x-player-secret': 'another-secret-of-16' } }
    expect(await call('everyone', 'GET', path, undefined, mobile)).toMatchObject({ status: 200, json: first })
    expect(await call('everyone', 'GET', path, undefined, home)).toMatchObject({ status: 200, json: first })
    for (const [method, of] of [
      ['GET', ''],
      ['GET', '/explain'],
      ['POST', '/stream-token'],
      ['DELETE', ''],
    ] as const) {
      expect([method, of, (await call('everyone', method, path + of, undefined, elsewhere)).status]).toEqual([
        method,
        of,
        404,
      ])
      expect([method, of, (await call('everyone', method, path + of, undefined, wrong)).status]).toEqual([
        method,
        of,
        404,
      ])
    }
    // A secret is valid only for its own name and shared key.
    const ben = of(await call('everyone', 'POST', '/tickets', { ...named, player_id: 'ben' }, mobile))
    expect((await call('everyone', 'GET', `/tickets/${ben.id}`, undefined, wrong)).status).toBe(404)
    expect((await call('everyone', 'POST', `${path}/stream-token`, undefined, mobile)).status).toBe(201)
    expect((await call('everyone', 'DELETE', path, undefined, mobile)).status).toBe(204)
    expect(service.inspect().queues[0]?.players).toBe(1)
  })

  test('a client of a shared token that sends its secret in a header is one player in all networks', async () => {
    const { call } = setUpReal(queues, shared())
    const headers = { 'x-player-secret': SECRET }
    const ask = (body: object, from: string) =>
      call('everyone', 'POST', '/tickets', { ...solo, ...body }, { from, headers })
    const ann = of(await ask({ player_id: 'ann' }, '192.0.2.1'))
    expect(ann.player_id).toMatch(/^ann~[\w-]{32}$/)
    const again = await ask({ player_id: 'ann', player_secret: SECRET }, '198.51.100.9')
    expect(again).toMatchObject({ status: 409, json: { code: 'player-busy' } })
    // A client that sent the header is identified only by its secret, also in its home network.
    expect((await call('everyone', 'GET', `/tickets/${ann.id}`, undefined, home)).status).toBe(404)
    expect((await call('everyone', 'DELETE', `/tickets/${ann.id}`, undefined, { ...home, headers })).status).toBe(204)
    expect(of(await ask({ player_id: 'ann' }, '198.51.100.9')).player_id).toBe(ann.player_id)
  })

  test('a group member with a shared token and a secret in a header can act from another network', async () => {
    const { call, service } = setUpReal(queues, shared())
    const from = (address: string, name: string) => ({
      from: address,
      headers: { 'x-player-secret': `the secret of ${name}` },
    })
    const body = (name: string) => ({ ...solo, player_id: name, is_ready: false })
    interface Member {
      readonly group_id: string
      readonly member_id: string
    }
    const ann = (await call('everyone', 'POST', '/groups', body('ann'), from('192.0.2.1', 'ann'))).json as Member
    const path = `/groups/${ann.group_id}`
    const join = (address: string) =>
      call('everyone', 'POST', `${path}/members`, body('ben'), from(address, 'ben')).then(({ json }) => json as Member)
    const ben = await join('192.0.2.2')
    expect(await join('198.51.100.2')).toEqual(ben)
    const ready = (one: Member, name: string) =>
      call('everyone', 'PATCH', `${path}/members/${one.member_id}`, { is_ready: true }, from('203.0.113.5', name))
    expect((await ready(ben, 'ann')).status).toBe(404)
    expect((await ready(ben, 'ben')).status).toBe(200)
    expect((await ready(ann, 'ann')).status).toBe(200)
    expect(service.exportTickets().tickets[0]?.players).toHaveLength(2)
    expect((await call('everyone', 'DELETE', path, undefined, from('203.0.113.5', 'ben'))).status).toBe(403)
    expect((await call('everyone', 'DELETE', path, undefined, from('203.0.113.5', 'ann'))).status).toBe(204)
  })

  test('wrong secrets are limited per network, without blocking players known by their network', async () => {
    const { call } = setUpReal(queues, shared())
    const named = { ...solo, player_id: 'ann', player_secret: SECRET }
    const { id } = of(await call('everyone', 'POST', '/tickets', named, home))
    const read = (from: string, secret: string) =>
      call('everyone', 'GET', `/tickets/${id}`, undefined, { from, headers: { 'x-player-secret': secret } })
    // A right secret never counts as a guess.
    for (let nth = 0; nth < 25; nth += 1) expect((await read('198.51.100.9', SECRET)).status).toBe(200)
    const guesses: number[] = []
    for (let nth = 0; nth < 21; nth += 1) guesses.push((await read('198.51.100.9', `wrong-secret-no-${nth}`)).status)
    expect(guesses).toEqual([...Array<number>(20).fill(404), 429])
    const refused = await read('198.51.100.9', SECRET)
    expect(refused).toMatchObject({ status: 429, json: { code: 'too-many-requests' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(JSON.stringify(refused.json)).not.toContain(SECRET)
    expect((await read('203.0.113.5', SECRET)).status).toBe(200)
    // In the home network, the network identifies the player. Wrong secrets of neighbours lock nobody out.
    for (let nth = 0; nth < 25; nth += 1) expect((await read('192.0.2.1', 'wrong-secret-of-home')).status).toBe(200)
    // A player in a network where others guess can still create and read tickets from there.
    const own = of(await call('everyone', 'POST', '/tickets', solo, elsewhere))
    expect((await call('everyone', 'GET', `/tickets/${own.id}`, undefined, elsewhere)).status).toBe(200)
  })

  test('a shared token is refused with 403 on routes that need one player, a backend or a server', async () => {
    const { request } = setUp({ ...shared(), inspect: true })
    const open = (
      'document monitor beacons queues createTicket getTicket ticketEvents createStreamToken deleteTicket ' +
      'explainTicket acceptMatch declineMatch createGroup joinGroup getGroup deleteGroup getMember ' +
      'setReady leaveGroup joinKeys serverReady'
    ).split(' ')
    for (const [name, { method, path }] of Object.entries(ticketRoutes)) {
      if (open.includes(name)) continue
      const answer = await request('everyone', method, path.replaceAll(/\{\w+\}/g, 'any'), undefined, home)
      expect([name, answer.status]).toEqual([name, 403])
    }
  })

  test('tickets by a shared token are limited per network (IPv6 /64), counted across processes', async () => {
    const memory = createMemoryLimitStore(createManualClock())
    const counted = new Map<string, ReturnType<LimitStore['attempts']>>()
    const limitStore: LimitStore = {
      attempts: (name, limit) => {
        const known = counted.get(name) ?? memory.attempts(name, limit)
        counted.set(name, known)
        return known
      },
    }
    const options = { ...shared(), limitStore, limits: { sharedCreates: { limit: 3, windowMs: 60_000 } } }
    const [one, other] = [setUpReal(queues, options), setUpReal(queues, options)]
    const ask = (by: typeof one, from: string) => by.call('everyone', 'POST', '/tickets', solo, { from })
    expect((await ask(one, '2001:db8::1')).status).toBe(201)
    expect((await ask(other, '2001:db8::2')).status).toBe(201)
    expect((await one.call('everyone', 'POST', '/groups', solo, { from: '2001:db8::3' })).status).toBe(201)
    const refused = await ask(other, '2001:db8::4')
    expect(refused).toMatchObject({ status: 429, json: { code: 'too-many-requests' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await ask(one, '2001:db8:0:1::1')).status).toBe(201)
    const own = await one.call('ann', 'POST', '/tickets', solo, { from: '2001:db8::5' })
    expect(own.status).toBe(201)
  })
})

test('the profile of a player is not requested if the player’s name is not proven', async () => {
  const asked: string[] = []
  const profile = (ids: readonly string[]) => new Map(ids.map((id) => [(asked.push(id), id), {}]))
  const { call } = setUpReal(queues, { ...shared(), profile })
  await call('everyone', 'POST', '/tickets', { ...solo, player_id: 'ann', player_secret: SECRET }, home)
  await call('ben', 'POST', '/tickets', solo, home)
  expect(asked).toEqual(['ben'])
})
