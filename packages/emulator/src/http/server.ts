import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { createHostCheck } from '@muster/core/http'
import { NodeRequest } from 'srvx/node'
import { ConnectionDropped, message, type Reply } from './reply.js'

export interface ListenOptions {
  /** The port to listen on. Default 0: any free port. */
  readonly port?: number | undefined
  /** The address to listen on. Default 127.0.0.1: this machine alone. */
  readonly host?: string | undefined
  /**
   * Host names, without a port, that callers may use besides addresses, `localhost` and `host`, e.g. the emulator's
   * container name. Requests with another name in their Host header are answered by 421.
   */
  readonly allowedHosts?: readonly string[] | undefined
}

export interface Listening {
  /** The server's URL, for example `http://127.0.0.1:41233`. */
  readonly url: string
  /** Stops accepting connections, answers the requests that have arrived in full, and drops the others. */
  close(): Promise<void>
}

/**
 * Serves a request handler over HTTP. The server is node:http with srvx's conversion of requests, not srvx's server,
 * because a declared fault must be able to end the connection at once or in the middle of a body.
 */
export async function listen(
  handle: (request: Request) => Promise<Reply>,
  { port = 0, host = '127.0.0.1', allowedHosts = [] }: ListenOptions,
  maxBodyBytes: number,
): Promise<Listening> {
  const isServed = createHostCheck(isIP(host) === 0 ? [...allowedHosts, host] : allowedHosts)
  const underWay = new Map<IncomingMessage, Promise<void>>()
  let closing = false

  const server = createServer((request, response) => {
    const answered = answer(request, response).finally(() => underWay.delete(request))
    underWay.set(request, answered)
  })

  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const reply = isServed(request.headers.host)
        ? await handle(new NodeRequest({ req: request, res: response, maxRequestBodySize: maxBodyBytes }))
        : misdirected
      if (closing) response.shouldKeepAlive = false
      await send(response, reply)
    } catch {
      // No answer can be sent: a declared fault, a caller that is gone, or the emulator's end.
      response.destroy()
    }
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address

  return {
    url: `http://${name}:${address.port}`,
    close: async () => {
      closing = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // Only requests that have arrived in full are waited for, because the rest of the others may never come.
      const complete = Array.from(underWay).flatMap(([request, answered]) => (request.complete ? [answered] : []))
      await Promise.all(complete)
      server.closeAllConnections()
      await closed
    },
  }
}

const misdirected = message(
  421,
  'this Host is not served: use an address or localhost, or allow the name (allowedHosts, --allow-host)',
  {
    connection: 'close',
  },
)

/** Resolves when the answer has been sent, or the connection is gone. */
function send(response: ServerResponse, { status, headers, body = '', truncated }: Reply): Promise<void> {
  return new Promise((resolve, reject) => {
    // A destroyed response never calls back for what is written to it.
    if (response.destroyed) return resolve()
    response.once('close', resolve)
    const bytes = Buffer.from(body)
    response.writeHead(status, { ...headers, ...(status !== 204 && { 'content-length': bytes.length }) })
    if (truncated === undefined) return void response.end(bytes, resolve)
    return void response.write(bytes.subarray(0, bytes.length >> 1), () => reject(new ConnectionDropped()))
  })
}
