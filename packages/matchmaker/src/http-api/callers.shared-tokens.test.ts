import { createManualClock } from '@muster/core/clock'
import { bearerToken, createMemoryLimitStore, type LimitStore } from '@muster/core/http'
import { describe, expect, test } from 'vitest'
import { createTicketApi } from './ticket-api.js'
import { setUp, setUpReal } from './ticket-api.fixture.js'
import type { TicketApiOptions } from './api-options.js'
import { backendRoutes, ticketRoutes } from './routes.js'
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

interface Ticket {
  readonly id: string
  readonly player_id: string
}
const of = (answer: { readonly json: never }) => answer.json as Ticket

describe('a token that many players share', () => {
  test('makes each ticket one of a new player, whom only their own network reads and cancels', async () => {
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

  test('has players with a name, who are the same by name, secret and network together', async () => {
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
    // Nobody sees which players come from one network.
    const ofNetwork = [ann, ...others.map(of)].map((one) => one.player_id.slice(-16))
    expect(new Set(ofNetwork).size).toBe(4)
  })

  test('never makes a player who has a token of their own', async () => {
    const { call } = setUpReal(queues, shared())
    const real = of(await call('ann', 'POST', '/tickets', solo, home))
    expect(real.player_id).toBe('ann')
    const body = { ...solo, player_id: 'ann', player_secret: SECRET }
    expect((await call('everyone', 'POST', '/tickets', body, home)).status).toBe(201)
    expect((await call('everyone', 'GET', `/tickets/${real.id}`, undefined, home)).status).toBe(404)
    const guess = { ...solo, player_id: `ann~${'A'.repeat(32)}`, player_secret: SECRET }
    expect(of(await call('everyone', 'POST', '/tickets', guess, home)).player_id).toMatch(/^ann~A{32}~[\w-]{32}$/)
  })

  test.each<[what: string, who: string, body: object, field: string]>([
    ['a name without a secret', 'everyone', { player_id: 'ann' }, 'player_secret'],
    ['a secret without a name', 'everyone', { player_secret: SECRET }, 'player_id'],
    ['a short secret', 'everyone', { player_id: 'ann', player_secret: 'short-secret' }, 'player_secret'],
    ['a long name', 'everyone', { player_id: 'a'.repeat(81), player_secret: SECRET }, 'player_id'],
    ['coordinates', 'everyone', { coordinates: { latitude: 0, longitude: 0 } }, 'coordinates'],
    ['a secret of a player with a token', 'ann', { player_secret: SECRET }, 'player_secret'],
    ['a secret by a backend', 'backend', { player_ip: '192.0.2.1', player_secret: SECRET }, 'player_secret'],
  ])('refuses %s, without showing the secret', async (_, who, body, field) => {
    const { call } = setUpReal(queues, shared())
    const { status, json } = await call(who, 'POST', '/tickets', { ...solo, ...body }, home)
    expect([status === 400 || status === 403, (json as { field: string }).field]).toEqual([true, field])
    expect(JSON.stringify(json)).not.toMatch(/drawn|short-secret/)
  })

  test('is known to another process and after a restart by the key alone', async () => {
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

  test('lets players gather in groups, where each is themselves alone', async () => {
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

  test('opens streams of its own tickets', async () => {
    const { call } = setUpReal(queues, shared())
    const { id } = of(await call('everyone', 'POST', '/tickets', solo, home))
    expect((await call('everyone', 'POST', `/tickets/${id}/stream-token`, undefined, home)).status).toBe(201)
    expect((await call('everyone', 'POST', `/tickets/${id}/stream-token`, undefined, elsewhere)).status).toBe(404)
  })

  test('may use nothing that needs one player, a backend or a server', async () => {
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
    expect([...backendRoutes].filter((name) => open.includes(name))).toEqual([])
  })

  test('begins so many tickets a network, of IPv6 a /64, in all processes together', async () => {
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

test('the backend is not asked about a player whose name is not proven', async () => {
  const asked: string[] = []
  const profile = (ids: readonly string[]) => new Map(ids.map((id) => [(asked.push(id), id), {}]))
  const { call } = setUpReal(queues, { ...shared(), profile })
  await call('everyone', 'POST', '/tickets', { ...solo, player_id: 'ann', player_secret: SECRET }, home)
  await call('ben', 'POST', '/tickets', solo, home)
  expect(asked).toEqual(['ben'])
})
