/**
 * The ticket API over a matchmaker whose tickets are never matched, on a port of this machine, in a process of its own.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { bearerToken, nodeListener } from '@muster/core/http'
import { createMatchmaker, createTicketApi } from '@muster/matchmaker'
import { unansweringService } from './services.js'
import type { TicketServerState } from './ticket-api-messages.js'

let tickets = 0
const matchmaker = createMatchmaker({
  deployments: unansweringService,
  queues: [
    {
      name: 'duel',
      matchSize: 2,
      rules: [
        {
          kind: 'difference',
          attribute: 'skill',
          max: [
            { afterMs: 0, value: 50 },
            { afterMs: 10_000, value: 200 },
          ],
        },
      ],
      playerMayState: ['skill', 'mode', 'maps'],
      expireAfterMs: 3600_000,
      deploy: { application: 'game', version: '1' },
    },
  ],
})
matchmaker.on('ticketCreated', () => {
  tickets += 1
})

const api = createTicketApi(matchmaker, {
  authenticate: (request) => {
    const id = bearerToken(request)
    return id === undefined ? undefined : { id, role: id === 'backend' ? 'backend' : 'player' }
  },
  // The limit per address is raised, because all players of the benchmark have one address. Requests are still counted.
  limits: { perAddress: { limit: 1e9, windowMs: 5000 } },
})
const server = createServer(nodeListener(api))
// Connections of waiting players are silent for a long time.
server.keepAliveTimeout = 60_000

function state(): TicketServerState {
  const { user, system } = process.cpuUsage()
  return {
    port: (server.address() as AddressInfo).port,
    cpuMicroseconds: user + system,
    residentBytes: process.memoryUsage.rss(),
    waiting: api.counts().waiting,
    tickets,
  }
}

server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => process.send?.(state()))
process.on('message', () => process.send?.(state()))
process.on('disconnect', () => process.exit())
