import { once } from 'node:events'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import type { ServerResponse } from 'node:http'
import { Pool } from 'undici'
import { describe, expect, onTestFinished, test } from 'vitest'
import { systemClock, type Clock } from '../clock.js'
import { createManualClock } from '../manual-clock.js'
import { createClient } from './client.js'
import { ClientClosed, ConnectionLost, type MusterError, UnexpectedResponse } from './errors.js'
import type { ClientOptions } from './options.js'
import { answer, serve, type SeenRequest } from './server.fixture.js'

const tag = { request_id: 'abc', tag_name: 'blue' }
const blue = { name: 'blue' }

type Handler = (request: SeenRequest, response: ServerResponse, nth: number) => void

function clientOf(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const client = createClient({ baseUrl, token: 'secret', retry: { baseMs: 0 }, ...options })
  onTestFinished(() => client.close())
  const read = (timeoutMs = 20_000) => client.tags.get(tag, { timeoutMs })
  const create = () => client.tags.create({ request_id: 'abc', name: 'blue' })
  return { client, read, create, remove: () => client.tags.delete(tag) }
}

async function setUp(handler: Handler, options: Partial<ClientOptions> = {}) {
  const server = await serve(handler)
  return { server, ...clientOf(server.url, options) }
}

/** A server that reads a request and answers these bytes, whatever HTTP says of them. */
async function serveBytes(...answers: readonly string[]): Promise<string> {
  let nth = 0
  const server = createTcpServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', () => socket.write(answers[Math.min(nth++, answers.length - 1)] ?? ''))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** An address where nothing listens. */
async function nowhere(): Promise<string> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable('the call succeeded'),
    (error: unknown) => error,
  )
const reset: Handler = (_, response) => void response.socket?.resetAndDestroy()

