import { once } from 'node:events'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import type { ServerResponse } from 'node:http'
import { expect, onTestFinished } from 'vitest'
import { createClient } from './client.js'
import type { ClientOptions } from './config.js'
import { serve, type SeenRequest } from './server.fixture.js'

export const tag = { request_id: 'abc', tag_name: 'blue' }
export const blue = { name: 'blue' }

export type Handler = (request: SeenRequest, response: ServerResponse, nth: number) => void

export function clientOf(baseUrl: string, options: Partial<ClientOptions> = {}) {
  const client = createClient({ baseUrl, token: 'secret', retry: { baseMs: 0 }, ...options })
  onTestFinished(() => client.close())
  const read = (timeoutMs = 20_000) => client.tags.get(tag, { timeoutMs })
  const create = () => client.tags.create({ request_id: 'abc', name: 'blue' })
  return { client, read, create, remove: () => client.tags.delete(tag) }
}

export async function setUp(handler: Handler, options: Partial<ClientOptions> = {}) {
  const server = await serve(handler)
  return { server, ...clientOf(server.url, options) }
}

/** Starts a server that answers each request with raw bytes, which need not be valid HTTP. */
export async function serveBytes(...answers: readonly string[]): Promise<string> {
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

/** Returns an address without a listener. */
export async function nowhere(): Promise<string> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return `http://127.0.0.1:${port}`
}

export const failure = (call: Promise<unknown>): Promise<unknown> =>
  call.then(
    () => expect.unreachable('the call succeeded'),
    (error: unknown) => error,
  )
export const reset: Handler = (_, response) => void response.socket?.resetAndDestroy()

/** Creates a promise that the test settles. */
export function deferred() {
  let resolve = () => {}
  const promise = new Promise<void>((settle) => (resolve = settle))
  return { promise, resolve }
}
