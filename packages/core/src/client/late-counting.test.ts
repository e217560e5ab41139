import type { ServerResponse } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { createManualClock } from '../time.js'
import { createClient } from './client.js'
import { answer, serve } from './server.fixture.js'

const LIMIT = 40
const users = [{ user_type: 'geo_coordinates', user_data: { latitude: 1, longitude: 2 } }] as const

/** Waits by turns of the event loop until a condition holds. */
async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

// Real connections on a manual clock. The server is busy for a given time, and counts the request when it answers.
test.each([20, 60, 200, 5000])(
  'a 429 of a server that counts %i ms late holds back requests for a whole window',
  async (busyMs) => {
    const clock = createManualClock()
    const began = clock.now()
    const arrived: { readonly at: number; readonly response: ServerResponse }[] = []
    const server = await serve((_, response) => arrived.push({ at: clock.now() - began, response }))
    const client = createClient({ baseUrl: server.url, token: 'tok', timeoutMs: 60_000, clock })
    onTestFinished(() => client.close())

    const calls = Array.from({ length: 2 * LIMIT }, () =>
      client.deployments.create({ application: 'game', version: '1', users }),
    )
    const all = Promise.all(calls)
    all.catch(() => {})
    await until(() => arrived.length === LIMIT)
    await clock.advance(busyMs)
    for (const { response } of arrived) answer(response, 202, { request_id: 'abc' })
    await Promise.all(calls.slice(0, LIMIT))

    await clock.advance(999)
    expect(client.queues()['createDeployment']).toMatchObject({ queued: LIMIT, inFlight: 0 })
    expect(arrived).toHaveLength(LIMIT)
    await clock.advance(1)
    await until(() => arrived.length === 2 * LIMIT)
    for (const { response } of arrived.slice(LIMIT)) answer(response, 202, { request_id: 'abc' })
    await all
    expect(arrived.slice(LIMIT).every(({ at }) => at === busyMs + 1000)).toBe(true)
  },
)
