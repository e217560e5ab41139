import { describe, expect, test } from 'vitest'
import { type MusterError, UnexpectedResponse } from './errors.js'
import { answer, serve } from './server.fixture.js'
import { blue, type Handler, clientOf, setUp, serveBytes, failure, deferred } from './network.fixture.js'

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
      what: 'truncated JSON',
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
  ])('an answer with $what is an UnexpectedResponse and is not retried', async ({ handler, says }) => {
    const { server, read } = await setUp(handler)
    const error = await failure(read())
    expect(error).toBeInstanceOf(UnexpectedResponse)
    expect(error).toMatchObject({ message: expect.stringContaining(says), operation: 'tags.get', requestId: 'abc' })
    expect((error as MusterError).message).not.toContain('private')
    expect((error as MusterError).cause).toBeUndefined()
    expect(server.requests.length).toBe(1)
  })

  test('an answer of the largest allowed size is read, and one byte more is refused', async () => {
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

  test('an answer that never ends is cut off, and its connection is closed', async () => {
    const closed = deferred()
    const { server, read } = await setUp(
      (_, response) => {
        response.on('error', () => {})
        response.on('close', closed.resolve)
        response.writeHead(200)
        const pour = (error?: Error | null) => void (error || response.write('x'.repeat(10_000), pour))
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

  test('an answer with status 204 and a body, which HTTP forbids, does not affect the next answer', async () => {
    const body = JSON.stringify(blue)
    const url = await serveBytes(
      'HTTP/1.1 204 No Content\r\ncontent-length: 5\r\n\r\nhello',
      `HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    )
    const { read, remove } = clientOf(url)
    await expect(remove()).resolves.toBeUndefined()
    await expect(read()).resolves.toEqual(blue)
  })

  test.each([301, 302, 303, 307, 308])(
    'a redirect with status %i is not followed, so the token never reaches another host',
    async (status) => {
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
    },
  )

  test('a redirect with status 302 to the same origin is not followed', async () => {
    const { server, read } = await setUp((_, response) => answer(response, 302, undefined, { location: '/elsewhere' }))
    expect(await failure(read())).toMatchObject({ name: 'UnexpectedResponse', status: 302 })
    expect(server.requests.length).toBe(1)
  })
})
