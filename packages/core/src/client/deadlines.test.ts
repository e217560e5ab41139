import { beforeAll, describe, expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import { createClient } from './client.js'
import { loadDescription } from './call.js'
import { RateLimited, ServerError, TimedOut } from './errors.js'
import { inProcess } from './transport.js'
import type { ClientOptions } from './config.js'

beforeAll(loadDescription)

type Handler = (request: Request, nth: number) => Promise<Response>

const never: Handler = () => new Promise(() => {})
const failing =
  (headers: Record<string, string> = {}, status = 503) =>
  async () =>
    Response.json({ message: 'down' }, { status, headers })
const good: Handler = async () => Response.json({ name: 'blue' })

/** A service that answers when the test releases it. */
function holdBack() {
  let release = () => {}
  const released = new Promise<void>((resolve) => (release = resolve))
  return { handle: () => released.then(() => Response.json({ name: 'blue' })), release: () => release() }
}

function setUp(handle: Handler, options: Partial<ClientOptions> = {}) {
  const clock = createManualClock()
  const began = clock.now()
  const reached: string[] = []
  const dispatcher = inProcess((request) =>
    handle(request, reached.push(`${request.method} ${new URL(request.url).pathname.split('/').at(-1)}`)),
  )
  const client = createClient({
    baseUrl: 'http://service.invalid',
    token: 'secret',
    clock,
    random: () => 0.5,
    dispatcher,
    ...options,
  })
  const read = (tag_name: string, call: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {}) =>
    client.tags.get({ request_id: 'abc', tag_name }, call)
  const create = (name: string, call: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {}) =>
    client.tags.create({ request_id: 'abc', name }, call)
  const other = () => {
    const { other: reads, 'other changes': changes } = client.queues()
    return {
      queued: (reads?.queued ?? 0) + (changes?.queued ?? 0),
      inFlight: (reads?.inFlight ?? 0) + (changes?.inFlight ?? 0),
    }
  }
  return { client, clock, reached, read, create, now: () => clock.now() - began, other }
}

/** The error of a call that must fail, without waiting on a clock. */
const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable('the call succeeded'),
    (error: unknown) => error,
  )

