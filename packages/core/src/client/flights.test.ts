import { describe, expect, test } from 'vitest'
import { api } from '../api/api.js'
import { createManualClock } from '../time.js'
import { createFlights, createLifetime } from './flight.js'
import { enterPhase, type Request } from './request.js'
import { testRequest } from './request.fixture.js'

/** Creates flights whose work ends when the test says so. */
function setUp() {
  const clock = createManualClock({ start: 0 })
  const lifetime = createLifetime()
  const under: { request: Request; land: (value: unknown) => void; crash: (error: unknown) => void }[] = []
  const perform = (request: Request) =>
    new Promise((land, crash) => {
      under.push({ request, land, crash })
    })
  const flights = createFlights({ perform, lifetime, clock })
  const read = (changes: Parameters<typeof testRequest>[0] = {}) =>
    testRequest({ now: clock.now(), deadline: 0, ...changes })
  return { clock, lifetime, under, flights, read }
}

const stop = { id: 'deployments.stop', operation: api.deployments.stop, path: '/v1/stop/abc' } as const
const turn = () => new Promise((resolve) => setImmediate(resolve))

describe('equal concurrent reads', () => {
  test('equal concurrent reads share one request', async () => {
    const { flights, under, read } = setUp()
    const first = flights.board(read(), undefined, 1000)
    const second = flights.board(read(), undefined, 1000)
    expect(under).toHaveLength(1)
    const value = { tags: ['a'] }
    under[0]?.land(value)
    expect(await Promise.all([first, second])).toEqual([value, value])
  })

  test('equal concurrent reads share the failure of their request', async () => {
    const { flights, under, read } = setUp()
    const both = [flights.board(read(), undefined, 1000), flights.board(read(), undefined, 1000)]
    under[0]?.crash(new Error('no'))
    await expect(both[0]).rejects.toThrow('no')
    await expect(both[1]).rejects.toThrow('no')
  })

  test('a read that starts after the answer to an equal read sends a new request', async () => {
    const { flights, under, read } = setUp()
    const first = flights.board(read(), undefined, 1000)
    under[0]?.land(1)
    await first
    void flights.board(read(), undefined, 1000)
    expect(under).toHaveLength(2)
  })

  test.each([
    ['another path', { path: '/v1/status/other' }],
    ['another header', { headers: ['X-Fields', 'a'] }],
    ['another priority', { priority: 1 }],
  ])('concurrent reads with %s are separate requests', (_, changes) => {
    const { flights, under, read } = setUp()
    void flights.board(read(), undefined, 1000)
    void flights.board(read(changes), undefined, 1000)
    expect(under).toHaveLength(2)
  })

  test('equal concurrent reads share a request, but equal concurrent writes do not', () => {
    const { flights, under, read } = setUp()
    for (const changes of [{}, {}, stop, stop]) void flights.board(read(changes), undefined, 1000)
    expect(under.map(({ request }) => request.path)).toEqual([read().path, stop.path, stop.path])
  })

  test('equal reads do not share a request across the begin or end of a write', async () => {
    const { flights, under, read } = setUp()
    void flights.board(read(), undefined, 1000)
    const write = flights.board(read(stop), undefined, 1000)
    void flights.board(read(), undefined, 1000)
    expect(under).toHaveLength(3)
    under[1]?.land(undefined)
    await write
    void flights.board(read(), undefined, 1000)
    expect(under).toHaveLength(4)
    void flights.board(read(), undefined, 1000)
    expect(under).toHaveLength(4)
  })
})

describe('a caller of a shared read', () => {
  test('an abort by one caller of a shared read rejects that caller only', async () => {
    const { flights, under, read } = setUp()
    const controller = new AbortController()
    const first = flights.board(read(), controller.signal, 1000)
    const second = flights.board(read(), undefined, 1000)
    controller.abort('changed my mind')
    await expect(first).rejects.toBe('changed my mind')
    expect(under[0]?.request.cancellation.signal.aborted).toBe(false)
    under[0]?.land('answer')
    expect(await second).toBe('answer')
  })

  test('the last caller to abort cancels the shared read, and no later call joins that request', async () => {
    const { flights, under, read } = setUp()
    const controllers = [new AbortController(), new AbortController()]
    const both = controllers.map(({ signal }) => flights.board(read(), signal, 1000).catch((reason: unknown) => reason))
    controllers[0]?.abort('one')
    controllers[1]?.abort('two')
    expect(await Promise.all(both)).toEqual(['one', 'two'])
    expect(under[0]?.request.cancellation.signal).toMatchObject({ aborted: true, reason: 'two' })

    // The next read sends a new request, even if the response to the first one arrives late.
    void flights.board(read(), undefined, 1000)
    expect(under).toHaveLength(2)
    under[0]?.crash('two')
    await turn()
    void flights.board(read(), undefined, 1000)
    expect(under).toHaveLength(2)
  })

  test('each caller of a shared read has its own deadline, and its error gives the times of this caller', async () => {
    const { clock, flights, under, read } = setUp()
    const first = flights.board(read(), undefined, 1000).catch((error: unknown) => error)
    await clock.advance(300)
    enterPhase((under[0] as { request: Request }).request.progress, 'inFlight', clock.now())
    await clock.advance(200)
    const second = flights.board(read(), undefined, 100).catch((error: unknown) => error)
    expect(under).toHaveLength(1)
    expect(under[0]?.request.progress.deadline).toBe(1000)
    await clock.advance(100)
    expect(await second).toMatchObject({ name: 'TimedOut', timeoutMs: 100, queuedMs: 0, inFlightMs: 100 })
    expect(under[0]?.request.cancellation.signal.aborted).toBe(false)
    await clock.advance(400)
    expect(await first).toMatchObject({
      name: 'TimedOut',
      timeoutMs: 1000,
      queuedMs: 300,
      inFlightMs: 700,
      retryWaitMs: 0,
      sent: false,
    })
    expect(under[0]?.request.cancellation.signal.aborted).toBe(true)
    expect(clock.sleepers).toBe(0)
  })

  test('a caller that joins a shared read later extends the deadline of the request', async () => {
    const { clock, flights, under, read } = setUp()
    void flights.board(read(), undefined, 1000).catch(() => {})
    await clock.advance(500)
    void flights.board(read(), undefined, 1000).catch(() => {})
    expect(under[0]?.request.progress.deadline).toBe(1500)
  })

  test('the error of a shared read says that a sent request may have been carried out', async () => {
    const { clock, flights, under, read } = setUp()
    const call = flights.board(read(stop), undefined, 50).catch((error: unknown) => error)
    const { progress } = (under[0] as { request: Request }).request
    progress.written = true
    progress.lastError = new Error('before')
    await clock.advance(50)
    expect(await call).toMatchObject({
      sent: true,
      operation: 'deployments.stop',
      requestId: 'abc',
      cause: new Error('before'),
      message: 'deployments.stop: timed out after 50 ms (queued 50 ms, waiting to retry 0 ms, in flight 0 ms)',
    })
  })
})

test('an aborted caller of a shared read does not make close wait for the request', async () => {
  const { flights, under, read, lifetime } = setUp()
  const controller = new AbortController()
  const call = flights.board(read(), controller.signal, 1000)
  controller.abort('enough')
  await expect(call).rejects.toBe('enough')
  let closed = false
  const closing = lifetime.close().then(() => {
    closed = true
  })
  await turn()
  expect(closed).toBe(false)
  under[0]?.crash('enough')
  await closing
  expect(lifetime.close()).toBe(lifetime.close())
})
