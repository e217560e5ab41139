import { describe, expect, test } from 'vitest'
import { seededRandom } from '../time.js'
import type { RequestEvent, ResponseEvent, RetryEvent } from './call-events.js'
import { deployment } from './server.fixture.js'
import { inVirtualTime, ready } from './client.fixture.js'

describe('events', () => {
  test('report requests, responses and retries without secrets', async () => {
    const seen: [name: string, event: RequestEvent | ResponseEvent | RetryEvent][] = []
    const { clock, client } = inVirtualTime(async (_, nth) => {
      if (nth === 1) throw new Error('reset')
      await clock.sleep(40)
      return nth === 2 ? new Response('', { status: 500 }) : Response.json({ request_id: 'abc', message: 'ok' })
    })
    for (const name of ['request', 'response', 'retry'] as const)
      client.events.on(name, (event: RequestEvent | ResponseEvent | RetryEvent) => seen.push([name, event]))
    await clock.until(
      client.deployments.selfStop({ request_id: 'abc', access_point_id: '42', authorization: 'delete-secret' }),
    )
    expect(seen.map(([name]) => name)).toEqual([
      'request',
      'response',
      'retry',
      'request',
      'response',
      'retry',
      'request',
      'response',
    ])
    const [call] = new Set(seen.map(([, event]) => event.call))
    const about = { operation: 'deployments.selfStop', call, requestId: 'abc' }
    const route = { method: 'DELETE', path: '/v1/self/stop/{request_id}/{access_point_id}' }
    expect(seen[0]?.[1]).toEqual({ ...about, ...route, attempt: 1, priority: 0, queuedMs: 0 })
    expect(seen[1]?.[1]).toEqual({
      ...about,
      ...route,
      attempt: 1,
      status: undefined,
      error: 'ConnectionLost',
      durationMs: 0,
      bytes: 0,
    })
    expect(seen[2]?.[1]).toEqual({ ...about, attempt: 1, delayMs: expect.any(Number), error: 'ConnectionLost' })
    expect(seen[4]?.[1]).toMatchObject({ attempt: 2, status: 500, durationMs: 40 })
    expect(seen[7]?.[1]).toMatchObject({ attempt: 3, status: 200, durationMs: 40, bytes: 35 })
    expect(JSON.stringify(seen)).not.toMatch(/secret|"42"|stop\/abc/)
  })

  test('a listener that throws breaks no call and gives one warning', async () => {
    const warned = new Promise<Error>((resolve) => {
      process.once('warning', resolve)
    })
    const { client } = inVirtualTime(async () => ready())
    client.events.on('request', () => {
      throw new Error('listener')
    })
    client.events.on('response', () => {
      throw new Error('listener')
    })
    for (let time = 0; time < 3; time += 1)
      expect(await client.deployments.get({ request_id: 'abc' })).toEqual(deployment('abc'))
    expect(await warned).toMatchObject({
      name: 'MusterWarning',
      message: "a listener of the event 'request' threw: Error: listener",
    })
  })

  test('calls of different clients in a process have different ids', async () => {
    const calls = new Set<string>()
    for (const seed of [1, 2]) {
      const { client } = inVirtualTime(async () => ready(), { random: seededRandom(seed) })
      client.events.on('request', ({ call }) => calls.add(call))
      await client.deployments.get({ request_id: 'a' })
      await client.deployments.get({ request_id: 'b' })
    }
    expect(calls.size).toBe(4)
  })
})
