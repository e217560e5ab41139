import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { nodeListener } from '@muster/core/http'
import { createHostCheck, handlerOf, type Reply as PlainReply } from '@muster/core/internal'
import { message, toResponse, type Reply } from '../reply.js'

export interface ListenOptions {
  /** The port to listen on. Default 0: any free port. */
  readonly port?: number | undefined
  /** The address to listen on. Default 127.0.0.1: only this machine. */
  readonly host?: string | undefined
  /**
   * Host names, without a port, that callers may use in addition to addresses, `localhost` and `host`, e.g. the
   * emulator's container name. Requests with another name in their Host header get 421.
   */
  readonly allowedHosts?: readonly string[] | undefined
}

export interface Listening {
  /** The server's URL, for example `http://127.0.0.1:41233`. */
  readonly url: string
  /** Stops accepting connections, responds to the requests that have arrived completely, and drops the others. */
  close(): Promise<void>
}

/**
 * Milliseconds for which an idle connection is kept (Node's own default is 5 s). It is longer than a busy program may
 * need between two calls: if a connection ends while its next request arrives, that request fails.
 */
const KEEP_ALIVE_MS = 65_000

/** Serves a request handler over HTTP. If a handler rejects, the connection ends. */
export async function listen(
  handle: (request: Request) => Promise<Reply>,
  { port = 0, host = '127.0.0.1', allowedHosts = [] }: ListenOptions,
): Promise<Listening> {
  const isServed = createHostCheck(isIP(host) === 0 ? [...allowedHosts, host] : allowedHosts)
  const serve = nodeListener(handlerOf(async (request) => sent(await handle(request))))
  /**
   * The running requests of each connection. They are recorded here, because node:http reports the close of a
   * connection only to its first request.
   */
  const underWay = new Map<Socket, Map<IncomingMessage, ServerResponse>>()
  let closing = false

  const server = createServer((request, response) => {
    if (closing) response.shouldKeepAlive = false
    const own = underWay.get(request.socket)
    own?.set(request, response)
    response.once('close', () => own?.delete(request))
    if (isServed(request.headers.host)) serve(request, response)
    else response.writeHead(misdirected.status, misdirected.headers).end(misdirected.body)
  })
  server.keepAliveTimeout = KEEP_ALIVE_MS
  server.on('connection', (socket) => {
    underWay.set(socket, new Map())
    socket.once('close', () => underWay.delete(socket))
  })

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server listens on no TCP port')
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address

  /** Resolves once the response is sent or its connection is closed. */
  const answered = (socket: Socket, response: ServerResponse) =>
    new Promise<void>((resolve) => {
      if (!response.headersSent) response.shouldKeepAlive = false
      response.once('close', resolve)
      socket.once('close', () => resolve())
    })

  return {
    url: `http://${name}:${address.port}`,
    close: async () => {
      closing = true
      const closed = new Promise<void>((resolve) => server.close(() => resolve()))
      // Waits only for requests that have arrived completely. The rest of an incomplete request may never arrive.
      const complete = Array.from(underWay).flatMap(([socket, own]) =>
        Array.from(own).flatMap(([request, response]) => (request.complete ? [answered(socket, response)] : [])),
      )
      await Promise.all(complete)
      server.closeAllConnections()
      await closed
    },
  }
}

const MISDIRECTED =
  'this Host is not served: use an address or localhost, or allow the name (allowedHosts, --allow-host)'
const misdirected = message(421, MISDIRECTED, { connection: 'close' })

/** Returns a response as it is sent. The header states the body's full length, even if a fault truncates the body. */
function sent(reply: Reply): PlainReply | Response {
  const { status, headers, body = '', truncated } = reply
  const withLength = { ...headers, 'content-length': String(Buffer.byteLength(body)) }
  if (truncated) return toResponse({ ...reply, headers: withLength })
  return { status, headers: body === '' && status !== 204 ? withLength : headers, body }
}
