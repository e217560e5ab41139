import {
  ConnectionLost,
  Forbidden,
  InvalidInput,
  NoCapacity,
  RateLimited,
  RouteMissing,
  SendAborted,
  ServerError,
  TimedOut,
  Unauthorized,
  UnexpectedResponse,
} from '@muster/core'
import { createManualClock, dateOf, systemClock } from '@muster/core/clock'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { type AnswerInstead, allocatorSecret, openAllocatorServer } from './allocator-server.fixture.js'
import { createTestAllocator } from './allocator.fixture.js'
import { createFailure } from './create-failure.js'
import { createHttpAllocator, type HttpAllocator } from './http-allocator.js'

const TOKEN = 'token-of-the-server-0123456789'
const wanted = {
  id: 's-1',
  application: 'game',
  version: '1',
  places: [{ latitude: 59.9, longitude: 10.7 }],
  environment: { MUSTER_SERVER_TOKEN: TOKEN },
}
const call = { timeoutMs: 5000 }

let instead: AnswerInstead | undefined
let server: Awaited<ReturnType<typeof openAllocatorServer>>
let own: ReturnType<typeof createTestAllocator>
let allocator: HttpAllocator

beforeAll(async () => {
  own = createTestAllocator({ clock: systemClock, readyMs: 0 })
  server = await openAllocatorServer({ allocator: own.allocator, instead: () => instead })
  allocator = createHttpAllocator({ url: server.url, secret: allocatorSecret })
})
beforeEach(() => {
  instead = undefined
})
afterAll(async () => {
  await allocator.close()
  server.close()
})

const errorOf = (attempt: Promise<unknown>): Promise<Error> =>
  attempt.then(
    () => expect.unreachable('it should have been rejected'),
    (error: unknown) => error as Error,
  )

test('each call of an HTTP allocator is a signed POST that allocates, shows or stops a server', async () => {
  await allocator.allocate(wanted, call)
  expect(await allocator.poll(['s-1', 's-2'], call)).toEqual([
    { id: 's-1', status: 'ready', host: 's-1.example.com', ports: { game: { port: 7777 } } },
    { id: 's-2', status: 'unknown' },
  ])
  await allocator.stop('s-1', call)
  expect(own.running()).toEqual([])
  expect(own.servers.get('s-1')?.wanted).toEqual(wanted)
  expect(server.received.map(({ path }) => path)).toEqual(['/muster/allocate', '/muster/poll', '/muster/stop'])
  expect(server.received.map(({ body }) => (JSON.parse(body) as { readonly type?: unknown }).type)).toEqual([
    'allocate',
    'poll',
    'stop',
  ])
  const ids = server.received.map(({ headers }) => headers['webhook-id'])
  expect(new Set(ids).size).toBe(3)
})

test('an HTTP allocator with another secret is refused, and the error shows neither secret', async () => {
  const other = createHttpAllocator({ url: server.url, secret: `whsec_${Buffer.alloc(24, 1).toString('base64')}` })
  const error = await errorOf(other.poll([], call))
  expect(error).toBeInstanceOf(Unauthorized)
  expect(error.message).toBe('poll: status 401: signature')
  await other.close()
})