describe('a connection', () => {
  test('that is refused: nothing was sent, so even a POST is tried again', async () => {
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

  test('that is reset once the request was written: a POST is not tried again', async () => {
    const { server, create } = await setUp(reset)
    const error = await failure(create())
    expect(error).toBeInstanceOf(ConnectionLost)
    expect(error).toMatchObject({ sent: true, cause: expect.any(Error) })
    expect(server.requests).toMatchObject([{ method: 'POST', body: '{"name":"blue"}' }])
  })

  test('that is reset: a read is tried again, on another', async () => {
    const { server, read } = await setUp((seen, response, nth) =>
      nth < 3 ? reset(seen, response, nth) : answer(response, 200, blue),
    )
    await expect(read()).resolves.toEqual(blue)
    expect(server.requests.length).toBe(3)
  })

  test.each([
    { how: 'a length', headers: { 'content-length': '100' } },
    { how: 'chunks', headers: { 'transfer-encoding': 'chunked' } },
  ])('that breaks within a body of $how: what came is not taken for the answer', async ({ headers }) => {
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

  test('whose answer is not HTTP', async () => {
    const { create } = clientOf(await serveBytes('220 mail.example ESMTP private-words\r\n'))
    const error = await failure(create())
    expect(error).toBeInstanceOf(ConnectionLost)
    expect(error).toMatchObject({ sent: true })
    expect(JSON.stringify(error) + String((error as ConnectionLost).cause)).not.toContain('private-words')
  })

  test('that does not come free in time: what waited for it was not sent, and never is', async () => {
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

  test('whose caller leaves is closed, so that the service need not go on', async () => {
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

describe('an answer', () => {
  const text =
    (status: number, body: string, type = 'application/json'): Handler =>
    (_, response) =>
      void response.writeHead(status, { 'content-type': type }).end(body)

  test.each([
    { what: 'an empty body', handler: text(200, ''), says: 'tags.get: the answer is empty (status 200)' },
    {
      what: 'a 204 where content is needed',
      handler: text(204, ''),
      says: 'tags.get: the answer is empty (status 204)',
    },
    {
      what: 'half of JSON',
      handler: text(200, '{"name":"private'),
      says: 'the answer is not JSON (16 bytes, content type application/json)',
    },
    {
      what: 'HTML',
      handler: text(200, '<html>private</html>', 'text/html'),
      says: 'the answer is not JSON (20 bytes, content type text/html)',
    },
    { what: 'JSON of another shape', handler: text(200, '["private"]'), says: "the answer's body is not as described" },
    {
      what: 'a field of another type',
      handler: text(200, '{"name":{"private":1}}'),
      says: "the answer's field name is not as described",
    },
  ])('with $what is unexpected, and not tried again', async ({ handler, says }) => {
    const { server, read } = await setUp(handler)
    const error = await failure(read())
    expect(error).toBeInstanceOf(UnexpectedResponse)
    expect(error).toMatchObject({ message: expect.stringContaining(says), operation: 'tags.get', requestId: 'abc' })
    expect((error as MusterError).message).not.toContain('private')
    expect(server.requests.length).toBe(1)
  })

  test.each([
    { what: 'another content type', handler: text(200, JSON.stringify(blue), 'text/html') },
    { what: 'a byte order mark', handler: text(200, `\ufeff${JSON.stringify(blue)}`) },
    { what: 'another success status', handler: text(202, JSON.stringify(blue)) },
  ])('with $what is read all the same', async ({ handler }) => {
    const { read } = await setUp(handler)
    await expect(read()).resolves.toEqual(blue)
  })

  test('with an HTML error page is the error of its status, without the page', async () => {
    const { create } = await setUp(text(502, '<html>private</html>', 'text/html'))
    const error = await failure(create())
    expect(error).toMatchObject({
      name: 'ServerError',
      status: 502,
      message: 'tags.create: the service failed (status 502)',
    })
  })

  test('of the largest size is read, of one byte more it is not', async () => {
    const body = JSON.stringify(blue)
    const { read } = await setUp(text(200, body), { maxResponseBytes: body.length })
    await expect(read()).resolves.toEqual(blue)
    const smaller = await setUp(text(200, body), { maxResponseBytes: body.length - 1 })
    expect(await failure(smaller.read())).toMatchObject({
      name: 'UnexpectedResponse',
      status: 200,
      message: expect.stringContaining('14 bytes'),
    })
  })

  test('without end is cut off, and its connection closed', async () => {
    const closed = deferred()
    const { server, read } = await setUp(
      (_, response) => {
        response.on('error', () => {})
        response.on('close', closed.resolve)
        response.writeHead(200)
        const pour = () => void (response.destroyed || response.write('x'.repeat(10_000), pour))
        pour()
      },
      { maxResponseBytes: 50_000 },
    )
    expect(await failure(read())).toMatchObject({
      name: 'UnexpectedResponse',
      message: 'tags.get: the answer is larger than 50000 bytes',
    })
    await closed.promise
    expect(server.requests.length).toBe(1)
  })

  test('without content, where none is documented', async () => {
    const { remove } = await setUp(text(204, ''))
    await expect(remove()).resolves.toBeUndefined()
  })

  test('with a body where none is documented: the body is ignored', async () => {
    const { remove } = await setUp(text(200, '<html>'))
    await expect(remove()).resolves.toBeUndefined()
  })

  test('of 204 with a body that HTTP forbids does not spoil the next', async () => {
    const body = JSON.stringify(blue)
    const url = await serveBytes(
      'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello',
      `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    const { read, remove } = clientOf(url)
    await expect(remove()).resolves.toBeUndefined()
    await expect(read()).resolves.toEqual(blue)
  })

  test.each([301, 302, 303, 307, 308])('of %i is not followed, least of all with the token', async (status) => {
    const other = await serve((_, response) => answer(response, 200, blue))
    const { server, read } = await setUp((_, response) =>
      answer(response, status, undefined, { location: `${other.url}/private?key=private` }),
    )
    const error = await failure(read())
    expect(error).toBeInstanceOf(UnexpectedResponse)
    expect(error).toMatchObject({ status, message: expect.stringContaining(`redirected (status ${status})`) })
    expect((error as MusterError).message).not.toContain('private')
    expect(server.requests.length).toBe(1)
    expect(other.requests).toEqual([])
  })

  test('of 302 within the same origin is not followed either', async () => {
    const { server, read } = await setUp((_, response) => answer(response, 302, undefined, { location: '/elsewhere' }))
    expect(await failure(read())).toMatchObject({ name: 'UnexpectedResponse', status: 302 })
    expect(server.requests.length).toBe(1)
  })
})

describe('close', () => {
  /** The machine's clock, with the number of those who sleep on it. */
  function countedClock(): Clock & { sleepers: number } {
    const clock = {
      sleepers: 0,
      now: () => systemClock.now(),
      sleep: async (ms: number, signal?: AbortSignal) => {
        clock.sleepers += 1
        await systemClock.sleep(ms, signal).finally(() => (clock.sleepers -= 1))
      },
    }
    return clock
  }

  test('finishes what is in flight and what is queued, refuses what is new, and leaves neither connection nor timer', async () => {
    const clock = countedClock()
    const arrived = deferred()
    const held: (() => void)[] = []
    const closed: Promise<unknown>[] = []
    const handler: Handler = (_, response, nth) => {
      if (nth === 1) closed.push(once(response.socket as NonNullable<typeof response.socket>, 'close'))
      if (nth > 1) return answer(response, 200, blue)
      held.push(() => answer(response, 200, blue))
      arrived.resolve()
    }
    const { server, client, create } = await setUp(handler, { clock, maxInFlight: 1, connections: 1 })
    const calls = [create(), create()]
    await arrived.promise

    let ended = false
    const closing = client.close().then(() => (ended = true))
    const error = await failure(create())
    expect(error).toBeInstanceOf(ClientClosed)
    expect(error).toMatchObject({ operation: 'tags.create', message: 'tags.create: the client is closed' })
    expect(ended).toBe(false)

    for (const release of held) release()
    await closing
    expect(await Promise.all(calls)).toEqual([blue, blue])
    await Promise.all(closed)
    expect(server.requests.length).toBe(2)
    expect(clock.sleepers).toBe(0)
    expect(await failure(client.tags.get(tag))).toBeInstanceOf(ClientClosed)
  })

  test('may be called before any call', async () => {
    const { server, client, read } = await setUp((_, response) => answer(response, 200, blue))
    await client.close()
    expect(await failure(read())).toBeInstanceOf(ClientClosed)
    expect(server.requests).toEqual([])
  })

  test('may be called again, as `await using` does at the end of its block', async () => {
    const { client, read } = await setUp((_, response) => answer(response, 200, blue))
    await read()
    await Promise.all([client.close(), client.close()])
    await expect(client.close()).resolves.toBeUndefined()
    await expect(client[Symbol.asyncDispose]()).resolves.toBeUndefined()
  })

  test('waits for a call that is between two attempts', async () => {
    const { client, read } = await setUp((_, response, nth) => answer(response, nth === 1 ? 503 : 200, blue), {
      retry: { baseMs: 20 },
    })
    const retried = deferred()
    client.events.on('retry', () => retried.resolve())
    const call = read()
    await retried.promise
    await client.close()
    await expect(call).resolves.toEqual(blue)
  })

  test('ends at once when a connection is never set up: a TLS handshake that nobody answers', async () => {
    const accepted = deferred()
    const sockets: Socket[] = []
    const silent = createTcpServer((socket) => {
      sockets.push(socket.on('error', () => {}))
      accepted.resolve()
    })
    await once(silent.listen(0, '127.0.0.1'), 'listening')
    onTestFinished(() => void silent.close())
    const { client } = clientOf(`https://127.0.0.1:${(silent.address() as AddressInfo).port}`)
    const aborted = new AbortController()
    const call = failure(client.tags.get(tag, { signal: aborted.signal }))
    await accepted.promise
    const gone = Promise.all(sockets.map((socket) => once(socket.resume(), 'close')))
    aborted.abort()
    await call
    const began = performance.now()
    await client.close()
    await gone
    expect(performance.now() - began).toBeLessThan(2000)
  })

  test('waits for timeoutMs at most, and says of each call whether it may have been carried out', async () => {
    const arrived = deferred()
    const { client, read, create } = await setUp(() => arrived.resolve(), { maxInFlight: 1 })
    const calls = [failure(create()), failure(create())]
    await arrived.promise
    const began = performance.now()
    await client.close({ timeoutMs: 20 })
    expect(performance.now() - began).toBeLessThan(5000)
    expect(await Promise.all(calls)).toMatchObject([
      { name: 'ClientClosed', sent: true, message: 'tags.create: the client was closed before the answer came' },
      { name: 'ClientClosed', sent: false },
    ])
    await client.close({ timeoutMs: 0 })
    expect(await failure(read())).toMatchObject({ name: 'ClientClosed', sent: false })
  })

  test('a second call of it may have less patience', async () => {
    const arrived = deferred()
    const { client, create } = await setUp(() => arrived.resolve())
    const call = failure(create())
    await arrived.promise
    const patient = client.close({ timeoutMs: 60_000 })
    await client.close({ timeoutMs: 0 })
    await patient
    expect(await call).toBeInstanceOf(ClientClosed)
  })

  test.each([-1, Number.NaN, '5', 2 ** 31])('refuses timeoutMs %j', async (timeoutMs) => {
    const { client } = await setUp(() => {})
    await expect(client.close({ timeoutMs: timeoutMs as number })).rejects.toMatchObject({
      name: 'InvalidInput',
      field: 'timeoutMs',
    })
  })

  test('leaves an injected dispatcher to its owner', async () => {
    const server = await serve((_, response) => answer(response, 200, blue))
    const dispatcher = new Pool(server.url)
    onTestFinished(() => dispatcher.close())
    const first = clientOf(server.url, { dispatcher })
    await first.read()
    await first.client.close()
    await expect(clientOf(server.url, { dispatcher }).read()).resolves.toEqual(blue)
  })
})

/** A promise that the test settles. */
function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}
