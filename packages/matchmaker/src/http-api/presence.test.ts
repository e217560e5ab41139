import { bearerToken } from '@muster/core/http'
import { describe, expect, test } from 'vitest'
import { duel } from '../matchmaker.fixture.js'
import type { QueueDefinition } from '../queues/queue.js'
import type { TicketApiOptions } from './api-options.js'
import { setUpReal } from './ticket-api.fixture.js'

const queue: QueueDefinition = { ...duel, matchSize: 9, presence: { withinMs: 20_000 } }

/** Callers are identified some turns of the event loop later, as with a new token. */
const later: Partial<TicketApiOptions> = {
  authenticate: async (request) => {
    await Promise.resolve()
    return { id: bearerToken(request) ?? '' }
  },
}

/** Creates Ann's ticket in a queue with presence, in a matchmaker that ticks. */
async function waiting(more: Partial<QueueDefinition> = {}, options: Partial<TicketApiOptions> = {}) {
  const world = setUpReal([{ ...queue, ...more }], options)
  const { call, service, clock } = world
  const create = async (who: string) => {
    const created = await call(who, 'POST', '/tickets', { profile: 'duel' })
    return (created.json as { id: string }).id
  }
  const ticket = await create('ann')
  const run = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 250) {
      await service.tick()
      await clock.advance(250)
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  const outcome = (id = ticket) => {
    const { status, cancelReason } = service.getTicket(id) ?? {}
    return cancelReason ?? status
  }
  return { ...world, create, ticket, run, outcome }
}

type World = Awaited<ReturnType<typeof waiting>>

describe('the client of a ticket', () => {
  test.each<[string, (world: World) => Promise<unknown>]>([
    ['while it reads its ticket now and then', ({ call, ticket }) => call('ann', 'GET', `/tickets/${ticket}`)],
    ['while it reads GET /me', ({ call }) => call('ann', 'GET', '/me')],
    ['while its backend reads the ticket', ({ call, ticket }) => call('backend', 'GET', `/tickets/${ticket}`)],
  ])('the client of a ticket counts as present %s, and later as absent', async (_, ask) => {
    const world = await waiting()
    for (let times = 0; times < 5; times += 1) {
      await world.run(19_000)
      await ask(world)
    }
    await world.run(19_000)
    expect(world.outcome()).toBe('SEARCHING')
    await world.run(2000)
    expect(world.outcome()).toBe('absent')
  })

  test('a client counts as present during a long poll, and for the presence time after it', async () => {
    const { call, run, outcome, ticket } = await waiting({ presence: { withinMs: 10_000 } })
    const polled = call('ann', 'GET', `/tickets/${ticket}?wait=30&version=1`)
    await run(30_500)
    expect((await polled).json).toMatchObject({ status: 'SEARCHING' })
    await run(9000)
    expect(outcome()).toBe('SEARCHING')
    await run(1000)
    expect(outcome()).toBe('absent')
  })

  test('a client counts as present during a stream, and for the presence time after it breaks', async () => {
    const { request, run, outcome, ticket } = await waiting()
    const stream = await request('ann', 'GET', `/tickets/${ticket}/events`)
    await run(30_000)
    expect(outcome()).toBe('SEARCHING')
    await stream.body?.cancel()
    await run(19_000)
    expect(outcome()).toBe('SEARCHING')
    await run(2000)
    expect(outcome()).toBe('absent')
  })

  test('a client counts as present while it reopens its stream each time the stream has ended', async () => {
    const { request, call, run, outcome, ticket } = await waiting()
    const { url } = (await call('ann', 'POST', `/tickets/${ticket}/stream-token`)).json as { url: string }
    for (let streams = 0; streams < 4; streams += 1) {
      const known = streams === 0 ? undefined : { headers: { 'last-event-id': '1' } }
      const text = (await request(undefined, 'GET', url, undefined, known)).text()
      await run(43_000)
      // States that the client already knows are not sent again.
      expect((await text).split('"status"')).toHaveLength(streams === 0 ? 2 : 1)
    }
    expect(outcome()).toBe('SEARCHING')
    await run(21_000)
    expect(outcome()).toBe('absent')
  })

  test('a client that vanishes silently counts as absent after the same time, even with unread data', async () => {
    const { request, run, outcome, ticket, api } = await waiting()
    const [taken, left] = [
      await request('ann', 'GET', `/tickets/${ticket}/events`),
      await request('ann', 'GET', `/tickets/${ticket}/events`),
    ]
    void taken.text()
    await run(59_000)
    expect([outcome(), api.counts().waiting]).toEqual(['SEARCHING', 0])
    await run(4000)
    expect(outcome()).toBe('absent')
    await left.body?.cancel()
  })

  test('a client that disconnects before its event stream begins counts as absent, and holds no wait', async () => {
    const { request, run, outcome, ticket, api } = await waiting({}, later)
    const leaving = new AbortController()
    const answer = request('ann', 'GET', `/tickets/${ticket}/events`, undefined, { signal: leaving.signal })
    leaving.abort()
    await (await answer).body?.cancel()
    await run(21_000)
    expect([outcome(), api.counts().waiting]).toEqual(['absent', 0])
  })

  test('a client counts as present while it reads its group, once the group searches', async () => {
    const { call, run, outcome } = await waiting()
    const one = (await call('eve', 'POST', '/groups', { profile: 'duel' })).json as Record<string, string>
    const group = `/groups/${one['group_id']}`
    for (const path of [group, `${group}/members/${one['member_id']}`, group]) {
      await run(19_000)
      await call('eve', 'GET', path)
    }
    expect(outcome(one['group_id'])).toBe('SEARCHING')
    await run(21_000)
    expect(outcome(one['group_id'])).toBe('absent')
  })

  test('a client counts as present by a stream that was open before the queue got `presence`', async () => {
    const { request, run, outcome, ticket, service } = await waiting({ presence: undefined })
    const stream = await request('ann', 'GET', `/tickets/${ticket}/events`)
    await run(60_000)
    service.reconfigure([queue])
    await run(55_000)
    expect(outcome()).toBe('SEARCHING')
    expect(await stream.text()).toContain('SEARCHING')
    await run(8000)
    expect(outcome()).toBe('absent')
  })
})