describe('an answer other than 2xx of an HTTP allocator', () => {
  const json = (error: string, detail?: string) => JSON.stringify({ error, detail })
  test.each<[AnswerInstead, new (...args: never[]) => Error, string]>([
    [{ status: 409, body: json('no-capacity') }, NoCapacity, 'no-capacity'],
    [{ status: 503, body: json('no-capacity') }, NoCapacity, 'no-capacity'],
    [{ status: 503 }, ServerError, 'lost'],
    [{ status: 500, body: 'oops' }, ServerError, 'lost'],
    [{ status: 408 }, ServerError, 'lost'],
    [{ status: 429, headers: { 'retry-after': '7' } }, RateLimited, 'unavailable'],
    [{ status: 401 }, Unauthorized, 'unavailable'],
    [{ status: 403 }, Forbidden, 'unavailable'],
    [{ status: 404, body: '<html>' }, RouteMissing, 'unavailable'],
    [{ status: 405, body: json('method') }, RouteMissing, 'unavailable'],
    [{ status: 404, body: json('unknown-version') }, InvalidInput, 'refused'],
    [{ status: 409, body: json('stopped') }, InvalidInput, 'refused'],
    [{ status: 422, body: json('version') }, InvalidInput, 'refused'],
    [{ status: 302, headers: { location: 'http://127.0.0.1:1/' } }, UnexpectedResponse, 'lost'],
    ['drop', ConnectionLost, 'lost'],
  ])(
    'an HTTP allocator’s answer other than 2xx becomes the error class of its status and code: %j',
    async (given, kind, outcome) => {
      instead = given
      const error = await errorOf(allocator.allocate(wanted, call))
      expect(error).toBeInstanceOf(kind)
      expect(createFailure(error).kind).toBe(outcome)
    },
  )

  test('an HTTP allocator’s error has its reason, without the server’s variables and addresses', async () => {
    instead = { status: 422, body: json('version', `${TOKEN} at 203.0.113.9 is wrong`) }
    const { message } = await errorOf(allocator.allocate(wanted, call))
    expect(message).toMatch(/^allocate: status 422: version: .* is wrong$/)
    expect(message).not.toMatch(/token-of|203\.0/)
  })

  test('an HTTP allocator’s 429 becomes an error with the time to wait', async () => {
    instead = { status: 429, headers: { 'retry-after': '7' } }
    expect(await errorOf(allocator.poll([], call))).toMatchObject({ retryAfterMs: 7000 })
  })

  test('an HTTP allocator’s Retry-After as a date is compared with the wall clock', async () => {
    const clock = createManualClock()
    clock.step(3_600_000)
    const stepped = createHttpAllocator({ url: server.url, secret: allocatorSecret, clock })
    const until = new Date(Math.ceil(dateOf(clock) / 1000) * 1000 + 7000).toUTCString()
    instead = { status: 429, headers: { 'retry-after': until, date: 'unknown' } }
    const { retryAfterMs } = (await errorOf(stepped.poll([], call))) as RateLimited
    expect(retryAfterMs).toBeGreaterThanOrEqual(7000)
    expect(retryAfterMs).toBeLessThanOrEqual(8000)
    await stepped.close()
  })
})