describe('the deadline of a call', () => {
  test('ends a call in flight, which may have been carried out', async () => {
    const { clock, create, now, other } = setUp(never)
    const call = failure(create('a', { timeoutMs: 500 }))
    await clock.advance(499)
    expect(other()).toMatchObject({ inFlight: 1 })
    await clock.advance(1)
    const error = await call
    expect(error).toBeInstanceOf(TimedOut)
    expect(error).toMatchObject({
      sent: true,
      timeoutMs: 500,
      queuedMs: 0,
      retryWaitMs: 0,
      inFlightMs: 500,
      requestId: 'abc',
    })
    expect(error).toMatchObject({
      message: 'tags.create: timed out after 500 ms (queued 0 ms, waiting to retry 0 ms, in flight 500 ms)',
    })
    expect(now()).toBe(500)
    expect(other()).toMatchObject({ queued: 0, inFlight: 0 })
    expect(clock.sleepers).toBe(0)
  })

  test('ends a queued call, which is never sent', async () => {
    const { clock, create, reached, other } = setUp(never, { maxInFlight: 1 })
    const first = failure(create('first', { timeoutMs: 2000 }))
    const second = failure(create('second', { timeoutMs: 500 }))
    await clock.advance(500)
    expect(await second).toMatchObject({ name: 'TimedOut', sent: false, queuedMs: 500, retryWaitMs: 0, inFlightMs: 0 })
    expect(other()).toMatchObject({ queued: 0, inFlight: 1 })
    await clock.advance(1500)
    expect(await first).toMatchObject({ name: 'TimedOut', sent: true })
    expect(reached).toEqual(['POST tags'])
  })

  test('ends a call that is queued behind the 429s of others', async () => {
    const { clock, read, reached } = setUp(failing({ 'retry-after': '20' }, 429))
    const names = ['a', 'b', 'c', 'd', 'e']
    const refused = Promise.allSettled(names.map((name) => read(name, { timeoutMs: 30_000 })))
    await clock.advance(0)
    const held = failure(read('held', { timeoutMs: 500 }))
    await clock.advance(500)
    const error = await held
    expect(error).toMatchObject({ name: 'TimedOut', sent: false, queuedMs: 500 })
    expect(error).toHaveProperty('cause', expect.any(RateLimited))
    expect(reached).toEqual(names.map((name) => `GET ${name}`))
    await clock.until(refused, 1000)
  })

  test('includes all attempts, and the error says where the time went and how the last one failed', async () => {
    const { clock, read, now } = setUp((request, nth) => (nth === 1 ? failing()() : never(request, nth)))
    const call = failure(read('a', { timeoutMs: 1000 }))
    await clock.advance(1000)
    const error = await call
    expect(error).toMatchObject({ name: 'TimedOut', sent: true, queuedMs: 0, retryWaitMs: 100, inFlightMs: 900 })
    expect(error).toHaveProperty('cause', expect.any(ServerError))
    expect(now()).toBe(1000)
  })

  test('ends a wait before a retry, though another caller of the same read has more time', async () => {
    const { clock, read, reached } = setUp((request, nth) =>
      nth === 1 ? failing({ 'retry-after': '5' })() : good(request, nth),
    )
    const hurried = failure(read('a', { timeoutMs: 500 }))
    const patient = read('a', { timeoutMs: 20_000 })
    await clock.advance(500)
    expect(await hurried).toMatchObject({ name: 'TimedOut', sent: true, retryWaitMs: 500, inFlightMs: 0 })
    await clock.advance(4500)
    await expect(patient).resolves.toEqual({ name: 'blue' })
    expect(reached.length).toBe(2)
  })

  test('counts from the call of a caller who joins a read late', async () => {
    const { clock, read } = setUp(never)
    const early = failure(read('a', { timeoutMs: 5000 }))
    await clock.advance(1000)
    const late = failure(read('a', { timeoutMs: 300 }))
    await clock.advance(300)
    expect(await late).toMatchObject({ name: 'TimedOut', timeoutMs: 300, queuedMs: 0, inFlightMs: 300 })
    await clock.advance(3700)
    expect(await early).toMatchObject({ name: 'TimedOut', timeoutMs: 5000, inFlightMs: 5000 })
  })

  test.each([
    { status: 503, type: ServerError },
    { status: 429, type: RateLimited },
  ])('ends a call at once when it comes before the end of a wait after $status', async ({ status, type }) => {
    const { clock, read, now, other } = setUp(failing({ 'retry-after': '5' }, status))
    const call = failure(read('a', { timeoutMs: 5000 }))
    await clock.advance(0)
    const error = await call
    expect(error).toBeInstanceOf(type)
    expect(error).toMatchObject({ status, retryAfterMs: 5000 })
    expect(now()).toBe(0)
    expect(other()).toMatchObject({ queued: 0, inFlight: 0 })
  })

  test('is exact for each of many calls', async () => {
    const { clock, create, now, other } = setUp(never, { maxInFlight: 3 })
    const deadlines = [700, 100, 400, 400, 250, 900, 50]
    const ends = deadlines.map((timeoutMs, index) => failure(create(`t${index}`, { timeoutMs })).then(() => now()))
    await clock.advance(1000)
    expect(await Promise.all(ends)).toEqual(deadlines)
    expect(other()).toMatchObject({ queued: 0, inFlight: 0 })
    expect(clock.sleepers).toBe(0)
  })
})

