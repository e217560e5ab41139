import { createManualClock } from '@muster/core/clock'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createStreamTokens } from './callers.js'
import { setUp } from './ticket-api.fixture.js'

const duel = { profile: 'duel', attributes: {} }

interface Issued {
  readonly token: string
  readonly url: string
  readonly expires_at: string
}

async function issued(options: Parameters<typeof setUp>[0] = {}) {
  const world = setUp({ limits: { perCaller: null, perAddress: null }, ...options })
  await world.call('ann', 'POST', '/tickets', duel)
  await world.call('bob', 'POST', '/tickets', duel)
  const { json, status } = await world.call('ann', 'POST', '/tickets/ticket-1/stream-token')
  return { ...world, status, issue: json as Issued }
}

/** The status of a response, and its first event. */
async function firstOf(response: Response): Promise<string> {
  if (response.body === null) return `${response.status}`
  const reader = response.body.getReader()
  let text = ''
  while (!text.includes('data:')) text += new TextDecoder().decode((await reader.read()).value)
  await reader.cancel()
  return `${response.status} ${text}`
}

describe('a stream token', () => {
  test('a stream token opens the event stream of its player without an authorization header', async () => {
    const { request, issue, status, clock } = await issued({ basePath: '' })
    expect(status).toBe(201)
    expect(issue.url).toBe(`/tickets/ticket-1/events?token=${issue.token}`)
    expect(issue.expires_at).toBe(new Date(clock.now() + 300_000).toISOString())
    expect(await firstOf(await request(undefined, 'GET', issue.url))).toMatch(
      /^200 [^]*event: ticket\n[^]*"player_id":"ann"/,
    )
  })

  test('an open stream counts towards the player’s limit of waits, and outlives its stream token', async () => {
    const { request, issue, service, clock } = await issued({ limits: { waitsPerCaller: 1 } })
    const open = await request(undefined, 'GET', issue.url)
    const second = await request(undefined, 'GET', issue.url)
    expect(await open.text()).not.toContain('CANCELLED')
    await clock.advance(300_001)
    service.change('ticket-1', { status: 'CANCELLED', cancelReason: 'cancelled' })
    expect(await second.text()).toContain('"status":"CANCELLED"')
    expect((await request(undefined, 'GET', issue.url)).status).toBe(401)
  })

  test.each([
    ['GET', '/tickets/ticket-1'],
    ['GET', '/tickets/ticket-1?wait=1'],
    ['DELETE', '/tickets/ticket-1'],
    ['POST', '/tickets/ticket-1/accept'],
    ['POST', '/tickets/ticket-1/stream-token'],
    ['GET', '/tickets/ticket-1/explain'],
    ['GET', '/locations/beacons'],
  ])('a stream token does not authenticate another request: %s %s', async (method, path) => {
    const { request, issue, service } = await issued()
    for (const url of [
      `${path}${path.includes('?') ? '&' : '?'}token=${issue.token}`,
      `${path}?x=/events?token=${issue.token}`,
    ]) {
      expect((await request(undefined, method, url)).status).toBe(401)
    }
    expect(service.getTicket('ticket-1')?.status).toBe('SEARCHING')
  })

  test('a stream token does not open the stream of another ticket', async () => {
    const { request, issue } = await issued()
    expect((await request(undefined, 'GET', `/tickets/ticket-2/events?token=${issue.token}`)).status).toBe(404)
    expect((await request(undefined, 'GET', `/tickets/ticket-9/events?token=${issue.token}`)).status).toBe(404)
  })

  test('a stream token is issued only to the owner of the ticket and to backends', async () => {
    const { call, request } = await issued()
    expect((await call('bob', 'POST', '/tickets/ticket-1/stream-token')).status).toBe(404)
    expect((await call(undefined, 'POST', '/tickets/ticket-1/stream-token')).status).toBe(401)
    const { json } = await call('backend', 'POST', '/tickets/ticket-1/stream-token')
    expect(await firstOf(await request(undefined, 'GET', (json as Issued).url))).toContain('"player_id":"ann"')
  })

  test('a stream token for a party member opens only the stream of this member', async () => {
    const { call, request } = await issued()
    const party = {
      player_tickets: ['cleo', 'dan'].map((player_id) => ({ ...duel, player_id, player_ip: '203.0.113.7' })),
    }
    const { json } = await call('backend', 'POST', '/group-tickets', party)
    const [first, second] = (json as { player_tickets: { id: string }[] }).player_tickets
    const { json: token } = await call('cleo', 'POST', `/tickets/${first?.id}/stream-token`)
    expect(await firstOf(await request(undefined, 'GET', (token as Issued).url))).toContain('"player_id":"cleo"')
    const other = (token as Issued).url.replace(first?.id ?? '', second?.id ?? '')
    expect((await request(undefined, 'GET', other)).status).toBe(404)
  })

  test('a stream token is refused with any bit changed', async () => {
    const { request, issue } = await issued()
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.string(), async (at, put) => {
        const index = at % (issue.token.length + 1)
        const forged = issue.token.slice(0, index) + put + issue.token.slice(index + 1)
        const url = `/tickets/ticket-1/events?token=${encodeURIComponent(forged)}`
        if (forged === issue.token || sameBits(forged, issue.token)) return
        expect((await request(undefined, 'GET', url)).status).toBe(401)
      }),
    )
    for (const token of ['', '.', 'x.y', `${issue.token}.`, 'x'.repeat(5000)]) {
      expect((await request(undefined, 'GET', `/tickets/ticket-1/events?token=${token}`)).status).toBe(401)
    }
  })
})

/** True if two tokens have the same bits. Some bits of the last base64url character have no meaning. */
const sameBits = (one: string, other: string) =>
  one.split('.')[0] === other.split('.')[0] &&
  Buffer.from(one.split('.')[1] ?? '', 'base64url').equals(Buffer.from(other.split('.')[1] ?? '', 'base64url'))

test('a process accepts a stream token of another process only if both have the same key', () => {
  const clock = createManualClock()
  const grant = { ticketId: 'abc.1', playerId: 'ann' }
  const of = (key?: string) => createStreamTokens({ key, lifetimeMs: 60_000 }, clock)
  const key = 'k'.repeat(32)
  const { token } = of(key).issue(grant)
  expect(of(key).read(token)).toEqual(grant)
  expect(of('x'.repeat(32)).read(token)).toBeUndefined()
  expect(of().read(of().issue(grant).token)).toBeUndefined()
})

test('a stream token expires as soon as the wall clock is set past its end', () => {
  const clock = createManualClock()
  const grant = { ticketId: 'abc.1', playerId: 'ann' }
  const tokens = createStreamTokens({ lifetimeMs: 60_000 }, clock)
  const { token } = tokens.issue(grant)
  clock.step(61_000)
  expect(tokens.read(token)).toBeUndefined()
  const later = tokens.issue(grant)
  expect(later.expiresAt).toBe(clock.now() + 121_000)
  expect(tokens.read(later.token)).toEqual(grant)
})
