import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A request that the server has read to its end. */
export interface SeenRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingMessage['headers']
  readonly body: string
}

export interface TestServer {
  readonly url: string
  readonly requests: SeenRequest[]
}

/** Responds with JSON, or without a body if `body` is undefined. */
export function answer(
  response: ServerResponse,
  status: number,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
) {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(body === undefined ? undefined : JSON.stringify(body))
}

/**
 * Starts a real server on loopback, which is closed with its connections when the test ends. The handler runs once a
 * request was read.
 */
export async function serve(
  handler: (request: SeenRequest, response: ServerResponse, nth: number) => void,
): Promise<TestServer> {
  const requests: SeenRequest[] = []
  const listener: RequestListener = async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url = '', headers } = request
    const seen = { method, url, headers, body: Buffer.concat(chunks).toString() }
    requests.push(seen)
    handler(seen, response, requests.length)
  }
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests }
}

/** Returns the smallest valid status view. */
export const deployment = (request_id: string, status = 'READY') => ({ request_id, current_status: `Status.${status}` })
