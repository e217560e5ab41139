import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve, type HttpBindings } from '@hono/node-server'
import { getConnInfo } from '@hono/node-server/conninfo'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { nodeListener, type HttpHandler } from '@muster/core/http'
import express from 'express'
import { fastify } from 'fastify'
import { Hono, type Context } from 'hono'

export interface Mounted {
  readonly port: number
  readonly close: () => Promise<unknown>
}

interface Closable {
  address(): AddressInfo | string | null
  close(done: () => void): unknown
  closeAllConnections?: () => void
}

const mounted = (server: Closable): Mounted => ({
  port: (server.address() as AddressInfo).port,
  close: () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections?.()
    }),
})

async function listening(listener: (message: IncomingMessage, response: ServerResponse) => void): Promise<Mounted> {
  const server = createServer(listener)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return mounted(server)
}

interface Node {
  Bindings: HttpBindings
}

/** Hono must not replace the global Request, which other tests in this process use. */
async function hono(answer: (context: Context<Node>) => Response | Promise<Response>): Promise<Mounted> {
  const app = new Hono<Node>()
  app.all('*', answer)
  const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
    const starting = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1', overrideGlobalObjects: false }, () =>
      resolve(starting),
    )
  })
  return mounted(server as Closable)
}

/** The ways to mount an API, as in `examples/ticket-api.ts`. */
export const mounts: Readonly<Record<string, (api: HttpHandler) => Promise<Mounted>>> = {
  'node:http': (api) => listening(nodeListener(api)),
  Express: (api) => {
    const app = express()
    app.use(nodeListener(api))
    return listening((message, response) => void app(message, response))
  },
  Fastify: async (api) => {
    const app = fastify()
    const listener = nodeListener(api)
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', (_request, _payload, done) => done(null))
    app.all('/*', (request, reply) => {
      reply.hijack()
      listener(request.raw, reply.raw)
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return mounted(app.server)
  },
  Hono: (api) => {
    const listener = nodeListener(api)
    return hono(({ env }) => {
      listener(env.incoming as IncomingMessage, env.outgoing as ServerResponse)
      return RESPONSE_ALREADY_SENT
    })
  },
  'Hono, by Requests': (api) =>
    hono((context) => api(context.req.raw, { remoteAddress: getConnInfo(context).remote.address })),
}
