import { describe, expect, test } from 'vitest'
import { createManualClock, seededRandom } from '../time.js'
import { clientOf } from './client.fixture.js'
import { inProcess } from './transport.js'
import type { ClientOptions } from './config.js'

/**
 * Creates a client of a service with given responses: the nth request gets the nth response, and later requests the
 * last one. Each response takes 30 ms.
 */
function setUp(answers: readonly (() => Response)[], options: Partial<ClientOptions> = {}) {
  const clock = createManualClock()
  let requests = 0
  const dispatcher = inProcess(async () => {
    await clock.sleep(30)
    const respond = answers[Math.min(requests++, answers.length - 1)]
    if (respond === undefined) throw new Error('lost')
    return respond()
  })
  const client = clientOf({ clock, dispatcher, ...options })
  const seen: [name: string, event: unknown][] = []
  for (const name of ['request', 'response', 'retry', 'throttled'] as const)
    client.events.on(name, (event) => seen.push([name, event]))
  return { client, clock, seen }
}

const status = () => Response.json({ request_id: 'abc', current_status: 'Status.READY' })
const refuse =
  (code: number, headers: Record<string, string> = {}) =>
  () =>
    Response.json({ message: 'no' }, { status: code, headers })

/** Placeholder for the random id of a call. */
const call = 'some call'
const common = { operation: 'deployments.get', call, requestId: 'abc' }
const way = { method: 'GET', path: '/v1/status/{request_id}' }
/** Replaces the random ids of calls by the placeholder. */
const withoutIds = (seen: readonly [string, unknown][]) =>
  seen.map(([name, event]) => [name, { ...(event as object), call }])

describe('events of a call', () => {
  test('a call that succeeds emits request and response', async () => {
    const { client, clock, seen } = setUp([status])
    await clock.until(client.deployments.get({ request_id: 'abc' }, { priority: 3 }), 10)
    const bytes = '{"request_id":"abc","current_status":"Status.READY"}'.length
    expect(withoutIds(seen)).toEqual([
      ['request', { ...common, ...way, attempt: 1, priority: 3, queuedMs: 0 }],
      ['response', { ...common, ...way, attempt: 1, status: 200, error: undefined, durationMs: 30, bytes }],
    ])
  })

  test('a retry event is emitted between two attempts of a call', async () => {
    const { client, clock, seen } = setUp([refuse(503), status])
    await clock.until(client.deployments.get({ request_id: 'abc' }), 10)
    expect(withoutIds(seen)).toMatchObject([
      ['request', { attempt: 1 }],
      ['response', { attempt: 1, status: 503, error: undefined }],
      ['retry', { ...common, attempt: 1, delayMs: 100, error: 'ServerError' }],
      ['request', { attempt: 2 }],
      ['response', { attempt: 2, status: 200 }],
    ])
    expect(Object.keys(seen[2]?.[1] as object).toSorted()).toEqual([
      'attempt',
      'call',
      'delayMs',
      'error',
      'operation',
      'requestId',
    ])
  })

  test('a 429 emits throttled', async () => {
    const { client, clock, seen } = setUp([refuse(429, { 'retry-after': '2' }), status])
    await clock.until(client.deployments.get({ request_id: 'abc' }), 10)
    expect(withoutIds(seen)).toEqual([
      ['request', expect.objectContaining({ attempt: 1, queuedMs: 0 })],
      ['response', expect.objectContaining({ attempt: 1, status: 429 })],
      ['throttled', { ...common, attempt: 1, limit: 'status', retryAfterMs: 2000, pauseMs: 2000 }],
      ['request', expect.objectContaining({ attempt: 2, queuedMs: 2000 })],
      ['response', expect.objectContaining({ attempt: 2, status: 200 })],
    ])
  })

  test('a call without an answer emits a response event without a status', async () => {
    const { client, clock, seen } = setUp([])
    const outcome = clock.until(client.tags.create({ request_id: 'abc', name: 'blue' }), 10)
    await expect(outcome).rejects.toMatchObject({ name: 'ConnectionLost', call: expect.any(String) })
    expect(seen[1]).toEqual([
      'response',
      expect.objectContaining({ status: undefined, error: 'ConnectionLost', durationMs: 30, bytes: 0 }),
    ])
  })

  test('the events and the error of a call have the same call id, which no other call has', async () => {
    const { client, clock, seen } = setUp([refuse(500)])
    const outcome = (name: string) =>
      clock.until(client.applications.get({ app_name: name }).catch((error: unknown) => error))
    const errors = [await outcome('one'), await outcome('two')] as readonly { readonly call: string }[]
    const ids = new Set(seen.map(([, event]) => (event as { readonly call: string }).call))
    expect([...ids]).toEqual(errors.map((error) => error.call))
    expect(ids.size).toBe(2)
  })

  test('the calls of different clients in a process have different ids in their events', async () => {
    const calls = new Set<string>()
    for (const seed of [1, 2]) {
      const { client, clock } = setUp([status], { random: seededRandom(seed) })
      client.events.on('request', ({ call }) => calls.add(call))
      for (const id of ['a', 'b']) await clock.until(client.deployments.get({ request_id: id }))
    }
    expect(calls.size).toBe(4)
  })

  test('events show the path template without the names that the call fills in', async () => {
    const { client, clock, seen } = setUp([refuse(500), refuse(429), refuse(404)])
    const names = { app_name: 'filled-app', version_name: 'filled-version' }
    await expect(clock.until(client.versions.get(names))).rejects.toThrow('not found')
    expect(seen.map(([name]) => name)).toEqual(expect.arrayContaining(['request', 'response', 'retry', 'throttled']))
    expect(JSON.stringify(seen)).not.toContain('filled')
    expect(seen[0]).toMatchObject([
      'request',
      { path: '/v1/app/{app_name}/version/{version_name}', requestId: undefined },
    ])
  })
})

test.each([
  ['an error', new Error('listener')],
  ['undefined', undefined],
  ['a value that cannot be converted to a string', Object.create(null)],
])('an event listener that throws %s causes a process warning, and the call continues', async (_, thrown) => {
  const warnings: string[] = []
  const collect = ({ name, message }: Error) => void (name === 'MusterWarning' && warnings.push(message))
  process.on('warning', collect)
  try {
    const { client, clock, seen } = setUp([refuse(503), refuse(429, { 'retry-after': '1' }), status])
    for (const name of ['request', 'response', 'retry', 'throttled'] as const) {
      client.events.on(name, () => {
        throw thrown
      })
    }
    await expect(clock.until(client.deployments.get({ request_id: 'abc' }))).resolves.toMatchObject({
      request_id: 'abc',
    })
    expect(seen).toHaveLength(8)
    expect(warnings).toHaveLength(4) // one warning for each kind of event
    expect(warnings[0]).toMatch(/^a listener of the event 'request' threw: /)
    expect(client.queues()['status']).toMatchObject({ queued: 0, inFlight: 0 })
  } finally {
    process.off('warning', collect)
  }
})
