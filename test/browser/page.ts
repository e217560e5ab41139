import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { bearerToken, nodeListener } from '@muster/core/http'
import { createTicketApi, type QueueDefinition, type TicketApiOptions } from '@muster/matchmaker'
import { duel, openStudio } from '../matchmaker/studio.js'

/** The example page of docs/game-clients.md. */
const page =
  /```html\n([^]*?)```/.exec(readFileSync(new URL('../../docs/game-clients.md', import.meta.url), 'utf8'))?.[1] ?? ''

const client = new URL('../../packages/client/dist/', import.meta.url)

/**
 * Starts a site with that page, the ticket API, and a matchmaker over an emulator. Each session belongs to another
 * player.
 * @param queue fields that override the usual queue
 */
export async function openSite(options: Partial<TicketApiOptions> = {}, queue: Partial<QueueDefinition> = {}) {
  const studio = await openStudio({ matchmaker: { queues: [{ ...duel, ...queue }] } })
  let sessions = 0
  const api = nodeListener(
    createTicketApi(studio.matchmaker, {
      basePath: '/matchmaking',
      authenticate: (request) => {
        const id = bearerToken(request)
        return id === undefined ? undefined : { id }
      },
      ...options,
    }),
  )
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const listener = (message: IncomingMessage, response: ServerResponse) => {
    const url = message.url ?? ''
    requests.push(`${message.method} ${url.replace(/token=.*/, 'token')}`)
    if (url.startsWith('/matchmaking/')) return api(message, response)
    if (url === '/session') {
      const known = /session=(player-\d+)/.exec(message.headers.cookie ?? '')?.[1]
      if (known === undefined) sessions += 1
      const token = known ?? `player-${sessions}`
      response.setHeader('set-cookie', `session=${token}; HttpOnly; SameSite=Strict`)
      return response.setHeader('content-type', 'application/json').end(JSON.stringify({ token }))
    }
    // Serve the built files of @muster/client.
    const file = /^\/muster\/([\w-]+\.js)$/.exec(url)?.[1]
    if (file !== undefined)
      return response.setHeader('content-type', 'text/javascript').end(readFileSync(new URL(file, client)))
    return response.setHeader('content-type', 'text/html').end(url === '/' ? page : '')
  }
  const server = createServer((message, response) => void listener(message, response))
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    ...studio,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    requests,
    /** Breaks all connections, like a network failure. */
    breakConnections: () => {
      for (const socket of sockets) socket.destroy()
    },
    shutSite: async () => {
      for (const socket of sockets) socket.destroy()
      server.close()
      return studio.shut()
    },
  }
}
