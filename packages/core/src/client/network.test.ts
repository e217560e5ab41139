import { describe, expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import { ConnectionLost } from './errors.js'
import { answer } from './server.fixture.js'
import {
  tag,
  blue,
  type Handler,
  clientOf,
  setUp,
  serveBytes,
  nowhere,
  failure,
  reset,
  deferred,
} from './network.fixture.js'

describe('a connection', () => {
  test('that is refused sent nothing, so even a POST is retried', async () => {
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

  test('that is reset after the request was written does not retry a POST', async () => {
    const { server, create } = await setUp(reset)
    const error = await failure(create())
    expect(error).toBeInstanceOf(ConnectionLost)
    expect(error).toMatchObject({ sent: true, cause: expect.any(Error) })
    expect(server.requests).toMatchObject([{ method: 'POST', body: '{"name":"blue"}' }])
  })

  test('that is reset retries a read on another connection', async () => {
    const { server, read } = await setUp((seen, response, nth) =>
      nth < 3 ? reset(seen, response, nth) : answer(response, 200, blue),
    )
    await expect(read()).resolves.toEqual(blue)
    expect(server.requests.length).toBe(3)
  })

  test.each([
    { how: 'a length', headers: { 'content-length': '100' } },
    { how: 'chunked encoding', headers: { 'transfer-encoding': 'chunked' } },
  ])('that ends within a body with $how gives no answer from the part received', async ({ headers }) => {
    const truncate: Handler = (_, response) => {
      response.writeHead(200, headers)
      response.write('{"name":"blue"}', () => response.destroy())
    }
    const { server, create, read } = await setUp((seen, response, nth) =>
      nth < 3 ? truncate(seen, response, nth) : answer(response, 200, blue),
    )
    const error = await failure(create())
    expect(error).toBeInstanceOf(ConnectionLost)
    expect(error).toMatchObject({ sent: true })
    expect(server.requests.length).toBe(1)
    await expect(read()).resolves.toEqual(blue)
    expect(server.requests.length).toBe(3)
  })

  test('whose answer is not HTTP fails without showing the answer', async () => {
    const { create } = clientOf(await serveBytes('220 mail.example ESMTP private-words\r\n'))
    const error = await failure(create())
    expect(error).toBeInstanceOf(ConnectionLost)
    expect(error).toMatchObject({ sent: true })
    expect(JSON.stringify(error) + String((error as ConnectionLost).cause)).not.toContain('private-words')
  })

  test('that is not free in time never sends the call that waited for it', async () => {
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

  test('whose caller aborts is closed, so that the service can stop its work', async () => {
    const abort = new AbortController()
    const gone = deferred()
    const { client } = await setUp((_, response) => {
      response.socket?.on('close', gone.resolve)
      abort.abort('enough')
    })
    expect(await failure(client.tags.get(tag, { signal: abort.signal }))).toBe('enough')
    await gone.promise
  })
})
