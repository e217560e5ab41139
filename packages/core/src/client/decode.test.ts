import { once } from 'node:events'
import { describe, expect, test } from 'vitest'
import { api, operations } from '../api/api.js'
import { systemClock } from '../time.js'
import { decode, decodeGone } from './decode.js'
import { NotFound, UnexpectedResponse } from './errors.js'
import type { EventSink, UnreadableEvent } from './call-events.js'
import { testRequest } from './request.fixture.js'
import { deployment } from './server.fixture.js'
import type { Answer } from './transport.js'

const told: UnreadableEvent[] = []
const sink: EventSink = { listens: () => true, emit: (_, event) => void told.push(event as UnreadableEvent) }

const answer = (
  body: string,
  status = 200,
  headers: Answer['headers'] = { 'content-type': 'application/json' },
): Answer => ({
  status,
  headers,
  body,
  bytes: Buffer.byteLength(body),
})
const read = (body: string, status = 200, changes: Parameters<typeof testRequest>[0] = {}) =>
  decode(testRequest(changes), answer(body, status), systemClock, sink)
const refused = (body: string, status = 200, headers?: Answer['headers']) => {
  try {
    decode(testRequest(), answer(body, status, headers), systemClock, sink)
  } catch (error) {
    return error as UnexpectedResponse
  }
  return expect.unreachable('should be refused')
}

describe('a success', () => {
  const body = JSON.stringify({ ...deployment('abc'), something: { new: [1] } })

  test.each([200, 201, 202, 206, 299])('with any 2xx (%i) is its body, unknown fields included', (status) => {
    expect(read(body, status)).toEqual(JSON.parse(body))
  })

  test('an unknown status of a deployment is a value, and an optional field of the wrong type reads as absent', () => {
    expect(read(JSON.stringify({ ...deployment('abc', 'NEW'), elapsed_time: 'soon', ports: 7 }))).toEqual({
      ...deployment('abc', 'NEW'),
      elapsed_time: undefined,
      ports: undefined,
    })
  })

  test('is read with a wrong content type or a byte order mark', () => {
    expect(
      decode(testRequest(), answer(`\ufeff${body}`, 200, { 'content-type': 'text/html' }), systemClock, sink),
    ).toEqual(JSON.parse(body))
  })

  test('without documented content is undefined, whatever its body', () => {
    const unlink = { operation: api.fleets.unlink }
    expect([read('', 204, unlink), read('{"a":1}', 200, unlink), read('<html>', 200, unlink)]).toEqual([
      undefined,
      undefined,
      undefined,
    ])
  })

  test('is undefined where the body is optional and missing', () => {
    const revoke = { operation: api.relays.revokeUser }
    expect(read('', 204, revoke)).toBeUndefined()
    expect(read('{"session_id":"s"}', 200, revoke)).toEqual({ session_id: 's' })
  })
})

describe('a list with unreadable entries', () => {
  const list = { id: 'deployments.list', operation: api.deployments.list, input: {} } as const
  const entry = (request_id: unknown) => ({ request_id, status: 'Status.READY' })

  test('is the list of the readable entries, and each other is reported', () => {
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

  test('gives a process warning where nobody listens', async () => {
    const warned = once(process, 'warning')
    const deaf = { ...sink, listens: () => false }
    decode(testRequest(list), answer(JSON.stringify({ data: [entry('a'), {}, {}] })), systemClock, deaf)
    expect(String((await warned)[0])).toContain(
      'deployments.list: left out of the answer: data.1.request_id is missing, and 1 more',
    )
  })

  test.each([
    ['of which none can be read', { data: [{}, 7] }, 'data.0.request_id'],
    ['that is none', { data: { 0: entry('a') } }, 'data'],
    ['that is missing', {}, 'data'],
  ])('%s is not as described', (_, body, field) => {
    expect(() => read(JSON.stringify(body), 200, list)).toThrow(
      expect.objectContaining({ name: 'UnexpectedResponse', field }),
    )
  })
})

describe('a decoded answer', () => {
  test('is frozen at every depth, also where a field was dropped', () => {
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
    ['empty', '', 'deployments.get: the answer is empty (status 200)'],
    [
      'truncated',
      '{"request_id":"a',
      'deployments.get: the answer is not JSON (16 bytes, content type application/json) (status 200)',
    ],
    [
      'not JSON',
      '<html>secret</html>',
      'deployments.get: the answer is not JSON (19 bytes, content type application/json) (status 200)',
    ],
  ])('%s', (_, body, message) => {
    const error = refused(body)
    expect(error).toBeInstanceOf(UnexpectedResponse)
    expect(error).toMatchObject({
      message,
      status: 200,
      operation: 'deployments.get',
      requestId: 'abc',
      call: 'test-1',
    })
    expect(error.cause).toBeUndefined()
  })

  test.each([
    ['{"current_status":"Status.READY"}', 'request_id'],
    ['{"request_id":"a","current_status":7}', 'current_status'],
    ['[]', undefined],
    ['null', undefined],
    ['7', undefined],
  ])('is reported with its field: %s', (body, field) => {
    expect(refused(body)).toMatchObject({
      name: 'UnexpectedResponse',
      message: expect.stringContaining(field ?? 'body'),
    })
    expect(refused(body).field).toBe(field)
  })

  test('of any depth and any size within the bound gives a result or a MusterError', () => {
    expect(() =>
      read(`{"request_id":"a","current_status":"x","deep":${'['.repeat(100_000)}${']'.repeat(100_000)}}`),
    ).not.toThrow()
    expect(refused('['.repeat(100_000))).toBeInstanceOf(UnexpectedResponse)
  })

  test('that redirects is not followed, and its error shows only the origin of the target', () => {
    const error = refused('', 302, { location: 'https://elsewhere.example/path?token=secret' })
    expect(error).toMatchObject({
      name: 'UnexpectedResponse',
      status: 302,
      message: 'deployments.get: redirected (status 302) to https://elsewhere.example; redirects are not followed',
    })
    expect(refused('', 301, {}).message).toBe('deployments.get: redirected (status 301); redirects are not followed')
  })
})

describe('a DELETE of what is gone already', () => {
  const told = new NotFound('not found', { status: 404 })

  test('has a result wherever the operation has content', () => {
    const deletes = operations.filter(([, { method, output }]) => method === 'DELETE' && output !== undefined)
    expect(deletes.length).toBeGreaterThan(4)
    for (const [id, operation] of deletes)
      expect([id, decodeGone({ operation }, told)]).toEqual([id, { message: 'not found' }])
  })

  test('has no result where the operation has no content', () =>
    expect(decodeGone({ operation: api.fleets.unlink }, told)).toBeUndefined())
})
