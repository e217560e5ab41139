import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { api, operations } from '../api/api.js'
import { systemClock } from '../time.js'
import { decode, decodeGone } from './decode.js'
import { NotFound, UnexpectedResponse } from './errors.js'
import type { EventSink, UnreadableEvent } from './call-events.js'
import { testRequest } from './request.fixture.js'
import { deployment } from './server.fixture.js'
import type { HttpAnswer } from './transport.js'

const told: UnreadableEvent[] = []
const sink: EventSink = { listens: () => true, emit: (_, event) => void told.push(event as UnreadableEvent) }

const answer = (
  body: string,
  status = 200,
  headers: HttpAnswer['headers'] = { 'content-type': 'application/json' },
): HttpAnswer => ({
  status,
  headers,
  body,
  bytes: Buffer.byteLength(body),
})
const read = (body: string, status = 200, changes: Parameters<typeof testRequest>[0] = {}) =>
  decode(testRequest(changes), answer(body, status), systemClock, sink)
const refused = (body: string, status = 200, headers?: HttpAnswer['headers']) => {
  try {
    decode(testRequest(), answer(body, status, headers), systemClock, sink)
  } catch (error) {
    return error as UnexpectedResponse
  }
  return expect.unreachable('should be refused')
}

describe('a decoded success', () => {
  const body = JSON.stringify({ ...deployment('abc'), something: { new: [1] } })

  test.each([200, 201, 202, 206, 299])(
    'a success with any 2xx status (%i) is decoded to its body, including unknown fields',
    (status) => {
      expect(read(body, status)).toEqual(JSON.parse(body))
    },
  )

  test('decoding keeps an unknown deployment status, and leaves out optional fields of the wrong type', () => {
    expect(read(JSON.stringify({ ...deployment('abc', 'NEW'), elapsed_time: 'soon', ports: 7 }))).toEqual({
      ...deployment('abc', 'NEW'),
      elapsed_time: undefined,
      ports: undefined,
    })
  })

  test('an unreadable tag or port hides no other tag or port of a deployment', () => {
    const game = { external: 31_000, internal: 7777, protocol: 'UDP' }
    const odd = { tags: ['mm-a', null, 7, 'match-b'], ports: { game, debug: null, other: 5 } }
    const right = { tags: ['mm-a', 'match-b'], ports: { game } }
    expect(read(JSON.stringify({ ...deployment('abc'), ...odd }))).toMatchObject(right)
    const list = { id: 'deployments.list', operation: api.deployments.list, input: {} } as const
    const { data } = read(JSON.stringify({ data: [{ request_id: 'abc', ...odd }] }), 200, list) as { data: unknown[] }
    expect(data).toEqual([{ request_id: 'abc', ...right }])
    expect(Object.keys((data[0] as { ports: object }).ports)).toEqual(['game'])
  })

  test('decoding reads whole numbers that the service sends as texts', () => {
    const port = { external: '31000', internal: ' 7777 ', proxy: 'none' }
    expect(read(JSON.stringify({ ...deployment('abc'), elapsed_time: '12', ports: { game: port } }))).toMatchObject({
      elapsed_time: 12,
      ports: { game: { external: 31_000, internal: 7777, proxy: undefined } },
    })
    const list = { id: 'deployments.list', operation: api.deployments.list, input: {} } as const
    const pagination = { number: '1', next_page_number: '2', paginator: { num_pages: '2' } }
    expect(read(JSON.stringify({ data: [], total_count: '20', pagination }), 200, list)).toMatchObject({
      total_count: 20,
      pagination: { number: 1, next_page_number: 2, paginator: { num_pages: 2 } },
    })
  })

  test('decoding ignores a wrong content type and a byte order mark', () => {
    expect(
      decode(testRequest(), answer(`\ufeff${body}`, 200, { 'content-type': 'text/html' }), systemClock, sink),
    ).toEqual(JSON.parse(body))
  })

  test('an answer decodes to undefined where the API documents no content, with any body', () => {
    const unlink = { operation: api.fleets.unlink }
    expect([read('', 204, unlink), read('{"a":1}', 200, unlink), read('<html>', 200, unlink)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('an answer decodes to undefined where the body is optional and missing', () => {
    const revoke = { operation: api.relays.revokeUser }
    expect(read('', 204, revoke)).toBeUndefined()
    expect(read('{"session_id":"s"}', 200, revoke)).toEqual({ session_id: 's' })
  })
})

describe('a list with unreadable entries', () => {
  const list = { id: 'deployments.list', operation: api.deployments.list, input: {} } as const
  const entry = (request_id: unknown) => ({ request_id, status: 'Status.READY' })

  test('a list decodes to its readable entries, and each unreadable entry is reported', () => {
    told.length = 0
    const data = [entry('a'), { status: 'Status.READY' }, entry('b'), entry(7), 'c', entry('d')]
    expect(read(JSON.stringify({ data, total_count: 6 }), 200, list)).toEqual({
      data: [entry('a'), entry('b'), entry('d')],
      total_count: 6,
    })
    expect(told).toMatchObject([
      { operation: 'deployments.list', call: 'test-1', field: 'data.1.request_id', wrong: 'is missing' },
      { operation: 'deployments.list', field: 'data.3.request_id', wrong: 'must be a text' },
      { operation: 'deployments.list', field: 'data.4', wrong: 'must be an object' },
    ])
  })

  test('unreadable list entries cause a process warning if no listener receives their reports', async () => {
    const warned = once(process, 'warning')
    const deaf = { ...sink, listens: () => false }
    decode(testRequest(list), answer(JSON.stringify({ data: [entry('a'), {}, {}] })), systemClock, deaf)
    expect(String((await warned)[0])).toContain(
      'deployments.list: an entry of the answer was left out: data.1.request_id is missing, and 1 more',
    )
  })

  test.each([
    ['has no readable entry', { data: [{}, 7] }, 'data.0.request_id'],
    ['is an object', { data: { 0: entry('a') } }, 'data'],
    ['is missing', {}, 'data'],
  ])('an answer is an UnexpectedResponse if its list %s', (_, body, field) => {
    expect(() => read(JSON.stringify(body), 200, list)).toThrow(
      expect.objectContaining({ name: 'UnexpectedResponse', field }),
    )
  })
})

describe('a decoded answer', () => {
  test('a decoded answer is frozen at every depth, even where a field was dropped', () => {
    const isDeeplyFrozen = (value: unknown): boolean =>
      typeof value !== 'object' ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(isDeeplyFrozen))
    const body = { ...deployment('abc'), ports: { game: { external: 1 } }, tags: ['a'], more: [{ deep: {} }] }
    expect(isDeeplyFrozen(read(JSON.stringify(body)))).toBe(true)
    expect(isDeeplyFrozen(read(JSON.stringify({ ...body, elapsed_time: 'soon' })))).toBe(true)
    expect(Object.isFrozen(decodeGone({ operation: api.deployments.stop }, new NotFound('gone')))).toBe(true)
  })
})

describe('an unreadable answer', () => {
  test.each([
    ['{"current_status":"Status.READY"}', 'request_id'],
    ['{"request_id":"a","current_status":7}', 'current_status'],
    ['[]', undefined],
    ['null', undefined],
    ['7', undefined],
  ])('an unreadable answer is an UnexpectedResponse with the faulty field: %s', (body, field) => {
    expect(refused(body)).toMatchObject({
      name: 'UnexpectedResponse',
      message: expect.stringContaining(field ?? 'body'),
    })
    expect(refused(body).field).toBe(field)
  })

  test('decoding an answer of any depth, within the size limit, gives a result or a MusterError', () => {
    expect(() =>
      read(`{"request_id":"a","current_status":"x","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
    ).not.toThrow()
    expect(refused('['.repeat(100_000))).toBeInstanceOf(UnexpectedResponse)
  })

  test('the error of a redirect shows only the origin of its target', () => {
    const error = refused('', 302, { location: 'https://elsewhere.example/path?token=secret' })
    expect(error).toMatchObject({
      name: 'UnexpectedResponse',
      status: 302,
      message: 'deployments.get: redirected (status 302) to https://elsewhere.example; redirects are not followed',
    })
    expect(refused('', 301, {}).message).toBe('deployments.get: redirected (status 301); redirects are not followed')
  })
})

describe('a DELETE of something already deleted', () => {
  const told = new NotFound('not found', { status: 404 })

  test('a DELETE of something already deleted has a result for every operation that documents content', () => {
    const deletes = operations.filter(([, { method, output }]) => method === 'DELETE' && output !== undefined)
    expect(deletes.length).toBeGreaterThan(4)
    for (const [id, operation] of deletes)
      expect([id, decodeGone({ operation }, told)]).toEqual([id, { message: 'not found' }])
  })

  test('a DELETE of something already deleted has no result for operations without content', () =>
    expect(decodeGone({ operation: api.fleets.unlink }, told)).toBeUndefined())
})
