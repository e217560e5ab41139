import { Agent, request as httpRequest } from 'node:http'
import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, onTestFinished, test } from 'vitest'
import { type Problem, problemResponse } from './answers.js'
import { readJson } from './body.fixture.js'
import { nodeListener } from './node-listener.js'
import { rawServer, serve, untilSo } from './raw-client.fixture.js'

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

test('the node listener leaves the global Request, Response and fetch unchanged', async () => {
  const { Response: before, Request: beforeIn, fetch: beforeOut } = globalThis
  nodeListener(async () => new Response('a'))
  expect([globalThis.Response, globalThis.Request, globalThis.fetch]).toEqual([before, beforeIn, beforeOut])
})

test('the node listener passes on requests and answers completely', async () => {
  const { url } = await serve(async (request, connection) => {
    const { method, url: asked, headers } = request
    return Response.json(
      { method, path: new URL(asked).pathname, header: headers.get('x-a'), body: await request.text(), ...connection },
      { status: 201, headers: { 'x-b': '1' } },
    )
  })
  const response = await fetch(`${url}/a%2Fb?c=d`, {
    method: 'POST',
    body: 'ü'.repeat(100_000),
    headers: { 'x-a': '2' },
  })
  expect([response.status, response.headers.get('x-b')]).toEqual([201, '1'])
  expect(await response.json()).toEqual({
    method: 'POST',
    path: '/a%2Fb',
    header: '2',
    body: 'ü'.repeat(100_000),
    remoteAddress: '127.0.0.1',
  })
  expect((await fetch(url)).status).toBe(201)
})

test('a request body that is too large gets an answer instead of a reset', async () => {
  const { url } = await serve((request) =>
    readJson(request, 1000).then(
      () => new Response('ok'),
      (error: unknown) => problemResponse(error as Problem),
    ),
  )
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify('x'.repeat(5_000_000)),
    headers: { 'content-type': 'application/json' },
  })
  expect(response.status).toBe(413)
})

test('a client that disconnects aborts the request and ends the stream', async () => {
  const seen = { aborted: false, cancelled: false }
  const { url } = await serve(async (request) => {
    request.signal.addEventListener('abort', () => {
      seen.aborted = true
    })
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode('first')),
      cancel: () => {
        seen.cancelled = true
      },
    })
    return new Response(body)
  })
  const leaving = new AbortController()
  const response = await fetch(url, { signal: leaving.signal })
  const reader = (response.body as ReadableStream<Uint8Array>).getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('first')
  leaving.abort()
  await reader.read().catch(() => {})
  for (let turn = 0; turn < 1000 && !(seen.aborted && seen.cancelled); turn += 1)
    await new Promise((resolve) => setImmediate(resolve))
  expect(seen).toEqual({ aborted: true, cancelled: true })
})

test('a handler that throws breaks the connection, not the server', async () => {
  let fails = true
  const { url } = await serve(() => (fails ? Promise.reject(new Error('no')) : Promise.resolve(new Response('ok'))))
  await expect(fetch(url)).rejects.toThrow('fetch failed')
  fails = false
  expect((await fetch(url)).status).toBe(200)
})

