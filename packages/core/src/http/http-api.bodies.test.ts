import { expect, test } from 'vitest'
import { z } from 'zod'
import { createManualClock } from '../time.js'
import { operation } from '../operation.js'
import { createHttpApi } from './http-api.js'
import { type RawClient, rawServer, untilSo } from './raw-client.fixture.js'

const routes = {
  put: operation('POST /notes', {
    summary: '',
    input: z.strictObject({ text: z.string() }),
    output: z.unknown(),
    errors: [],
  }),
}

async function setUp() {
  const clock = createManualClock()
  let allow = () => {}
  const allowed = new Promise<void>((resolve) => {
    allow = resolve
  })
  let asked = 0
  const server = await rawServer(
    createHttpApi({
      routes,
      handlers: { put: ({ text }) => text.length },
      authenticate: async (request) => {
        asked += 1
        const id = request.headers.get('authorization') ?? ''
        if (id === 'slow') await allowed
        return id === 'nobody' ? undefined : { id }
      },
      clock,
      maxBodyBytes: 4000,
      bodies: { perAddress: 2, inAll: 3 },
      limits: { exempt: ({ id }) => id === 'backend' },
    }),
  )
  const begin = async (who: string, body = ''): Promise<RawClient> => {
    const client = await server.connect()
    const headers = `host: x\r\nauthorization: ${who}\r\ncontent-type: application/json\r\ntransfer-encoding: chunked`
    const head = `POST /notes HTTP/1.1\r\n${headers}`
    await client.send(`${head}\r\n\r\n${body}`)
    return client
  }
  const statusOf = async (client: RawClient) => {
    await untilSo('an answer', () => client.answered() !== '')
    return /HTTP\/1\.1 (\d+)/.exec(client.answered())?.[1]
  }
  return { clock, begin, statusOf, allow, asked: () => asked }
}

test('an unknown caller is answered without waiting for the request body', async () => {
  const { begin, statusOf } = await setUp()
  expect(await statusOf(await begin('nobody'))).toBe('401')
  expect(await statusOf(await begin('nobody', '1\r\nx\r\n'.repeat(10_000)))).toBe('401')
})

test('request bodies count as unfinished and have their deadline during authentication', async () => {
  const { clock, begin, statusOf, allow, asked } = await setUp()
  const crumbs = '1\r\nx\r\n'.repeat(100)
  const clients: RawClient[] = []
  for (let index = 0; index < 3; index += 1) {
    clients.push(await begin('slow', crumbs))
    await untilSo('the question who it is', () => asked() === index + 1)
  }
  await untilSo('the time of two', () => clock.sleepers === 2)
  await clock.advance(10_000)
  expect(clock.sleepers).toBe(0)
  allow()
  expect(await Promise.all(clients.map(statusOf))).toEqual(['408', '408', '408'])
  expect(clients[0]?.answered()).toContain('body-superseded')
  expect(clients[1]?.answered()).toContain('body-too-slow')
})

test('request bodies of a backend do not count against its address', async () => {
  const { clock, begin, statusOf } = await setUp()
  const clients = [await begin('backend'), await begin('backend'), await begin('backend')]
  await untilSo('three bodies', () => clock.sleepers === 3)
  const body = JSON.stringify({ text: 'abc' })
  for (const client of clients) await client.send(`${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
  expect(await Promise.all(clients.map(statusOf))).toEqual(['200', '200', '200'])
})

test('a declared body counts before it has arrived, by at most the maximum size of the route', async () => {
  let admitted = 0
  const server = await rawServer(
    createHttpApi({
      routes,
      handlers: { put: ({ text }) => text.length },
      authenticate: (request) => ({ id: request.headers.get('authorization') ?? '' }),
      authorize: () => void (admitted += 1),
      clock: createManualClock(),
      maxBodyBytes: 4 * 64 * 1024,
      limits: { perCaller: { limit: 4, windowMs: 4000 } },
    }),
  )
  const begin = async (who: string, length: number, body = '') => {
    const client = await server.connect()
    const headers = `host: x\r\nauthorization: ${who}\r\ncontent-type: application/json\r\ncontent-length: ${length}`
    await client.send(`POST /notes HTTP/1.1\r\n${headers}\r\n\r\n${body}`)
    return client
  }
  const answerOf = async (...request: Parameters<typeof begin>) => {
    const client = await begin(...request)
    await untilSo('an answer', () => client.answered() !== '')
    return /HTTP\/1\.1 (\d+)/.exec(client.answered())?.[1]
  }
  const small = JSON.stringify({ text: 'abc' })
  await begin('ann', 3 * 64 * 1024 + 1)
  await untilSo('the first request', () => admitted === 1)
  expect(await answerOf('ann', small.length, small)).toBe('429')
  expect(await answerOf('ben', 10 ** 14)).toBe('413')
  expect(await answerOf('ben', small.length, small)).toBe('429')
  expect(await answerOf('eve', small.length, small)).toBe('200')
})
