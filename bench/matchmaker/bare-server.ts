/** The work of node:http alone: a server that reads each body, and answers with as many bytes as a ticket has. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TicketServerState } from './ticket-api-messages.js'

const ticket = JSON.stringify({
  id: '0123456789abcdefghijk',
  profile: 'duel',
  created_at: new Date(0).toISOString(),
  status: 'SEARCHING',
  group_id: '0123456789abcdefghijk',
  team_id: null,
  match_id: null,
  assignment: null,
  player_id: 'player-10000',
  version: 1,
  waiting_for: 'players',
  estimated_wait: null,
})
const headers = ['content-length', String(ticket.length), 'content-type', 'application/json']

let tickets = 0
const server = createServer((message, response) => {
  message.resume().once('end', () => {
    tickets += 1
    response.writeHead(200, headers).end(ticket)
  })
})

function state(): TicketServerState {
  const { user, system } = process.cpuUsage()
  return {
    port: (server.address() as AddressInfo).port,
    cpuMicroseconds: user + system,
    residentBytes: process.memoryUsage.rss(),
    waiting: 0,
    tickets,
  }
}

server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () => process.send?.(state()))
process.on('message', () => process.send?.(state()))
process.on('disconnect', () => process.exit())