test('the node listener answers requests with an unusual method, target or Host header', async () => {
  const { port } = await serve(async (request) => new Response(new URL(request.url).host))
  const status = (options: object) =>
    new Promise((resolve, reject) => {
      httpRequest({ port, host: '127.0.0.1', ...options }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .once('error', reject)
        .end()
    })
  expect(await status({ method: 'TRACE' })).toBe(400)
  expect(await status({ path: 'http://elsewhere.example/' })).toBe(400)
  expect(await status({ headers: { host: 'a b c' } })).toBe(200)
  const raw = await new Promise<string>((resolve) => {
    const socket = connect(port, '127.0.0.1', () =>
      socket.write('GET / HTTP/1.1\r\nhost: \xff\r\nconnection: close\r\n\r\n', 'latin1'),
    )
    socket.once('data', (data) => resolve(data.toString()))
  })
  expect(raw).toMatch(/^HTTP\/1\.1 200/)
})

test('a request body that is never read does not block the connection', async () => {
  const { port } = await serve(async () => new Response('no', { status: 401 }))
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  const ask = (method: string, body?: Buffer) =>
    new Promise<{ status: number | undefined; reused: boolean }>((resolve, reject) => {
      const asking = httpRequest({ port, host: '127.0.0.1', agent, method }, (response) => {
        response.resume().once('end', () => resolve({ status: response.statusCode, reused: asking.reusedSocket }))
      })
      asking.once('error', reject).end(body)
    })
  expect(await ask('POST', Buffer.alloc(3_000_000))).toEqual({ status: 401, reused: false })
  expect(await ask('GET')).toEqual({ status: 401, reused: true })
})

test.each(['HEAD', 'a client that disconnected before the answer'])(
  'an endless answer to %s is cancelled',
  async (who) => {
    const leaving = new AbortController()
    let cancelled = () => {}
    const ended = new Promise<void>((resolve) => {
      cancelled = resolve
    })
    const { url } = await serve(async (request) => {
      if (who !== 'HEAD') {
        leaving.abort()
        await new Promise((resolve) => request.signal.addEventListener('abort', resolve, { once: true }))
      }
      return new Response(
        new ReadableStream<Uint8Array>({
          pull: (controller) => controller.enqueue(new Uint8Array(10)),
          cancel: cancelled,
        }),
      )
    })
    const asked = fetch(url, { method: who === 'HEAD' ? 'HEAD' : 'GET', signal: leaving.signal })
    const outcome = await asked.then(
      ({ status }) => status,
      ({ name }: Error) => name,
    )
    expect(outcome).toBe(who === 'HEAD' ? 200 : 'AbortError')
    await ended
  },
)

test('a dropped connection cancels the stream and aborts the request, even after garbage collection', async () => {
  let [isAborted, isCancelled] = [false, false]
  const server = await rawServer(async (request) => {
    request.signal.addEventListener('abort', () => void (isAborted = true), { once: true })
    return new Response(new ReadableStream({ cancel: () => void (isCancelled = true) }))
  })
  const client = await server.connect()
  await client.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await untilSo('the headers', () => client.answered().includes('\r\n\r\n'))
  collectGarbage()
  client.socket.destroy()
  await untilSo('the end of the request', () => isAborted && isCancelled)
  expect([isAborted, isCancelled]).toEqual([true, true])
})

test('all pipelined requests are aborted and their streams ended when the socket closes', async () => {
  const open = new Set<string>()
  let cancelled = 0
  const server = await rawServer(async (request) => {
    const { pathname } = new URL(request.url)
    open.add(pathname)
    request.signal.addEventListener('abort', () => open.delete(pathname), { once: true })
    return new Response(
      new ReadableStream<Uint8Array>({
        pull: (controller) => controller.enqueue(new Uint8Array(10_000)),
        cancel: () => {
          cancelled += 1
        },
      }),
    )
  })
  const client = await server.connect()
  await client.send(Array.from({ length: 20 }, (_, index) => `GET /${index} HTTP/1.1\r\nhost: x\r\n\r\n`).join(''))
  await untilSo('all streams', () => open.size === 20)
  client.socket.destroy()
  await untilSo('the end of all', () => open.size === 0)
  await untilSo('the end of their streams', () => cancelled === 20)
  expect([...open]).toEqual([])
})

test('a handler of the node listener can pass its request on to a new Request and to fetch', async () => {
  const target = await serve(async (request) => new Response(`${request.headers.get('x-a')} ${await request.text()}`))
  const { url } = await serve(async (request) => fetch(new Request(`${target.url}/there`, new Request(request))))
  const passed = await serve(async (request) => fetch(new Request(url, request)))
  const sent = { method: 'POST', body: 'ü', headers: { 'x-a': '1' } }
  expect(await (await fetch(passed.url, sent)).text()).toBe('1 ü')
})

test('a request body can be read as text, JSON and bytes, in one piece or in many', async () => {
  const { port } = await serve(async (request) => {
    const way = new URL(request.url).pathname.slice(1) as 'text' | 'json' | 'arrayBuffer'
    const body: unknown = await request[way]().catch(({ name }: Error) => name)
    const again = await request.text().catch(({ name }: Error) => name)
    const seen = body instanceof ArrayBuffer ? Buffer.from(body).toString() : body
    return Response.json([seen, request.bodyUsed, again])
  })
  const ask = (way: string, pieces: readonly string[]) =>
    new Promise<unknown>((resolve, reject) => {
      const asking = httpRequest({ port, host: '127.0.0.1', path: `/${way}`, method: 'POST' }, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.once('end', () => resolve(JSON.parse(text)))
      }).once('error', reject)
      for (const piece of pieces) asking.write(piece)
      asking.end()
    })
  const long = 'x'.repeat(200_000)
  for (const [way, sent, seen] of [
    ['text', '\u{feff}ü', 'ü'],
    ['json', '{"a":"ü"}', { a: 'ü' }],
    ['json', '{', 'SyntaxError'],
    ['arrayBuffer', 'ü', 'ü'],
    ['text', long, long],
  ] as const) {
    expect(await ask(way, [sent])).toEqual([seen, true, 'TypeError'])
    expect(await ask(way, [...sent.slice(0, 3), sent.slice(3)])).toEqual([seen, true, 'TypeError'])
  }
  const { url } = await serve(async (request) => Response.json([await request.text(), request.bodyUsed]))
  expect(await (await fetch(url)).json()).toEqual(['', false])
})

