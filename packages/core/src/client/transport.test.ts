import { createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { ConnectionLost, UnexpectedResponse } from './errors.js'
import { serve } from './server.fixture.js'
import { createTransport, type TransportOptions } from './transport.js'

/** Starts a TCP server that responds with given bytes. */
async function raw(
  onConnection: (socket: Socket) => void,
): Promise<{ readonly origin: string; readonly server: Server }> {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {}) // the client may close the connection
    onConnection(socket)
  })
  const sockets = new Set<Socket>()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

/** Starts a server that answers every request with the same text. */
const answering = (text: string, after: (socket: Socket) => void = () => {}) =>
  raw((socket) => socket.on('data', () => socket.write(text, () => after(socket))))

function open(origin: string, options: Partial<TransportOptions> = {}) {
  const transport = createTransport({ origin, connections: 4, maxResponseBytes: 1000, ...options })
  onTestFinished(() => transport.close())
  const exchange = (cancellation = new AbortController(), method: 'GET' | 'POST' = 'GET', lane = 'status') => {
    const seen: string[] = []
    const answer = transport.exchange(
      {
        lane,
        method,
        path: '/v1/x',
        headers: ['accept', 'application/json'],
        body: method === 'POST' ? '{}' : undefined,
      },
      {
        facts: () => ({ operation: 'deployments.get', call: 'test-1' }),
        signal: cancellation.signal,
        objection: () => undefined,
        sending: () => seen.push('sending'),
        written: (fresh) => seen.push(fresh ? 'written first' : 'written'),
        answered: () => seen.push('answered'),
      },
    )
    return { answer, seen }
  }
  return { transport, exchange }
}

const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('should have failed'),
    (error: unknown) => error,
  )

