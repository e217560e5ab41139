import { describe, expect, test } from 'vitest'
import { setUp } from './ticket-api.fixture.js'
import { assignment } from './ticket-service.fixture.js'

const duel = { profile: 'duel', attributes: { skill: 1200, maps: ['ice'] } }
describe('waiting for a change of a ticket', () => {
  const waiting = async () => {
    const world = setUp()
    await world.call('ann', 'POST', '/tickets', duel)
    return world
  }
  const settled = async (turns = 20) => {
    for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  }

  test('a long poll of a ticket answers when the ticket changes', async () => {
    const { api, call, service } = await waiting()
    const polled = call('ann', 'GET', '/tickets/ticket-1?wait=25')
    await settled()
    expect(api.counts().waiting).toBe(1)
    service.change('ticket-1', { status: 'MATCH_FOUND' })
    expect((await polled).json).toMatchObject({ status: 'MATCH_FOUND', version: 2 })
    expect(api.counts().waiting).toBe(0)
  })

  test('a long poll answers with the unchanged ticket after its wait time', async () => {
    const { api, call, clock } = await waiting()
    const polled = call('ann', 'GET', '/tickets/ticket-1?wait=25&version=1')
    await settled()
    await clock.advance(24_999)
    expect(api.counts().waiting).toBe(1)
    await clock.advance(1)
    expect((await polled).json).toMatchObject({ status: 'SEARCHING', version: 1 })
    expect(api.counts().waiting).toBe(0)
  })

  test('a long poll answers immediately if the ticket changed since its version or has ended', async () => {
    const { api, call, service } = await waiting()
    service.change('ticket-1', { status: 'MATCH_FOUND' })
    expect((await call('ann', 'GET', '/tickets/ticket-1?wait=25&version=1')).json).toMatchObject({ version: 2 })
    service.change('ticket-1', { status: 'CANCELLED' })
    expect((await call('ann', 'GET', '/tickets/ticket-1?wait=25')).json).toMatchObject({ status: 'CANCELLED' })
    expect(api.counts().waiting).toBe(0)
  })

  test('a long poll ends with 499 when the client disconnects', async () => {
    const { api, call, errors } = await waiting()
    const leaving = new AbortController()
    const polled = call('ann', 'GET', '/tickets/ticket-1?wait=25', undefined, { signal: leaving.signal })
    await settled()
    leaving.abort()
    expect((await polled).status).toBe(499)
    expect(api.counts().waiting).toBe(0)
    expect(errors).toEqual([])
  })

  test.each(['31', '-1', 'x', '1.5'])('a long poll of %s seconds is refused', async (wait) => {
    const { call } = await waiting()
    expect(await call('ann', 'GET', `/tickets/ticket-1?wait=${wait}`)).toMatchObject({
      status: 400,
      json: { field: 'wait' },
    })
  })

  test('an event stream sends the ticket with every change until it ends', async () => {
    const { api, request, service } = await waiting()
    const response = await request('ann', 'GET', '/tickets/ticket-1/events')
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    expect(api.counts().waiting).toBe(1)
    const text = response.text()
    await settled()
    service.change('ticket-1', { status: 'MATCH_FOUND' })
    await settled()
    service.change('ticket-1', { status: 'HOST_ASSIGNED', assignment })
    const events = (await text).split('\n\n').filter((part) => part.startsWith('id: '))
    expect(
      events.map((event) => [
        /^id: (\d+)/m.exec(event)?.[1],
        /^event: (\w+)/m.exec(event)?.[1],
        /"status":"(\w+)"/.exec(event)?.[1],
      ]),
    ).toEqual([
      ['1', 'ticket', 'SEARCHING'],
      ['2', 'ticket', 'MATCH_FOUND'],
      ['3', 'ticket', 'HOST_ASSIGNED'],
    ])
    expect(api.counts().waiting).toBe(0)
  })

  test('an event stream resumes after the version in Last-Event-ID', async () => {
    const { request, service } = await waiting()
    service.change('ticket-1', { status: 'MATCH_FOUND' })
    const resumed = (last: string) =>
      request('ann', 'GET', '/tickets/ticket-1/events', undefined, {
        headers: { 'last-event-id': last },
      })
    const missed = await resumed('1')
    const current = await resumed('2')
    service.change('ticket-1', { status: 'CANCELLED' })
    const ids = (text: string) => [...text.matchAll(/^id: (\d+)/gm)].map((match) => match[1])
    // A stream reads the next version once the last event was consumed. It sends the ticket's state at that time.
    expect(ids(await missed.text())).toEqual(['2', '3'])
    expect(ids(await current.text())).toEqual(['3'])
    expect((await resumed('3')).status).toBe(204)
  })

  test('an event stream holds no waiter after its reader cancels it, and none for a HEAD request', async () => {
    const { api, request } = await waiting()
    const response = await request('ann', 'GET', '/tickets/ticket-1/events')
    const reader = (response.body as ReadableStream<Uint8Array>).getReader()
    await reader.read()
    await reader.cancel()
    expect(api.counts().waiting).toBe(0)
    const head = await request('ann', 'HEAD', '/tickets/ticket-1/events')
    await settled()
    expect([head.status, api.counts().waiting]).toEqual([200, 0])
  })
})
