import { expect, test } from 'vitest'
import { z } from 'zod'
import { StoreUnavailable } from '../client/errors.js'
import { createManualClock } from '../time.js'
import { operation } from '../operation.js'
import { routesFor } from './own-routes.js'
import { Problem } from './answers.js'
import type { LimitStore } from './attempts.js'
import { createHttpApi, type Handlers, type HttpApiOptions } from './http-api.js'

const routes = {
  add: operation('POST /shelves/{shelf}/books', {
    summary: 'Add a book',
    input: z.strictObject({ shelf: z.string(), title: z.string().min(1), pages: z.int().optional() }),
    output: z.object({ shelf: z.string(), title: z.string(), by: z.string() }),
    success: [201],
    errors: [400, 409],
  }),
  find: operation('GET /books', {
    summary: 'Find books',
    input: z.strictObject({ tag: z.union([z.string(), z.array(z.string())]).optional(), mask: z.string().optional() }),
    output: z.record(z.string(), z.unknown()),
    headers: { mask: 'x-fields' },
    errors: [],
  }),
  burn: operation('DELETE /books', { summary: 'Burn all', input: z.strictObject({}), errors: [500] }),
  about: routesFor('anyone', [])('GET /about', {
    summary: 'About',
    input: z.strictObject({}),
    output: z.string(),
    errors: [],
  }),
}

class Taken extends Error {}

const handlers: Handlers<typeof routes, { id: string }> = {
  add: ({ shelf, title }, { caller }) => {
    if (title === 'taken') throw new Taken('the title is taken')
    if (title === 'strange') throw new Error('password hunter2 of 192.0.2.1')
    return { shelf, title, by: caller.id }
  },
  find: (input, { address }) => ({ ...input, address }),
  burn: async () => {},
  about: () => 'books',
}

