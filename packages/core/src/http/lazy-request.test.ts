import { createServer, type IncomingMessage, request as httpRequest, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { inspect } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { handlerOf, Problem, problemReply, type Replier } from './answers.js'
import { readBytes, readJson } from './body.fixture.js'
import { lazyRequest, realRequest, targetOf } from './lazy-request.js'
import { nodeListener } from './node-listener.js'
import { listen } from './raw-client.fixture.js'

/** Serves a handler with a replier, as our APIs do. */
const serve = (reply: Replier) => listen(createServer(nodeListener(handlerOf(reply))))

/** Returns the results of `look` for a lazy request and for a full request of the same message. */
async function compare(
  look: (request: Request) => unknown,
  send: RequestInit = {},
): Promise<[lazy: unknown, real: unknown]> {
  const found: unknown[] = []
  const real: typeof lazyRequest = (message, response, base) =>
    realRequest(message, response, base + (message.url ?? ''), new AbortController().signal)
  for (const make of [lazyRequest, real]) {
    const server = createServer(async (message, response) => {
      const seen = Promise.resolve(look(make(message, response, 'http://localhost')))
      found.push(await seen.catch((error: Error) => error.name))
      response.end()
    })
    const { url } = await listen(server)
    await fetch(`${url}/a%2Fb/../c?d=e f`, send)
  }
  return found as [unknown, unknown]
}

const post: RequestInit = {
  method: 'POST',
  body: '{"a":"ü"}',
  headers: [
    ['content-type', 'application/json'],
    ['x-a', '1'],
    ['x-a', '2'],
  ],
}

describe('a lazy request', () => {
  test.each<[string, (request: Request) => unknown, RequestInit?]>([
    ['method', ({ method }) => method],
    ['URL', ({ url }) => url],
    ['single header', ({ headers }) => [headers.get('X-A'), headers.has('x-b'), headers.get('content-type')], post],
    ['headers', ({ headers }) => [...headers].filter(([name]) => name.startsWith('x-')), post],
    [
      'headers by forEach, keys and entries',
      ({ headers }) => {
        const names: string[] = []
        headers.forEach((_, name) => names.push(name))
        return [names, [...headers.keys()], [...headers.entries()].length === names.length]
      },
      post,
    ],
    ['copied headers', ({ headers }) => new Headers(headers).get('x-a'), post],
    [
      'changed headers',
      ({ headers }) => {
        headers.set('x-a', '3')
        headers.delete('content-type')
        return [[...headers].find(([name]) => name === 'x-a'), headers.get('x-a'), headers.has('content-type')]
      },
      post,
    ],
    ['body as text', (request) => request.text(), post],
    ['body as JSON', (request) => request.json(), post],
    [
      'body as a stream',
      async ({ body }) =>
        Buffer.from((await (body as ReadableStream<Uint8Array>).getReader().read()).value as Uint8Array).toString(),
      post,
    ],
    ['null for a missing body', ({ body }) => body],
    ['bodyUsed', async (request) => [request.bodyUsed, await request.text(), request.bodyUsed], post],
    ['error when its body is read twice', async (request) => [await request.text(), await request.text()], post],
    ['result of clone()', async (request) => [await new Request(request.clone()).text(), await request.text()], post],
    [
      'class',
      (request) => [
        request instanceof Request,
        request.headers instanceof Headers,
        Object.prototype.toString.call(request),
      ],
    ],
    [
      'redirect, mode and similar properties',
      ({ redirect, mode, credentials, cache, referrer, integrity, keepalive, destination }) => [
        redirect,
        mode,
        credentials,
        cache,
        referrer,
        integrity,
        keepalive,
        destination,
      ],
    ],
  ])('a lazy request has the same %s as a real Request', async (_, look, send) => {
    const [lazy, real] = await compare(look, send)
    expect(lazy).toEqual(real)
  })

  test('a lazy request gives its body once, with or without its full Request', async () => {
    const [short] = await compare(async (request) => {
      const bytes = await readBytes(request, 100)
      return [bytes.byteLength, request.bodyUsed, await request.text().catch((error: Error) => error.name)]
    }, post)
    expect(short).toEqual([10, true, 'TypeError'])
    const [long] = await compare(
      async (request) => [await request.clone().text(), (await readBytes(request, 100)).byteLength],
      post,
    )
    expect(long).toEqual(['{"a":"ü"}', 10])
  })

  test('a lazy request has the path and query of its URL without constructing the URL', () => {
    const paths = fc
      .oneof(fc.string(), fc.string({ unit: fc.constantFrom(...'ab1/._-%2e?#\\ü:@') }))
      .map((path) => `/${path}`)
    fc.assert(
      fc.property(paths, fc.boolean(), (url, isAsked) => {
        const request = lazyRequest({ url, headers: {} } as IncomingMessage, {} as ServerResponse, 'http://localhost')
        const real = new URL(`http://localhost${url}`)
        if (isAsked) expect(request.url).toBe(real.href)
        expect(targetOf(request)).toMatchObject({ pathname: real.pathname, search: real.search })
      }),
      {
        examples: [
          ['/tickets/batch', false],
          ['//a', false],
          ['/a/../b', false],
        ],
      },
    )
  })

  test('a lazy request can be printed by util.inspect', async () => {
    const [lazy] = await compare((request) => inspect(request).startsWith('Request {'))
    expect(lazy).toBe(true)
  })
})

describe('a handler that uses node:http', () => {
  test('a handler on node:http writes status, headers and body', async () => {
    const { url } = await serve(async (request) => ({
      status: 201,
      headers: { 'x-b': 'ü' },
      body: `${request.method} ü`,
    }))
    const response = await fetch(url, { method: 'PUT' })
    expect([response.status, response.headers.get('content-length'), await response.text()]).toEqual([
      201,
      '6',
      'PUT ü',
    ])
  })

  test('a handler on node:http keeps headers that were set earlier', async () => {
    const listener = nodeListener(handlerOf(async () => ({ status: 200, headers: { 'x-b': '1' }, body: 'ü' })))
    const { url } = await listen(
      createServer((message, response) => {
        response.setHeader('x-a', '2').setHeader('X-B', '2')
        listener(message, response)
      }),
    )
    const { headers } = await fetch(url)
    expect([headers.get('x-a'), headers.get('x-b'), headers.get('content-length')]).toEqual(['2', '1', '2'])
  })

  test('a handler on node:http can answer without a body', async () => {
    const { url } = await serve(async () => ({ status: 204, headers: {}, body: '' }))
    const response = await fetch(url)
    expect([response.status, response.headers.has('content-length'), await response.text()]).toEqual([204, false, ''])
  })

  test.each(['early', 'late'])(
    'a handler on node:http that checks its signal %s sees that the client disconnected',
    async (when) => {
      const leaving = new AbortController()
      let seen = (_aborted: boolean) => {}
      const aborted = new Promise<boolean>((resolve) => {
        seen = resolve
      })
      const server = createServer((message, response) => {
        const request = lazyRequest(message, response, 'http://localhost')
        if (when === 'early') request.signal.addEventListener('abort', () => seen(request.signal.aborted))
        else response.once('close', () => setImmediate(() => seen(request.signal.aborted)))
        leaving.abort()
      })
      const { url } = await listen(server)
      await expect(fetch(url, { signal: leaving.signal })).rejects.toThrow('aborted')
      expect(await aborted).toBe(true)
    },
  )

  const limited: Replier = (request) =>
    readJson(request, 1000).then(
      (json) => ({ status: 200, headers: {}, body: String(json) }),
      (error: unknown) =>
        error instanceof Problem ? problemReply(error) : { status: 500, headers: {}, body: (error as Error).message },
    )

  test('a handler on node:http sees that a body was incomplete', async () => {
    const statuses: number[] = []
    const { port } = await serve(async (request, connection) => {
      const reading = limited(request, connection)
      socket.destroy()
      const reply = await reading
      statuses.push(reply.status)
      server.closed()
      return reply
    })
    const server = { closed: () => {} }
    const done = new Promise<void>((resolve) => {
      server.closed = resolve
    })
    const socket = connect(port, '127.0.0.1', () => {
      socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"a"')
    })
    await done
    expect(statuses).toEqual([400])
  })

  test('a handler on node:http gets an error that explains that the body was already read', async () => {
    const listener = nodeListener(handlerOf(limited))
    const { url } = await listen(
      createServer((message, response) => {
        message.resume().once('end', () => listener(message, response))
      }),
    )
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '1' })
    expect([response.status, await response.text()]).toEqual([
      500,
      'the body was read already: mount this API before whatever parses bodies',
    ])
  })

  test('the request URL ignores a Host header that looks like a path', async () => {
    const { port } = await serve(async (request) => ({ status: 200, headers: {}, body: request.url }))
    const ask = (host: string) =>
      new Promise((resolve, reject) => {
        httpRequest({ port, host: '127.0.0.1', path: '/a?b', headers: { host } }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (part: string) => {
            text += part
          })
          response.once('end', () => resolve(text))
        })
          .once('error', reject)
          .end()
      })
    expect(await ask('example.com:8080')).toBe('http://example.com:8080/a?b')
    for (const host of ['evil.example/admin', 'a?b', 'a#b', 'me@evil.example', 'a:99999', '1.2.3.999', '[::1'])
      expect(await ask(host), host).toBe('http://localhost/a?b')
  })
})