describe('presence of other players in a party', () => {
  test('a party stays queued only if each of its players has a client that is present', async () => {
    const { call, run, outcome } = await waiting()
    const player_tickets = ['cas', 'dee'].map((id) => ({ profile: 'duel', player_id: id, player_ip: '203.0.113.1' }))
    const party = (await call('backend', 'POST', '/group-tickets', { player_tickets })).json as {
      readonly player_tickets: readonly { readonly id: string; readonly group_id: string }[]
    }
    const [cas, dee] = party.player_tickets
    for (let times = 0; times < 2; times += 1) {
      await run(15_000)
      await call('cas', 'GET', `/tickets/${cas?.id}`)
      await call('dee', 'GET', `/tickets/${dee?.group_id}`)
    }
    expect(outcome(cas?.group_id)).toBe('SEARCHING')
    await run(15_000)
    await call('cas', 'GET', `/tickets/${cas?.id}`)
    // Reading another player's seat returns 404 and does not count as presence.
    expect((await call('cas', 'GET', `/tickets/${dee?.id}`)).status).toBe(404)
    await run(6000)
    expect(outcome(cas?.group_id)).toBe('absent')
  })

  test('requests of a caller for the ticket of another player do not count as presence of that player', async () => {
    const { call, request, run, outcome, ticket, create } = await waiting()
    const own = await create('eve')
    const { url } = (await call('eve', 'POST', `/tickets/${own}/stream-token`)).json as { url: string }
    const { token } = (await call('eve', 'POST', `/tickets/${own}/stream-token`)).json as { token: string }
    for (let times = 0; times < 4; times += 1) {
      await run(5000)
      const paths = [`/tickets/${ticket}`, `/tickets/${ticket}?wait=1&version=1`, `/tickets/${ticket}/events`]
      for (const path of [...paths, `/tickets/${ticket}.0`, `/groups/${ticket}`, `/players/ann`]) {
        expect((await call('eve', 'GET', path)).status).toBeGreaterThanOrEqual(403)
        expect((await call(undefined, 'GET', path)).status).toBe(401)
      }
      const stolen = await request(undefined, 'GET', `/tickets/${ticket}/events?token=${token}`)
      expect(stolen.status).toBeGreaterThanOrEqual(400)
      await call('eve', 'GET', '/me')
      // If a console looks a player up, the player's client does not count as present.
      await call('backend', 'GET', '/players/ann')
      await call('backend', 'GET', `/tickets/${ticket}/explain`)
    }
    await run(500)
    expect([outcome(), outcome(own)]).toEqual(['absent', 'SEARCHING'])
    expect(url).toContain(own)
  })
})

test('a failed presence report is reported as an error only if the retry fails too', async () => {
  const { call, service, errors, ticket } = await waiting()
  service.notePresence = () => {
    throw new Error('broken')
  }
  expect((await call('ann', 'GET', `/tickets/${ticket}`)).status).toBe(200)
  expect(errors).toMatchObject([{ message: 'broken' }])
})
