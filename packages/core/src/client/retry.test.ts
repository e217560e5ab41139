import fc from 'fast-check'
import { beforeAll, describe, expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import type { Method } from '../operation.js'
import type { Client } from './client-types.js'
import { clientOf } from './client.fixture.js'
import { loadDescription } from './call.js'
import {
  AlreadyTerminated,
  ConnectionLost,
  InvalidInput,
  type MusterError,
  NotFound,
  RateLimited,
  ServerError,
} from './errors.js'
import type { RetryEvent } from './call-events.js'
import { type ClientDispatcher, inProcess } from './transport.js'
import type { ClientOptions } from './config.js'

beforeAll(loadDescription)

/**
 * The outcome of an attempt: a status (with headers), a refused connection, or a connection that is lost after the
 * request was written.
 */
type Fate = number | 'refused' | 'lost' | readonly [status: number, headers: Record<string, string>]

/** The nth request has the nth outcome, and all later ones succeed. */
function setUp(fates: readonly Fate[], options: Partial<ClientOptions> = {}) {
  const clock = createManualClock()
  const began = clock.now()
  /** Milliseconds from the start at which each attempt was made. */
  const attempts: number[] = []
  const respond = async (fate: Fate) => {
    if (fate === 'lost') throw new Error('reset')
    const [status, headers] = typeof fate === 'object' ? fate : [Number(fate), {}]
    return status === 204
      ? new Response(null, { status })
      : Response.json({ name: 'said', message: 'said' }, { status, headers })
  }
  const dispatcher: ClientDispatcher = {
    dispatch: (request, handler) => {
      const fate = fates[attempts.length] ?? 200
      attempts.push(clock.now() - began)
      if (fate !== 'refused') return inProcess(() => respond(fate)).dispatch(request, handler)
      const controller = {
        aborted: false,
        paused: false,
        reason: null,
        abort: () => {},
        pause: () => {},
        resume: () => {},
      }
      queueMicrotask(() => handler.onResponseError?.(controller, new Error('refused')))
      return true
    },
  }
  const client = clientOf({ token: 'secret', clock, dispatcher, ...options })
  const retries: RetryEvent[] = []
  client.events.on('retry', (event) => retries.push(event))
  /** Resolves with the result of the call, or with its error. */
  const outcome = (method: Method, timeoutMs = 1e9) =>
    clock.until(
      perform[method](client, timeoutMs).catch((error: unknown) => error),
      1000,
    )
  return { client, clock, attempts, retries, outcome }
}

const tag = { request_id: 'abc', tag_name: 'blue' }
const link = { fleet_name: 'fleet', app_name: 'game', version_name: 'v1' }
const perform: Readonly<Record<Method, (client: Client, timeoutMs: number) => Promise<unknown>>> = {
  GET: (client, timeoutMs) => client.tags.get(tag, { timeoutMs }),
  PUT: (client, timeoutMs) => client.fleets.link(link, { timeoutMs }),
  DELETE: (client, timeoutMs) => client.tags.delete(tag, { timeoutMs }),
  POST: (client, timeoutMs) => client.tags.create({ request_id: 'abc', name: 'blue' }, { timeoutMs }),
  PATCH: (client, timeoutMs) => client.tags.update({ ...tag, name: 'red' }, { timeoutMs }),
}
const methods = Object.keys(perform) as Method[]
const repeatable: readonly Method[] = ['GET', 'PUT', 'DELETE']

describe('retries', () => {
  const always: readonly Method[] = methods
  const never: readonly Method[] = []
  const table: readonly (readonly [
    fate: Fate,
    repeated: readonly Method[],
    otherwise: new (...given: never[]) => MusterError,
  ])[] = [
    [429, always, RateLimited],
    ['refused', always, ConnectionLost],
    ['lost', repeatable, ConnectionLost],
    [500, repeatable, ServerError],
    [503, repeatable, ServerError],
    [408, repeatable, ServerError],
    [425, repeatable, ServerError],
    [400, never, InvalidInput],
    [404, never, NotFound],
    [410, never, AlreadyTerminated],
  ]
  const cases = table.flatMap(([fate, repeated, type]) =>
    methods.map((method) => {
      const repeats = repeated.includes(method)
      const after = fate === 'refused' ? 'a refused connection' : fate === 'lost' ? 'a lost answer' : `status ${fate}`
      return [method, repeats ? 'is' : 'is not', after, { fate, method, type, repeats }] as const
    }),
  )

  test.each(cases)('a %s %s retried after %s', async (_method, _is, _fate, { fate, method, repeats, type }) => {
    const { attempts, outcome } = setUp([fate])
    const came = await outcome(method)
    expect(attempts.length).toBe(repeats ? 2 : 1)
    if (repeats) expect(came).not.toBeInstanceOf(Error)
    else expect(came).toBeInstanceOf(type)
  })

  test('after any failures a call is repeated only if that is safe, and at most retry.attempts times', async () => {
    const fate = fc.constantFrom<Fate>(429, 'refused', 'lost', 500, 503, 404, 410)
    const run = fc.record({
      method: fc.constantFrom(...methods),
      fates: fc.array(fate, { maxLength: 8 }),
      most: fc.integer({ min: 1, max: 5 }),
    })
    await fc.assert(
      fc.asyncProperty(run, async ({ method, fates, most }) => {
        const { attempts, outcome, retries, client } = setUp(fates, { retry: { attempts: most } })
        const came = await outcome(method)
        const ended = attempts.length
        const last = fates[ended - 1] ?? 200
        const before = fates.slice(0, ended - 1)
        const counted = before.filter((one) => one !== 429).length
        const safe = (one: Fate) =>
          one === 429 || one === 'refused' || (repeatable.includes(method) && (one === 'lost' || Number(one) >= 500))
        const doubtful = before.some((one) => one === 'lost' || Number(one) >= 500)

        expect(before.filter((one) => !safe(one))).toEqual([])
        expect(counted).toBeLessThan(most)
        expect(retries.length).toBe(counted)
        expect(client.queues()['other']).toMatchObject({ queued: 0, inFlight: 0 })
        if (!(came instanceof Error)) {
          const gone = method === 'DELETE' && doubtful && (last === 404 || last === 410)
          expect(last === 200 || gone).toBe(true)
        } else if (safe(last)) {
          expect(last).not.toBe(429)
          expect(counted + 1).toBe(most)
        } else {
          expect(last).not.toBe(200)
          expect(method === 'DELETE' && doubtful && (last === 404 || last === 410)).toBe(false)
        }
      }),
      { numRuns: 100 },
    )
  })

  test.each(methods)('a %s succeeds after any number of 429s, which do not count as attempts', async (method) => {
    const { attempts, outcome } = setUp(
      Array.from({ length: 25 }, () => 429),
      { retry: { attempts: 1 } },
    )
    expect(await outcome(method)).not.toBeInstanceOf(Error)
    expect(attempts.length).toBe(26)
  })
})

describe('a DELETE answered by 404 or 410', () => {
  test.each([404, 410])('a DELETE whose first attempt is answered by %i fails', async (status) => {
    expect(await setUp([status]).outcome('DELETE')).toMatchObject({ status })
  })

  test.each([404, 410])(
    'a DELETE answered by %i succeeds if an earlier attempt may have been carried out',
    async (status) => {
      expect(await setUp(['lost', status]).outcome('DELETE')).toBeUndefined()
      expect(await setUp([502, 429, 'refused', status]).outcome('DELETE')).toBeUndefined()
    },
  )

  test.each([404, 410])(
    'a DELETE answered by %i fails if no earlier attempt can have been carried out',
    async (status) => {
      expect(await setUp(['refused', 429, status]).outcome('DELETE')).toMatchObject({ status })
    },
  )

  test.each([400, 404, 410])('a repeated stop succeeds if it is answered by %i', async (status) => {
    const handle = async () => {
      handled += 1
      return Response.json({ message: 'deployment already terminated' }, { status: handled === 1 ? 500 : status })
    }
    let handled = 0
    const { client, clock } = setUp([], { dispatcher: inProcess(handle) })
    const stopped = await clock.until(client.deployments.stop({ request_id: 'abc' }))
    expect(stopped).toMatchObject({ message: expect.stringContaining('already terminated') })
    expect(handled).toBe(2)
  })

  test('a repeated GET or PUT fails if it is answered by 404', async () => {
    expect(await setUp([500, 404]).outcome('GET')).toBeInstanceOf(NotFound)
    expect(await setUp([500, 404]).outcome('PUT')).toBeInstanceOf(NotFound)
  })
})

describe('the wait before a retry', () => {
  test('the wait before a retry is random up to a bound that doubles and is capped', async () => {
    const options = fc.record({
      random: fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      baseMs: fc.integer({ min: 0, max: 1000 }),
      capMs: fc.integer({ min: 0, max: 5000 }),
    })
    await fc.assert(
      fc.asyncProperty(options, async ({ random, baseMs, capMs }) => {
        const { outcome, attempts, retries } = setUp([500, 'lost', 503, 'refused', 500], {
          random: () => random,
          retry: { attempts: 6, baseMs, capMs },
        })
        await outcome('GET')
        const bounds = [1, 2, 4, 8, 16].map((factor) => Math.min(capMs, baseMs * factor))
        expect(retries.map(({ delayMs }) => delayMs)).toEqual(bounds.map((bound) => random * bound))
        const waited = attempts.slice(1).map((at, index) => at - (attempts[index] ?? 0))
        // As doubles, epoch milliseconds have about four decimal places.
        waited.forEach((ms, index) => expect(ms).toBeCloseTo(random * (bounds[index] ?? Number.NaN), 2))
      }),
      { numRuns: 50 },
    )
  })

  const inThirtySeconds = { date: 'Wed, 05 Aug 2026 12:00:00 GMT', 'retry-after': 'Wed, 05 Aug 2026 12:00:30 GMT' }
  test.each([
    { wish: 'of seconds', headers: { 'retry-after': '7' }, ms: 7000 },
    { wish: "counted from the service's own date", headers: inThirtySeconds, ms: 30_000 },
    { wish: 'of a date', headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:20 GMT' }, ms: 20_000 },
    { wish: 'beyond the cap', headers: { 'retry-after': '86400' }, ms: 60_000 },
  ])('the wait before a retry is $ms ms for Retry-After $wish, after 429 and after 503', async ({ headers, ms }) => {
    for (const status of [429, 503]) {
      const { outcome, attempts } = setUp([[status, headers]])
      await outcome('GET')
      expect([status, ...attempts]).toEqual([status, 0, ms])
    }
  })

  test('the option maxRetryAfterMs caps the wait before a retry', async () => {
    for (const status of [429, 503]) {
      const { outcome, attempts } = setUp([[status, { 'retry-after': '86400' }]], { maxRetryAfterMs: 2500 })
      await outcome('GET')
      expect([status, ...attempts]).toEqual([status, 0, 2500])
    }
  })

  test('repeated 429s of a limit also delay further calls of the same operation', async () => {
    const { client, clock, attempts } = setUp(Array.from({ length: 5 }, () => [429, { 'retry-after': '5' }]))
    const names = ['a', 'b', 'c', 'd', 'e']
    const first = names.map((name) => client.tags.get({ ...tag, tag_name: name }))
    await clock.advance(10)
    await clock.until(Promise.all([...first, client.tags.get({ ...tag, tag_name: 'red' })]))
    // No call succeeded before, so one call per second follows.
    expect(attempts).toEqual([0, 0, 0, 0, 0, 5000, 6000, 7000, 7000, 8000, 8000])
  })

  test('a single 429 delays only the call that received it', async () => {
    const { client, clock, attempts } = setUp([[429, { 'retry-after': '5' }]])
    const first = client.tags.get(tag)
    await clock.advance(10)
    await clock.until(Promise.all([first, client.tags.get({ ...tag, tag_name: 'red' })]))
    expect(attempts).toEqual([0, 10, 5000])
  })
})