describe('the answer to a poll of an HTTP allocator', () => {
  const poll = (body: unknown) => {
    instead = { status: 200, body: typeof body === 'string' ? body : JSON.stringify(body) }
    return allocator.poll(['a', 'b'], call)
  }

  test('an HTTP allocator’s poll answer may have unknown members, and null for missing members', async () => {
    const one = { id: 'a', status: 'starting', host: null, ports: null, location: null, detail: null, node: 'n1' }
    expect(await poll({ servers: [one], at: 1 })).toEqual([{ id: 'a', status: 'starting' }])
  })

  test.each(['', '[]', {}, { servers: { a: 'ready' } }])(
    'an HTTP allocator’s poll answer without a valid list is refused: %j',
    async (body) => {
      const error = await errorOf(poll(body))
      expect(error).toBeInstanceOf(UnexpectedResponse)
      expect(error.message).toBe('poll: the answer must be an object { servers: […] }')
    },
  )

  const portsUpTo = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, nth) => [`p${nth}`, { port: nth + 1 }]))

  test.each([
    [{ id: 'a', status: 'gone' }, 'status: must be'],
    [{ id: 'a', status: 'ready' }, 'host: is required for a ready server'],
    [{ id: 'a', status: 'ready', host: 'h', ports: { game: { port: 70_000 } } }, 'ports.game.port: must be at most'],
    [{ id: 'a', status: 'ready', host: 'h', location: { latitude: 91, longitude: 0 } }, 'location.latitude: must be'],
    [{ id: 'a', status: 'ready', host: 'h', ports: portsUpTo(65) }, 'ports: must have at most 64 ports'],
    [{ id: 'a', status: 'ready', host: 'h', ports: { ['p'.repeat(65)]: { port: 1 } } }, 'ports'],
    [{ id: 7, status: 'ready', host: 'h' }, 'id: must be'],
    ['a', 'must be'],
  ])(
    'an invalid entry in an HTTP allocator’s poll answer counts as unclear, and affects no other entry: %j',
    async (entry, says) => {
      const [wrong, right] = await poll({ servers: [entry, { id: 'b', status: 'starting' }] })
      const id = Object(entry).id === 'a' ? 'a' : ''
      expect(wrong).toEqual({ id, status: 'unclear', detail: expect.stringContaining(says) as string })
      expect(right).toEqual({ id: 'b', status: 'starting' })
    },
  )

  test('an HTTP allocator’s poll answer may have 64 ports for a server', async () => {
    const [one] = await poll({ servers: [{ id: 'a', status: 'ready', host: 'h', ports: portsUpTo(64) }] })
    expect(one).toMatchObject({ status: 'ready', ports: { p63: { port: 64 } } })
  })

  test('an HTTP allocator’s poll answer may list other servers, and one server twice', async () => {
    const entries = [
      { id: 'other', status: 7 },
      { id: 'a', status: 'starting' },
      { id: 'c', status: 'ended' },
    ]
    const again = (status: string) => poll({ servers: [...entries, { id: 'a', status }] })
    expect(await again('starting')).toEqual([{ id: 'a', status: 'starting' }])
    const detail = 'two entries say different statuses'
    expect(await again('ended')).toEqual([{ id: 'a', status: 'unclear', detail }])
  })

  test('an entry with an empty id in an HTTP allocator’s poll answer ends no server', async () => {
    const [one] = await poll({ servers: [{ id: '', status: 'ended' }] })
    expect(one).toMatchObject({ id: '', status: 'unclear' })
  })

  test('thousands of invalid entries in an HTTP allocator’s poll answer are read quickly', async () => {
    const began = performance.now()
    expect(await poll({ servers: Array.from({ length: 300_000 }, () => ({})) })).toHaveLength(1)
    // Reading each of them takes more than ten seconds.
    expect(performance.now() - began).toBeLessThan(5000)
  })

  test('an HTTP allocator’s poll answer above 1 MiB is refused', async () => {
    const error = await errorOf(poll(`{"servers":[],"padding":"${'x'.repeat(2 ** 20)}"}`))
    expect(error).toMatchObject({ name: 'UnexpectedResponse', message: expect.stringContaining('1048576 bytes') })
  })
})

test('a call of an HTTP allocator times out at its own limit or at that of the allocator', async () => {
  const clock = createManualClock()
  const patient = createHttpAllocator({ url: server.url, secret: allocatorSecret, timeoutMs: 3000, clock })
  instead = 'never'
  const before = server.received.length
  const failed = errorOf(patient.stop('a', { timeoutMs: 20_000 }))
  while (server.received.length === before) await new Promise((resolve) => setImmediate(resolve))
  await clock.advance(3000)
  expect(await failed).toMatchObject({ name: 'TimedOut', sent: true, timeoutMs: 3000 })
  expect(await failed).toBeInstanceOf(TimedOut)
  await patient.close()
})

test('a refused connection to an HTTP allocator counts as a request that was not sent', async () => {
  const nobody = createHttpAllocator({ url: 'http://127.0.0.1:1', secret: allocatorSecret })
  const error = await errorOf(nobody.allocate(wanted, call))
  expect(error).toMatchObject({ name: 'ConnectionLost', sent: false })
  await nobody.close()
})

test.each([
  ['url', { url: 'ftp://example.com', secret: allocatorSecret }],
  ['secret', { url: 'http://example.com', secret: 'whsec_c2hvcnQ=' }],
  ['timeoutMs', { url: 'http://example.com', secret: allocatorSecret, timeoutMs: 0 }],
])('an HTTP allocator refuses an invalid option %s by name', (field, options) => {
  expect(() => createHttpAllocator(options)).toThrow(expect.objectContaining({ name: 'InvalidInput', field }))
})

test('an HTTP allocator sends no request if `mayWrite` forbids it, and throws SendAborted', async () => {
  const late = { ...wanted, id: 's-late' }
  const error = await errorOf(allocator.allocate(late, { ...call, mayWrite: () => false }))
  expect(error).toBeInstanceOf(SendAborted)
  expect(createFailure(error)).toMatchObject({ kind: 'unavailable' })
  expect(own.calls.allocate).not.toContain('s-late')
})
