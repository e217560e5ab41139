import { expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import { createClient } from './client.js'
import { ConnectionLost } from './errors.js'
import { inProcess } from './transport.js'

const setUp = (handle: (request: Request) => Promise<Response>) => {
  const clock = createManualClock()
  const client = createClient({
    baseUrl: 'http://service.invalid/base',
    token: 'secret',
    clock,
    random: () => 0.5,
    dispatcher: inProcess(handle),
  })
  return { clock, client }
}

test('an in-process function receives the same requests as the service would', async () => {
  const seen: unknown[] = []
  const { client, clock } = setUp(async (request) => {
    seen.push([request.method, request.url, request.headers.get('authorization'), await request.json()])
    return Response.json({ request_id: 'abc' }, { status: 202 })
  })
  const users = [{ user_type: 'geo_coordinates', user_data: { latitude: 1, longitude: 2 } }] as const
  const created = await clock.until(client.deployments.create({ application: 'game', version: '1', users }))
  expect(created).toEqual({ request_id: 'abc' })
  expect(seen).toEqual([
    ['POST', 'http://service.invalid/base/deployments', 'token secret', { application: 'game', version: '1', users }],
  ])
})

test('an in-process function can answer without a body', async () => {
  const { client, clock } = setUp(async () => new Response(null, { status: 204 }))
  await expect(clock.until(client.applications.delete({ app_name: 'game' }))).resolves.toBeUndefined()
})

test('an in-process function that throws counts as a lost connection, which is retried', async () => {
  let calls = 0
  const { client, clock } = setUp(async () => {
    calls += 1
    throw new Error('gone')
  })
  const began = clock.now()
  await expect(clock.until(client.applications.list())).rejects.toBeInstanceOf(ConnectionLost)
  expect(calls).toBe(4)
  expect(clock.now() - began).toBeGreaterThan(500)
})

test('an aborted call ends at once even if the in-process function continues', async () => {
  const { client } = setUp(() => new Promise(() => {}))
  const abort = new AbortController()
  const call = client.applications.list({}, { signal: abort.signal })
  abort.abort(new Error('enough'))
  await expect(call).rejects.toThrow('enough')
})
