import { createServer } from 'node:http'
import { describe, expect, test } from 'vitest'
import { createManualClock } from '../time.js'
import { handlerOf, type Problem, problemReply } from './answers.js'
import { type BodyLimits, createBodies, readBody } from './bodies.js'
import { nodeListener } from './node-listener.js'
import { listen, type RawClient, rawServer, untilSo } from './raw-client.fixture.js'

const MOST = 1000

/** Starts a server that responds with the length of the body. A header names the sender. */
async function setUp(limits: BodyLimits = {}, admitted: (request: Request) => Promise<void> = async () => {}) {
  const clock = createManualClock()
  let sleeps = 0
  const counted = {
    now: clock.now,
    sleep: (...how: Parameters<typeof clock.sleep>) => ((sleeps += 1), clock.sleep(...how)),
  }
  const bodies = createBodies({ ...limits, clock: counted })
  const server = await rawServer(
    handlerOf(async (request) => {
      const body = bodies.begin(request, MOST, request.headers.get('x-from') ?? 'a')
      await admitted(request)
      try {
        const { byteLength } = await body.bytes()
        return { status: 200, headers: {}, body: String(byteLength) }
      } catch (error) {
        return problemReply(error as Problem)
      }
    }),
  )
  /** Sends the beginning of a body. */
  const begin = async (head: string, from = 'a'): Promise<RawClient> => {
    const client = await server.connect()
    await client.send(`POST / HTTP/1.1\r\nhost: x\r\nx-from: ${from}\r\n${head}\r\n\r\n`)
    return client
  }
  const unfinished = (from?: string) => begin('content-length: 500', from)
  const open = (count: number) => untilSo(`${count} unfinished bodies`, () => bodies.open() === count)
  return { clock, sleeps: () => sleeps, bodies, server, begin, unfinished, open }
}

const answer = async (client: RawClient): Promise<string> => {
  await untilSo('an answer', () => client.answered().includes('\r\n\r\n') || client.isClosed())
  return /HTTP\/1\.1 (\d+)/.exec(client.answered())?.[1] ?? 'none'
}

describe('the body of a request', () => {
  test('a request body that arrives with the head needs no timer and never counts as unfinished', async () => {
    const { server, sleeps, bodies } = await setUp()
    const client = await server.connect()
    await client.send('POST / HTTP/1.1\r\nhost: x\r\ncontent-length: 3\r\n\r\nabc')
    expect(await answer(client)).toBe('200')
    expect([sleeps(), bodies.open()]).toEqual([0, 0])
  })

  test('each of several request bodies that arrive together is read as the body of its own request', async () => {
    const { server } = await setUp()
    const client = await server.connect()
    const lengths = [3, 500, 0, 70]
    const requests = lengths.map((size) => `POST / HTTP/1.1\r\nhost: x\r\ncontent-length: ${size}\r\n\r\n`)
    await client.send(requests.map((head, index) => head + 'x'.repeat(lengths[index] ?? 0)).join(''))
    const answered = () => [...client.answered().matchAll(/\r\n\r\n(\d+)/g)].map(([, size]) => Number(size))
    await untilSo('all answers', () => answered().length === lengths.length)
    expect(answered()).toEqual(lengths)
  })

  test.each([
    ['with a length', 'content-length: 500', ['x'.repeat(500)]],
    [
      'in chunks of one byte',
      'transfer-encoding: chunked',
      [...Array.from({ length: 500 }, () => '1\r\nx\r\n'), '0\r\n\r\n'],
    ],
  ])('a request body %s can arrive in pieces', async (_, head, pieces) => {
    const { begin, open, clock } = await setUp()
    const client = await begin(head)
    await open(1)
    for (const piece of pieces) await client.send(piece)
    expect(await answer(client)).toBe('200')
    expect(client.answered()).toMatch(/500$/)
    expect(clock.sleepers).toBe(0)
    await open(0)
  })

  test('a request body that is not complete in time is answered by 408, and its connection ends', async () => {
    const { clock, unfinished, open } = await setUp()
    const client = await unfinished()
    await open(1)
    await client.send('x'.repeat(499))
    await clock.advance(9999)
    expect(client.answered()).toBe('')
    await clock.advance(1)
    expect(await answer(client)).toBe('408')
    expect(client.answered()).toContain('"code":"body-too-slow"')
    await untilSo('the end of the connection', client.isClosed)
    await open(0)
    expect(clock.sleepers).toBe(0)
  })

  test('a request body does not extend its deadline by arriving slowly', async () => {
    const { clock, begin, open } = await setUp()
    const client = await begin('transfer-encoding: chunked')
    await open(1)
    for (let second = 0; second < 10; second += 1) {
      await client.send('1\r\nx\r\n')
      await clock.advance(1000)
    }
    expect(await answer(client)).toBe('408')
  })

  test.each([
    ['announced', 'content-length: 1001', ''],
    ['found while it arrives', 'transfer-encoding: chunked', '1\r\nx\r\n'.repeat(MOST + 1)],
    ['hidden behind an impossible length', 'content-length: 99999999999999999999', ''],
  ])('a request body that is too large is refused, even if its size is %s', async (_, head, sent) => {
    const { begin, open } = await setUp()
    const client = await begin(head)
    await client.send(sent)
    expect(await answer(client)).toMatch(/413|400/)
    await open(0)
  })

  test('a request body with a wrong length is refused, and the bytes after it are not read as a request', async () => {
    const { begin, open } = await setUp()
    const client = await begin('content-length: 3')
    await client.send(`abc${'x'.repeat(100)}\r\n\r\n`)
    await untilSo('the end of the connection', client.isClosed)
    expect(client.answered()).toContain('HTTP/1.1 400')
    expect(client.answered()).not.toContain('103')
    await open(0)
  })

  test('a request body no longer counts as unfinished once its sender has disconnected', async () => {
    const { unfinished, open, clock } = await setUp()
    const client = await unfinished()
    await open(1)
    client.socket.destroy()
    await open(0)
    expect(clock.sleepers).toBe(0)
  })
})

