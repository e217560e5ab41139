import { bearerToken } from '@muster/core/http'
import { describe, expect, test } from 'vitest'
import { setUp } from './ticket-api.fixture.js'

const duel = { profile: 'duel', attributes: {} }

describe('request limits', () => {
  const statuses = async (
    call: ReturnType<typeof setUp>['call'],
    asks: readonly (readonly [who: string, from: string])[],
  ) => {
    const found: number[] = []
    for (const [who, from] of asks) found.push((await call(who, 'GET', '/tickets/x', undefined, { from })).status)
    return found
  }

  test('request limits count the requests of one player across all addresses', async () => {
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

  test('request limits count requests by address (IPv6 /64), and beyond the limit admit backends only', async () => {
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

  test('request limits are 50 per player and 250 per address in 5 seconds by default', async () => {
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

  test('request limits do not apply to backends, and are disabled by null', async () => {
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

  test('open long polls are limited in all, and a player with too many loses the oldest of their own', async () => {
    const { call, request } = setUp({ limits: { waitsPerCaller: 2, waits: 3 } })
    for (const who of ['ann', 'bob']) await call(who, 'POST', '/tickets', duel)
    const stream = (who: string, ticket: string) => request(who, 'GET', `/tickets/${ticket}/events`)
    const [first, second] = [await stream('ann', 'ticket-1'), await stream('ann', 'ticket-1')]
    const readToEnd = first.text()
    expect([first.status, second.status]).toEqual([200, 200])
    const polled = call('ann', 'GET', '/tickets/ticket-1?wait=20')
    expect(await readToEnd).toContain('event: ticket')
    const [third, fourth] = [await stream('bob', 'ticket-2'), await stream('ann', 'ticket-1')]
    expect([third.status, fourth.status]).toEqual([200, 200])
    const fifth = await stream('ann', 'ticket-1')
    expect(await polled).toMatchObject({ status: 200, json: { id: 'ticket-1', status: 'SEARCHING' } })
    expect(await call('bob', 'GET', '/tickets/ticket-2?wait=1')).toMatchObject({ status: 503, json: { code: 'busy' } })
    expect((await call('bob', 'GET', '/tickets/ticket-2')).status).toBe(200)
    for (const one of [third, fourth, fifth]) await one.body?.cancel()
  })

  test('a long poll whose client left does not count, even if the HTTP server reports no disconnect', async () => {
    const { call, request } = setUp({ limits: { waitsPerCaller: 8, waits: 9 } })
    await call('ann', 'POST', '/tickets', duel)
    for (let lost = 0; lost < 20; lost += 1) void call('ann', 'GET', '/tickets/ticket-1?wait=20')
    const stream = await request('ann', 'GET', '/tickets/ticket-1/events')
    expect(stream.status).toBe(200)
    await stream.body?.cancel()
  })
})