describe('an abort rejects at once with its reason', () => {
  const reason = { why: 'the player left' }

  const cases = [
    { where: 'in flight', handle: never, reached: 1 },
    { where: 'waiting to retry', handle: failing({ 'retry-after': '5' }), reached: 1 },
    { where: 'waiting for the end of a 429', handle: failing({ 'retry-after': '5' }, 429), reached: 1 },
  ] as const
  test.each(cases)('$where', async ({ handle, reached: times }) => {
    const { clock, read, reached, other } = setUp(handle)
    const abort = new AbortController()
    const call = failure(read('a', { signal: abort.signal }))
    await clock.advance(50)
    abort.abort(reason)
    expect(await call).toBe(reason)
    expect(other()).toMatchObject({ queued: 0, inFlight: 0 })
    await clock.advance(60_000)
    expect(reached.length).toBe(times)
    expect(clock.sleepers).toBe(0)
  })

  test('of a queued call leaves its place to the next', async () => {
    const held = holdBack()
    const { clock, create, reached, other } = setUp(
      (request, nth) => (nth === 1 ? held.handle() : good(request, nth)),
      { maxInFlight: 1 },
    )
    const abort = new AbortController()
    const first = create('first')
    const second = failure(create('second', { signal: abort.signal }))
    const third = create('third')
    await clock.advance(10)
    expect(other()).toMatchObject({ queued: 2, inFlight: 1 })
    abort.abort(reason)
    expect(await second).toBe(reason)
    await clock.advance(0)
    expect(other()).toMatchObject({ queued: 1, inFlight: 1 })
    held.release()
    await clock.until(Promise.all([first, third]))
    expect(reached.length).toBe(2)
  })

  test('of a call that waits for the rate limit costs no request', async () => {
    const options = { limits: { other: { limit: 1 } }, jitterMs: 0 }
    const { clock, create, now, reached } = setUp(good, options)
    const abort = new AbortController()
    await clock.until(create('first'))
    const began = now()
    const second = failure(create('second', { signal: abort.signal }))
    const third = create('third').then(() => now() - began)
    await clock.advance(10)
    abort.abort(reason)
    expect(await second).toBe(reason)
    expect(await clock.until(third, 10)).toBeLessThanOrEqual(1000)
    expect(reached.length).toBe(2)
  })

  test('of a call in flight frees its slot for the next', async () => {
    const { clock, create } = setUp((request, nth) => (nth === 1 ? never(request, nth) : good(request, nth)), {
      maxInFlight: 1,
    })
    const abort = new AbortController()
    const first = failure(create('first', { signal: abort.signal }))
    const second = create('second')
    await clock.advance(10)
    abort.abort(reason)
    expect(await first).toBe(reason)
    await expect(clock.until(second)).resolves.toEqual({ name: 'blue' })
  })

  test('before the call sends nothing', async () => {
    const { clock, create, reached } = setUp(good)
    expect(await failure(create('a', { signal: AbortSignal.abort(reason) }))).toBe(reason)
    await clock.advance(1000)
    expect(reached).toEqual([])
  })

  test('of one caller of a shared read does not affect the others', async () => {
    const held = holdBack()
    const { clock, read, reached } = setUp(held.handle)
    const abort = new AbortController()
    const leaves = failure(read('a', { signal: abort.signal }))
    const stays = read('a')
    await clock.advance(10)
    abort.abort(reason)
    expect(await leaves).toBe(reason)
    held.release()
    await expect(clock.until(stays)).resolves.toEqual({ name: 'blue' })
    expect(reached.length).toBe(1)
  })

  test('of a call whose token function hangs frees its slot', async () => {
    const { clock, create, other, reached } = setUp(good, { token: () => new Promise(() => {}) })
    const abort = new AbortController()
    const aborted = failure(create('a', { signal: abort.signal }))
    const late = failure(create('b', { timeoutMs: 500 }))
    await clock.advance(10)
    abort.abort(reason)
    expect(await aborted).toBe(reason)
    await clock.advance(490)
    expect(await late).toMatchObject({ name: 'TimedOut', sent: false })
    expect(other()).toMatchObject({ queued: 0, inFlight: 0 })
    expect(reached).toEqual([])
  })
})
