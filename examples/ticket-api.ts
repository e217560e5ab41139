/**
 * The ticket API, mounted in node:http, Express, Fastify and Hono. In each, two players wait for a match over HTTP and
 * get their server's address: one by server-sent events, one by long poll.
 */
import assert from 'node:assert/strict'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { serve, type HttpBindings } from '@hono/node-server'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import { createClient } from '@muster/core'
import { bearerToken, nodeListener } from '@muster/core/http'
import { createEmulator } from '@muster/emulator'
import { createMatchmaker, createTicketApi } from '@muster/matchmaker'
import express from 'express'
import { fastify } from 'fastify'
import { Hono } from 'hono'

const emulator = createEmulator({ speed: 50 })
const { url } = await emulator.listen()
const client = createClient({ baseUrl: url, token: 'dev' })
await client.applications.create({ name: 'my-game' })
const image = { docker_repository: 'registry.example.com', docker_image: 'studio/server', docker_tag: '1.0' }
const ports = [{ name: 'game', port: 7777, protocol: 'UDP' }]
await client.versions.create({ app_name: 'my-game', name: '1.0', ...image, req_cpu: 512, req_memory: 1024, ports })
const deploy = { application: 'my-game', version: '1.0' }
const matchmaker = createMatchmaker({
  deployments: client.deployments,
  queues: [{ name: 'duel', matchSize: 2, deploy }],
})
matchmaker.start()

/** Your own lookup: the player of each token. Game clients send the token alone, or as `Bearer …`. */
const players = new Map([
  ['token-of-ann', 'ann'],
  ['token-of-ben', 'ben'],
])
const apiAt = (basePath: string) =>
  createTicketApi(matchmaker, {
    basePath,
    authenticate: (request) => {
      const token = bearerToken(request) ?? ''
      const id = players.get(token)
      if (id !== undefined) return { id }
      return token === 'token-of-our-backend' ? { id: 'backend', role: 'backend' } : undefined
    },
    beacons: () => client.locations.beacons.all(),
    // The default is 10 s. It is short here, so that this example ends soon.
    limits: { bodies: { timeoutMs: 500 } },
  })

interface Running {
  readonly port: number
  readonly close: () => Promise<unknown> | void
}

const portOf = (server: { address(): AddressInfo | string | null }) => (server.address() as AddressInfo).port

const adapters: Readonly<Record<string, () => Promise<Running>>> = {
  'node:http': async () => {
    const server = createServer(nodeListener(apiAt('/matchmaking')))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { port: portOf(server), close: () => void server.close() }
  },

  // Mount the API before anything that reads bodies, such as express.json(). Express removes the mount's path from
  // requests.
  Express: async () => {
    const app = express()
    app.use('/matchmaking', nodeListener(apiAt('')))
    app.use(express.json())
    const server = createServer((message, response) => void app(message, response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return { port: portOf(server), close: () => void server.close() }
  },

  // Fastify must not read the bodies of the API's routes.
  Fastify: async () => {
    const app = fastify()
    const listener: (message: IncomingMessage, response: ServerResponse) => void = nodeListener(apiAt('/matchmaking'))
    await app.register(async (scope) => {
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', (_request, _payload, done) => done(null))
      scope.all('/matchmaking/*', (request, reply) => {
        reply.hijack()
        listener(request.raw, reply.raw)
      })
    })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return { port: portOf(app.server), close: () => app.close() }
  },

  // Hono on Node.js passes on the request of node:http. On other runtimes: `(context) => api(context.req.raw, {
  // remoteAddress })`.
  Hono: async () => {
    const app = new Hono<{ Bindings: HttpBindings }>()
    const listener: (message: HttpBindings['incoming'], response: HttpBindings['outgoing']) => void = nodeListener(
      apiAt('/matchmaking'),
    )
    app.all('/matchmaking/*', ({ env }) => {
      listener(env.incoming, env.outgoing)
      return RESPONSE_ALREADY_SENT
    })
    const server = await new Promise<ReturnType<typeof serve>>((resolve) => {
      const starting = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, () => resolve(starting))
    })
    return { port: portOf(server), close: () => void server.close() }
  },
}

interface Ticket {
  readonly id: string
  readonly status: string
  readonly version: number
  readonly match_id: string | null
  readonly assignment: { readonly ports: Readonly<Record<string, { readonly link: string }>> } | null
}

/** The requests of a game client. */
function player(base: string, token: string) {
  const ask = async (method: string, path: string, body?: object) => {
    const headers = { authorization: token, 'content-type': 'application/json' }
    const response = await fetch(base + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    assert.ok(response.ok, `${method} ${path}: ${response.status}`)
    return response
  }
  return {
    ask,
    waitFor: async (profile: string) =>
      (await (await ask('POST', '/tickets', { profile, attributes: {} })).json()) as Ticket,
    /** Waits for the server by long poll. */
    poll: async (ticket: Ticket): Promise<Ticket> => {
      let now = ticket
      while (now.status !== 'HOST_ASSIGNED') {
        now = (await (await ask('GET', `/tickets/${now.id}?wait=25&version=${now.version}`)).json()) as Ticket
      }
      return now
    },
    /** Waits for the server by server-sent events. The last event has the server's address. */
    listen: async ({ id }: Ticket): Promise<Ticket> => {
      const events = (await (await ask('GET', `/tickets/${id}/events`)).text())
        .split('\n')
        .filter((line) => line.startsWith('data: '))
      return JSON.parse(events.at(-1)?.slice('data: '.length) ?? '') as Ticket
    },
  }
}

/** Sends a body that never ends, as an attacker might. It costs the server a few bytes, and only for a short time. */
async function sendWithoutEnd(base: string, token: string): Promise<number> {
  const body = new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode('{')) })
  const headers = { authorization: token, 'content-type': 'application/json' }
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', headers, body, duplex: 'half' }
  return (await fetch(`${base}/tickets`, init)).status
}

for (const [name, start] of Object.entries(adapters)) {
  const { port, close } = await start()
  const base = `http://127.0.0.1:${port}/matchmaking`
  const [ann, ben] = [player(base, 'token-of-ann'), player(base, 'Bearer token-of-ben')]
  const [annsTicket, bensTicket] = [await ann.waitFor('duel'), await ben.waitFor('duel')]
  const [annsServer, bensServer] = await Promise.all([ann.listen(annsTicket), ben.poll(bensTicket)])
  // Only the ports are equal: each player's assignment has its own join token.
  assert.deepEqual(annsServer.assignment?.ports, bensServer.assignment?.ports)
  console.log(`${name}: ann and ben play at ${annsServer.assignment?.ports['game']?.link}`)
  assert.equal(await sendWithoutEnd(base, 'token-of-ann'), 408)
  assert.equal(await sendWithoutEnd(base, 'token-of-nobody'), 401)
  await player(base, 'token-of-our-backend').ask('DELETE', `/matches/${annsServer.match_id}`)
  await close()
}

assert.deepEqual(await matchmaker.close({ stopServers: true }), [])
await client.close()
await emulator.close()