test('too many unfinished request bodies of one address end the oldest of that address', async () => {
  const { unfinished, open } = await setUp({ perAddress: 3 })
  const other = await unfinished('b')
  const clients: RawClient[] = []
  for (let count = 2; count <= 4; count += 1) {
    clients.push(await unfinished())
    await open(count)
  }
  clients.push(await unfinished())
  expect(await answer(clients[0] as RawClient)).toBe('408')
  expect(clients[0]?.answered()).toContain('body-superseded')
  await open(4)
  for (const client of [other, ...clients.slice(1)]) {
    expect(client.answered()).toBe('')
    await client.send('x'.repeat(500))
    expect(await answer(client)).toBe('200')
  }
})

test('too many unfinished request bodies in total end the oldest of all', async () => {
  const { unfinished, open } = await setUp({ perAddress: 2, inAll: 3 })
  const clients: RawClient[] = []
  for (const [index, from] of ['a', 'b', 'c'].entries()) {
    clients.push(await unfinished(from))
    await open(index + 1)
  }
  clients.push(await unfinished('d'))
  expect(await answer(clients[0] as RawClient)).toBe('408')
  await open(3)
})

test('250 unfinished bodies in 1-byte pieces hold only the bytes received, and end at their deadline', async () => {
  const { clock, begin, open, bodies } = await setUp({ perAddress: 250 })
  const clients: RawClient[] = []
  for (let index = 0; index < 250; index += 1) {
    const client = await begin('transfer-encoding: chunked')
    await client.send('1\r\nx\r\n'.repeat(200))
    clients.push(client)
  }
  await open(250)
  await untilSo('what was sent', () => bodies.held() >= 250 * 200)
  expect(bodies.held()).toBeLessThanOrEqual(250 * 512)
  await clock.advance(10_000)
  for (const client of clients) expect(await answer(client)).toBe('408')
  await open(0)
  expect([bodies.held(), clock.sleepers]).toEqual([0, 0])
})

describe('the body of a Request that did not come from node:http', () => {
  const requestOf = (body: BodyInit) =>
    new Request('http://x/', { method: 'POST', body, duplex: 'half' } as RequestInit)
  const setUpStream = () => {
    const clock = createManualClock()
    const bodies = createBodies({ clock, perAddress: 1 })
    const begin = () => {
      const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.enqueue(new Uint8Array(300)) })
      return bodies.begin(requestOf(body), MOST, 'a').bytes()
    }
    return { clock, bodies, begin }
  }

  test('a Request not from node:http is read without a timer if its body is in memory', async () => {
    const { clock, bodies } = setUpStream()
    const read = bodies.begin(requestOf('abc'), MOST, 'a').bytes()
    expect(Buffer.from(await read).toString()).toBe('abc')
    expect([bodies.open(), clock.sleepers]).toEqual([0, 0])
    await clock.advance(1)
    expect([bodies.open(), clock.sleepers]).toEqual([0, 0])
  })

  test('a Request not from node:http is refused at its deadline if its body does not end', async () => {
    const { clock, bodies, begin } = setUpStream()
    const refused = expect(begin()).rejects.toMatchObject({ status: 408, code: 'body-too-slow' })
    await clock.advance(9999)
    expect([bodies.open(), bodies.held()]).toEqual([1, 300])
    await clock.advance(1)
    await refused
    expect([bodies.open(), bodies.held(), clock.sleepers]).toEqual([0, 0, 0])
  })

  test('a Request not from node:http is refused if a later body of its address exceeds the body limit', async () => {
    const { clock, bodies, begin } = setUpStream()
    const refused = expect(begin()).rejects.toMatchObject({ status: 408, code: 'body-superseded' })
    await clock.advance(1)
    void Promise.resolve(begin()).catch(() => {})
    await refused
    expect([bodies.open(), clock.sleepers]).toEqual([1, 1])
  })
})

test.each([
  ['timeoutMs', 0],
  ['perAddress', Number.NaN],
  ['inAll', -1],
])('a wrong request body option %s (%d) is refused by name', (name, value) => {
  expect(() => createBodies({ clock: createManualClock(), [name]: value })).toThrow(
    `option ${name} must be at least 1, got ${value}`,
  )
})

test.each([
  ['100 KB in several pieces', 100_000, '100000'],
  ['more than the limit', 300_000, '413'],
])('a request body whose first pieces arrived before the read is read to its end: %s', async (_, bytes, answer) => {
  const server = createServer(
    nodeListener(
      handlerOf(async (request) => {
        await new Promise((resolve) => setTimeout(resolve, 50))
        const read = readBody(request, 200_000)
        const body = await read.then(({ byteLength }) => byteLength).catch((error: Problem) => error.status)
        return { status: 200, headers: {}, body: String(body) }
      }),
    ),
  )
  const { port } = await listen(server)
  // Chunked, so that the server learns the length only from the bytes.
  const body = new Blob(['x'.repeat(bytes)]).stream()
  const response = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, duplex: 'half' } as RequestInit)
  expect(await response.text()).toBe(answer)
})