function setUp(options: Partial<HttpApiOptions<typeof routes, { id: string }>> = {}) {
  const clock = createManualClock()
  const errors: unknown[] = []
  const api = createHttpApi({
    routes,
    handlers,
    authenticate: (request) => {
      const id = request.headers.get('authorization')
      return id === null ? undefined : { id }
    },
    clock,
    maxBodyBytes: 100,
    problemOf: (error) => (error instanceof Taken ? new Problem(409, 'taken', error.message) : undefined),
    onError: (error) => errors.push(error),
    ...options,
  })
  const call = (
    method: string,
    path: string,
    body?: unknown,
    headers: Record<string, string> = {},
    remoteAddress = '192.0.2.1',
  ) =>
    api(
      new Request(`http://localhost${path}`, {
        method,
        headers: {
          authorization: 'ann',
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
      { remoteAddress },
    )
  return { clock, errors, api, call }
}

test('path, query, headers and body make up the input, and the operation sets the status of the answer', async () => {
  const { call } = setUp()
  const added = await call('POST', '/shelves/top%2Fleft/books', { title: 'Emma' })
  expect(added.status).toBe(201)
  expect(await added.json()).toEqual({ shelf: 'top/left', title: 'Emma', by: 'ann' })
  expect(added.headers.get('cache-control')).toBe('no-store')
  const found = await call('GET', '/books?tag=a&tag=b', undefined, { 'X-Fields': 'title' })
  expect(await found.json()).toEqual({ tag: ['a', 'b'], mask: 'title', address: '192.0.2.1' })
  const burned = await call('DELETE', '/books')
  expect([burned.status, await burned.text()]).toEqual([204, ''])
})

test.each([
  ['an unknown key', { title: 'x', colour: 'red' }, 'colour'],
  ['a wrong value', { title: '' }, 'title'],
  ['a key of the path', { title: 'x', shelf: 'other' }, 'shelf'],
  ['a key that is missing', {}, 'title'],
])('a request body with %s is refused, naming the key', async (_, body, field) => {
  const response = await setUp().call('POST', '/shelves/a/books', body)
  expect(response.status).toBe(400)
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  expect(await response.json()).toMatchObject({
    type: 'urn:muster:problem:invalid-input',
    title: 'Bad Request',
    status: 400,
    code: 'invalid-input',
    field,
  })
})

test('a list is refused as a request body, and the query cannot change prototypes', async () => {
  const { call } = setUp()
  expect((await call('POST', '/shelves/a/books', [])).status).toBe(400)
  expect((await call('GET', '/books?__proto__=1')).status).toBe(400)
  expect((await call('GET', '/books?colour=red')).status).toBe(400)
  expect((await call('DELETE', '/books', { force: true })).status).toBe(400)
})

test('an unknown caller gets 401, except from public operations', async () => {
  const { api } = setUp()
  const unknown = await api(new Request('http://localhost/books'))
  expect([unknown.status, unknown.headers.get('www-authenticate')]).toEqual([401, 'Bearer'])
  expect(await (await api(new Request('http://localhost/about'))).json()).toBe('books')
})

test('an error that an operation declares gives its problem response, any other a 500 without details', async () => {
  const { call, errors } = setUp()
  expect(await (await call('POST', '/shelves/a/books', { title: 'taken' })).json()).toMatchObject({
    status: 409,
    code: 'taken',
    message: 'the title is taken',
    detail: 'the title is taken',
  })
  expect(errors).toEqual([])
  const response = await call('POST', '/shelves/a/books', { title: 'strange' })
  expect(response.status).toBe(500)
  expect(await response.text()).not.toContain('hunter2')
  expect(errors).toHaveLength(1)
})

test('an unavailable shared store is answered with 503, without the message of its error', async () => {
  const burn = () => Promise.reject(new StoreUnavailable('the store on redis.internal is full'))
  const { call, errors } = setUp({ handlers: { ...handlers, burn } })
  const response = await call('DELETE', '/books', undefined, { authorization: 'ann' })
  expect(response.status).toBe(503)
  expect(response.headers.get('retry-after')).toBe('1')
  expect(await response.json()).toMatchObject({ code: 'unavailable', message: expect.not.stringContaining('redis') })
  expect(errors).toEqual([expect.any(StoreUnavailable)])
})

test('the HTTP API accepts a limit store that returns its counts as promises', async () => {
  const counted: string[] = []
  const store: LimitStore = {
    attempts: (name, { limit }) => {
      let left = limit
      const take = async (key: string) => {
        counted.push(`${name} ${key}`)
        left -= 1
        return left < 0 ? 1500 : 0
      }
      return { take, wait: async () => 0, giveBack: () => {}, charge: () => {} }
    },
  }
  const limits = { perCaller: { limit: 1, windowMs: 3000 }, perAddress: { limit: 2, windowMs: 3000 }, store }
  const { call } = setUp({ limits })
  const find = () => call('GET', '/books', undefined, { authorization: 'ann' })
  const get = (path: string) => call('GET', path)
  const statuses = [await find(), await find(), await get('/nowhere'), await get('/about'), await get('/about')]
  expect(statuses.map(({ status }) => status)).toEqual([200, 429, 404, 200, 429])
  expect(counted.filter((one) => one === 'perAddress 192.0.2.1')).toHaveLength(2)
})

test('a request whose authenticate throws is refused', async () => {
  const { call } = setUp({ authenticate: () => Promise.reject(new Error('the directory is down')) })
  expect((await call('DELETE', '/books')).status).toBe(500)
  const refusing = setUp({ authenticate: () => Promise.reject(new Problem(403, 'banned', 'banned')) })
  expect((await refusing.call('DELETE', '/books')).status).toBe(403)
})

test('too many requests of a caller or an address are refused with Retry-After', async () => {
  const { clock, call } = setUp({
    limits: { perCaller: { limit: 2, windowMs: 3000 }, perAddress: { limit: 4, windowMs: 3000 } },
  })
  const status = async (id: string, address?: string) =>
    (await call('DELETE', '/books', undefined, { authorization: id }, address)).status
  expect([await status('ann'), await status('ann'), await status('ann')]).toEqual([204, 204, 429])
  expect([await status('bob'), await status('cleo')]).toEqual([204, 429])
  expect(await status('cleo', '192.0.2.2')).toBe(204)
  const response = await call('DELETE', '/books', undefined, {}, '192.0.2.3')
  expect(response.headers.get('retry-after')).toBe('2')
  expect(await response.json()).toMatchObject({ code: 'too-many-requests', retryAfterMs: 1500 })
  await clock.advance(1500)
  expect(await status('ann', '192.0.2.3')).toBe(204)
})

test('an IPv6 /64 counts as one address', async () => {
  const { call } = setUp({ limits: { perAddress: { limit: 1, windowMs: 3000 } } })
  const status = async (address: string) => (await call('DELETE', '/books', undefined, {}, address)).status
  expect([await status('2001:db8::1'), await status('2001:db8::2'), await status('2001:db8:0:1::1')]).toEqual([
    204, 429, 204,
  ])
})

test('requests of exempt callers count neither against a caller’s limit nor against an address’s limit', async () => {
  const limit = { limit: 1, windowMs: 3000 }
  const { call } = setUp({ limits: { perCaller: limit, perAddress: limit, exempt: ({ id }) => id === 'own' } })
  const status = async (id: string) => (await call('DELETE', '/books', undefined, { authorization: id })).status
  expect([
    await status('own'),
    await status('own'),
    await status('ann'),
    await status('ann'),
    await status('own'),
  ]).toEqual([204, 204, 204, 429, 204])
})

test('a caller without access is refused before the body is read', async () => {
  const { call } = setUp({
    authorize: (route, caller) => {
      if (route === 'add' && caller?.id !== 'ann') throw new Problem(403, 'not-you', 'not you')
    },
    maxBodyBytes: (route) => (route === 'add' ? 1000 : 10),
  })
  const book = { title: 'x'.repeat(900) }
  expect((await call('POST', '/shelves/a/books', book)).status).toBe(201)
  expect((await call('POST', '/shelves/a/books', { title: 'x'.repeat(1000) }, { authorization: 'bob' })).status).toBe(
    403,
  )
  expect((await call('POST', '/shelves/a/books', { title: 'x'.repeat(1000) })).status).toBe(413)
  expect((await call('DELETE', '/books', { force: 'x'.repeat(10) })).status).toBe(413)
})

test('pages of other origins may call the HTTP API only if its CORS option allows them', async () => {
  const origin = 'https://play.example'
  const ask = { origin, 'access-control-request-method': 'DELETE' }
  expect((await setUp().call('OPTIONS', '/books', undefined, ask)).status).toBe(405)
  expect(
    (await setUp().call('GET', '/books', undefined, { origin })).headers.get('access-control-allow-origin'),
  ).toBeNull()
  const { call } = setUp({ cors: { origins: [origin] } })
  const preflight = await call('OPTIONS', '/books', undefined, ask)
  expect([
    preflight.status,
    preflight.headers.get('access-control-allow-origin'),
    preflight.headers.get('access-control-allow-methods'),
  ]).toEqual([204, origin, 'POST, GET, DELETE'])
  expect((await call('GET', '/nothing', undefined, { origin })).headers.get('access-control-allow-origin')).toBe(origin)
  expect(
    (await call('GET', '/books', undefined, { origin: 'https://evil.example' })).headers.get(
      'access-control-allow-origin',
    ),
  ).toBeNull()
})

test('HEAD is answered like GET without a body, and OPTIONS without an origin with 405', async () => {
  const { call } = setUp()
  const head = await call('HEAD', '/books')
  expect([head.status, head.headers.get('content-type'), head.body]).toEqual([200, 'application/json', null])
  expect((await call('HEAD', '/nothing')).status).toBe(404)
  const options = await call('OPTIONS', '/books')
  expect([options.status, options.headers.get('allow')]).toEqual([405, 'GET, DELETE'])
})

test('the HTTP handler never rejects, even when an answer is immutable or onError throws', async () => {
  const redirecting = setUp({
    handlers: { ...handlers, about: () => Response.redirect('http://localhost/books', 302) },
  })
  const redirect = await redirecting.call('GET', '/about')
  expect([redirect.status, redirect.headers.get('location'), redirect.headers.get('cache-control')]).toEqual([
    302,
    'http://localhost/books',
    'no-store',
  ])
  const fail = () => {
    throw new Error('hunter2')
  }
  for (const options of [{ problemOf: fail }, { onError: fail }, { onError: async () => fail() }]) {
    const response = await setUp(options).call('POST', '/shelves/a/books', { title: 'strange' })
    expect(response.status).toBe(500)
    expect(await response.text()).not.toContain('hunter2')
  }
})

test.each([{ id: 5 }, {}, 'ann', true])(
  'a caller of `authenticate` without an id that is a text is an error: %j',
  async (caller) => {
    const { call, errors } = setUp({ authenticate: () => caller as never })
    expect((await call('POST', '/shelves/a/books', { title: 'strange' })).status).toBe(500)
    expect(errors).toMatchObject([{ message: expect.stringMatching(/^authenticate: the id must be a text, got /) }])
  },
)

test('the HTTP API does not report the disconnect of a client as an error', async () => {
  const { api, errors } = setUp({
    handlers: { ...handlers, about: (_, { request }) => Promise.reject(request.signal.reason) },
  })
  const about = (signal: AbortSignal) => api(new Request('http://localhost/about', { signal }))
  expect((await about(AbortSignal.abort())).status).toBe(499)
  expect(errors).toEqual([])
})

test('the HTTP API keeps the Vary header that a handler has set', async () => {
  const { call } = setUp({
    cors: { origins: ['*'] },
    handlers: { ...handlers, about: () => new Response('x', { headers: { vary: 'accept' } }) },
  })
  expect((await call('GET', '/about')).headers.get('vary')).toBe('accept, origin')
})