describe('a standard Response of a handler', () => {
  const bytes = new TextEncoder().encode('ü')
  const streamOf = (...pieces: readonly string[]) =>
    new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const piece of pieces) controller.enqueue(new TextEncoder().encode(piece))
        controller.close()
      },
    })

  test.each<[string, () => Response, string, string | null]>([
    ['text', () => new Response('ü'), 'ü', '2'],
    ['bytes', () => new Response(bytes), 'ü', '2'],
    ['JSON', () => Response.json('ü'), '"ü"', '4'],
    ['a form', () => new Response(new URLSearchParams({ a: 'b' })), 'a=b', '3'],
    ['no body', () => new Response(null, { status: 204 }), '', null],
    ['an empty text', () => new Response(''), '', '0'],
    ['a short stream', () => new Response(streamOf('a', 'b')), 'ab', '2'],
    ['a stream of many pieces', () => new Response(streamOf(...'abcdefgh')), 'abcdefgh', null],
    ['a length of its own', () => new Response('ü', { headers: { 'content-length': '2' } }), 'ü', '2'],
  ])(
    'a Response of a handler is sent completely, with its length where it is known: %s',
    async (_, answer, body, length) => {
      const type = answer().headers.get('content-type')
      // A light Response, and a full one.
      for (const make of [answer, () => answer().clone()]) {
        const { url } = await serve(async () => make())
        const response = await fetch(url)
        expect([await response.text(), response.headers.get('content-length')]).toEqual([body, length])
        expect(response.headers.get('content-type')).toBe(type)
      }
    },
  )

  test('a Response whose body is a Blob is sent', async () => {
    const { url } = await serve(async () => new Response(new Blob(['ü'])))
    expect(await (await fetch(url)).text()).toBe('ü')
  })

  test('a Response keeps each of its cookies', async () => {
    const headers: [string, string][] = [
      ['set-cookie', 'a=1'],
      ['set-cookie', 'b=2'],
    ]
    const { url } = await serve(async () => new Response('ü', { headers }))
    expect((await fetch(url)).headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })

  test('a Response whose body was already read or fails breaks the connection', async () => {
    const read = await serve(async () => {
      const response = new Response('ü')
      await response.text()
      return response
    })
    await expect(fetch(read.url)).rejects.toThrow('fetch failed')
    const broken = await serve(
      async () => new Response(new ReadableStream({ pull: (controller) => controller.error(new Error('no')) })),
    )
    await expect(fetch(broken.url)).rejects.toThrow('fetch failed')
  })

  test('a streamed Response sends its head before its first piece', async () => {
    let send = (_piece: string) => {}
    const { url } = await serve(async () => {
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          send = (piece) => {
            controller.enqueue(new TextEncoder().encode(piece))
            controller.close()
          }
        },
      })
      return new Response(body, { status: 201 })
    })
    const response = await fetch(url)
    expect(response.status).toBe(201)
    send('late')
    expect(await response.text()).toBe('late')
  })

  test('a streamed Response whose body fails sends everything that was read before', async () => {
    const server = await rawServer(async () => {
      let isSent = false
      const pull = (controller: ReadableStreamDefaultController<Uint8Array>) => {
        if (isSent) return controller.error(new Error('no'))
        isSent = true
        controller.enqueue(new TextEncoder().encode('first'))
      }
      return new Response(new ReadableStream({ pull }), { headers: { 'content-length': '10' } })
    })
    const client = await server.connect()
    await client.send('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
    await untilSo('the end', client.isClosed)
    expect(client.answered()).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nfirst$/)
  })
})