describe('an HTTP answer', () => {
  test('the transport reports that a request was written, and then returns status, headers and text', async () => {
    const { origin } = await answering('HTTP/1.1 404 Not Found\r\nX-A: 1\r\nContent-Length: 4\r\n\r\n{"é')
    const { answer, seen } = open(origin).exchange()
    expect(await answer).toMatchObject({ status: 404, body: '{"é', bytes: 4, headers: { 'x-a': '1' } })
    expect(seen).toEqual(['sending', 'written first', 'answered'])
  })

  test('an HTTP answer can arrive in pieces that split a character, and after early hints', async () => {
    const { origin } = await raw((socket) => {
      socket.on('data', () => {
        const text = Buffer.from(
          'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"é"',
        )
        for (const byte of text) socket.write(Buffer.of(byte))
      })
    })
    const { answer, seen } = open(origin).exchange()
    expect(await answer).toMatchObject({ status: 200, body: '"é"' })
    expect(seen).toEqual(['sending', 'written first', 'answered'])
  })

  test.each(['HTTP/1.1 204 No Content\r\n\r\n', 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'])(
    'an HTTP answer can be empty: %j',
    async (text) => {
      const { origin } = await answering(text)
      expect(await open(origin).exchange().answer).toMatchObject({ body: '', bytes: 0 })
    },
  )

  test('an HTTP answer without a length ends with the connection', async () => {
    const { origin } = await answering('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{}', (socket) => socket.end())
    expect(await open(origin).exchange().answer).toMatchObject({ body: '{}' })
  })

  test.each([
    ['with a content length', `Content-Length: 2000\r\n\r\n${'x'.repeat(2000)}`],
    ['in endless chunks', `Transfer-Encoding: chunked\r\n\r\n${'64\r\n'}${'x'.repeat(100)}\r\n`],
  ])('an HTTP answer that is too large is not read to its end: %s', async (_, rest) => {
    const { origin } = await raw((socket) => {
      const more = () => {
        if (!socket.destroyed) socket.write(`64\r\n${'x'.repeat(100)}\r\n`, () => setImmediate(more))
      }
      socket.on('data', () => socket.write(`HTTP/1.1 200 OK\r\n${rest}`, rest.startsWith('Transfer') ? more : () => {}))
    })
    const error = await failure(open(origin).exchange().answer)
    expect(error).toBeInstanceOf(UnexpectedResponse)
    expect(error).toMatchObject({
      message: 'deployments.get: the answer is larger than 1000 bytes',
      status: 200,
      call: 'test-1',
    })
  })
})

describe('a lost connection', () => {
  test('a connection that was never established has sent nothing', async () => {
    const { origin, server } = await raw(() => {})
    await new Promise((resolve) => server.close(resolve))
    const { answer, seen } = open(origin).exchange()
    const error = await failure(answer)
    expect(error).toBeInstanceOf(ConnectionLost)
    expect(error).toMatchObject({
      sent: false,
      operation: 'deployments.get',
      message: expect.stringMatching(/^deployments.get: no connection: .*ECONNREFUSED/),
    })
    expect(seen).toEqual([])
  })

  test('a connection to an unknown host has sent nothing', async () => {
    const { answer } = open('http://host.invalid').exchange()
    expect(await failure(answer)).toMatchObject({ name: 'ConnectionLost', sent: false })
  })

  test.each([
    ['before the answer', (socket: Socket) => socket.resetAndDestroy()],
    ['by a FIN before the answer', (socket: Socket) => socket.end()],
    ['within the head', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-')],
    ['within the body', (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{"a"')],
    [
      'within a chunk',
      (socket: Socket) => socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n64\r\n{"a"'),
    ],
    [
      'by an upgrade to another protocol',
      (socket: Socket) => socket.end('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
    ],
  ])('a connection lost %s may have carried out the request', async (_, end) => {
    const { origin } = await raw((socket) => socket.on('data', () => end(socket)))
    const { answer, seen } = open(origin).exchange(new AbortController(), 'POST')
    expect(await failure(answer)).toMatchObject({ name: 'ConnectionLost', sent: true, cause: expect.any(Error) })
    expect(seen[0]).toBe('sending')
  })

  test('the error of an answer that is not HTTP has a cause without the content of that answer', async () => {
    const { origin } = await answering('secret-nonsense secret-nonsense\r\n\r\n')
    const error = (await failure(open(origin).exchange().answer)) as ConnectionLost
    expect(error).toMatchObject({ name: 'ConnectionLost', sent: true })
    expect(error.cause).toMatchObject({ name: 'HTTPParserError' })
    expect(JSON.stringify([error, { ...(error.cause as Error) }])).not.toContain('nonsense')
  })
})

describe('aborting a request', () => {
  test('aborting a request ends the exchange at once and closes the connection', async () => {
    let hungUp: () => void
    const gone = new Promise<void>((resolve) => {
      hungUp = resolve
    })
    const arrived = new Promise<Socket>((resolve) => {
      void raw((socket) => {
        socket.on('close', () => hungUp())
        socket.on('data', () => resolve(socket))
      }).then(({ origin }) => exchange(origin))
    })
    const cancellation = new AbortController()
    let answer: Promise<unknown> = Promise.resolve()
    const exchange = (origin: string) => {
      answer = failure(open(origin).exchange(cancellation).answer)
    }
    await arrived
    cancellation.abort('enough')
    expect(await answer).toBe('enough')
    await gone
  })

  test('an abort before the request begins sends nothing', async () => {
    const server = await serve((_, response) => response.end())
    const cancellation = new AbortController()
    cancellation.abort('enough')
    expect(await failure(open(server.url).exchange(cancellation).answer)).toBe('enough')
    expect(server.requests).toEqual([])
  })

  test('an abort while a request waits for a connection sends nothing', async () => {
    const held: (() => void)[] = []
    const server = await serve((_, response) => held.push(() => response.end('{}')))
    const { exchange } = open(server.url, { connections: 1 })
    const first = exchange()
    while (held.length === 0) await new Promise((resolve) => setImmediate(resolve))
    const cancellation = new AbortController()
    const second = exchange(cancellation)
    cancellation.abort('enough')
    expect(await failure(second.answer)).toBe('enough')
    held[0]?.()
    expect(await first.answer).toMatchObject({ body: '{}' })
    const third = exchange()
    while (held.length < 2) await new Promise((resolve) => setImmediate(resolve))
    held[1]?.()
    await third.answer
    expect(second.seen).toEqual([])
    expect(server.requests).toHaveLength(2)
  })
})

describe('connections of the transport', () => {
  test('the HTTP transport keeps its connections open, up to a maximum number', async () => {
    const ports = new Set<number | undefined>()
    const server = await serve((_, response) => {
      ports.add(response.socket?.remotePort)
      response.end('{}')
    })
    const { exchange } = open(server.url, { connections: 3 })
    await Promise.all(Array.from({ length: 30 }, () => exchange().answer))
    expect(ports.size).toBe(3)
  })

  test('the transport reports whether a request is the first on its connection', async () => {
    const server = await serve((_, response) => response.end('{}'))
    const { exchange } = open(server.url, { connections: 1 })
    const exchanges = Array.from({ length: 3 }, () => exchange())
    await Promise.all(exchanges.map(({ answer }) => answer))
    expect(exchanges.map(({ seen }) => seen[1])).toEqual(['written first', 'written', 'written'])
  })

  test('connections of an injected dispatcher also report whether a request is their first', async () => {
    const { Agent } = await import('undici')
    const server = await serve((_, response) => response.end('{}'))
    const dispatcher = new Agent({ connections: 1 })
    onTestFinished(() => dispatcher.close())
    const { exchange, transport } = open(server.url, { dispatcher })
    const exchanges = Array.from({ length: 2 }, () => exchange())
    await Promise.all(exchanges.map(({ answer }) => answer))
    expect(exchanges.map(({ seen }) => seen[1])).toEqual(['written first', 'written'])
    await transport.close()
    expect(dispatcher.listenerCount('connect')).toBe(0)
  })

  test('a slow request of one lane, which has its own connections, does not delay one of another lane', async () => {
    const held: (() => void)[] = []
    const server = await serve((_, response, nth) =>
      nth === 1 ? held.push(() => response.end('{}')) : response.end('{}'),
    )
    const { exchange } = open(server.url, { connections: 1 })
    const slow = exchange(new AbortController(), 'GET', 'other')
    while (held.length === 0) await new Promise((resolve) => setImmediate(resolve))
    expect(await exchange(new AbortController(), 'GET', 'status').answer).toMatchObject({ status: 200 })
    held[0]?.()
    await slow.answer
  })

  test('connections of an injected dispatcher are left open', async () => {
    const { Agent } = await import('undici')
    const server = await serve((_, response) => response.end('{}'))
    const dispatcher = new Agent()
    onTestFinished(() => dispatcher.close())
    const { transport, exchange } = open(server.url, { dispatcher })
    await exchange().answer
    await transport.close()
    expect(dispatcher.closed).toBe(false)
    await exchange().answer
  })
})
