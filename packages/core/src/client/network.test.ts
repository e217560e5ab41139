import { describe, expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import { ConnectionLost } from './errors.js'
import { answer } from './server.fixture.js'
import { blue, clientOf, setUp, nowhere, failure, reset, deferred } from './network.fixture.js'

describe('a network connection', () => {
  test('a POST is retried after a refused connection, because nothing was sent', async () => {
    const { client, create } = clientOf(await nowhere())
    const retried: string[] = []
    client.events.on('retry', ({ error }) => retried.push(error))
    const error = await failure(create())
    expect(error).toBeInstanceOf(ConnectionLost)
    expect(error).toMatchObject({
      operation: 'tags.create',
      requestId: 'abc',
      sent: false,
      cause: { code: 'ECONNREFUSED' },
    })
    expect(retried).toEqual(['ConnectionLost', 'ConnectionLost', 'ConnectionLost'])
  })

  test('a POST is not retried if its connection is reset after the request was written', async () => {
    const { server, create } = await setUp(reset)
    const error = await failure(create())
    expect(error).toBeInstanceOf(ConnectionLost)
    expect(error).toMatchObject({ sent: true, cause: expect.any(Error) })
    expect(server.requests).toMatchObject([{ method: 'POST', body: '{"name":"blue"}' }])
  })

  test('a call is never sent if no connection is available before its deadline', async () => {
    const clock = createManualClock()
    const arrived = deferred()
    const held = deferred()
    const { server, client, read, create } = await setUp(
      async (_, response, nth) => {
        arrived.resolve()
        if (nth === 1) await held.promise
        answer(response, 200, blue)
      },
      { clock, connections: 1 },
    )
    const first = read()
    await arrived.promise
    const second = failure(client.tags.create({ request_id: 'abc', name: 'blue' }, { timeoutMs: 500 }))
    await clock.advance(500)
    expect(await second).toMatchObject({ name: 'TimedOut', sent: false, queuedMs: 0, inFlightMs: 500 })
    held.resolve()
    await expect(first).resolves.toEqual(blue)
    await expect(create()).resolves.toEqual(blue)
    expect(server.requests.map(({ method }) => method)).toEqual(['GET', 'POST'])
  })
})
