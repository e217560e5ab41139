/**
 * A load generator for the ticket API, in a process of its own. It repeats a request with as little code as possible.
 */
import { connect, type Socket } from 'node:net'
import { systemClock } from '@muster/core/clock'
import { tokenOf } from '../server/configuration.js'
import type { Credentials, Load } from './ticket-api-messages.js'

process.on('message', async (load: Load) => {
  if (load.kind === 'create') await create(load)
  else await wait(load)
  process.send?.('done')
})
process.on('disconnect', () => process.exit())

/** Returns a request as the bytes that are sent. */
function requestOf(port: number, token: string, method: string, path: string, body = ''): string {
  const content = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  const headers = `host: 127.0.0.1:${port}\r\nauthorization: ${token}\r\naccept: */*\r\nuser-agent: bench\r\n`
  const head = `${method} ${path} HTTP/1.1\r\n${headers}`
  return `${head}${content}\r\n${body}`
}

const attributes = (player: number) => ({ skill: 1000 + (player % 1000), ...stated })
const stated = { mode: 'ranked', maps: ['ice', 'fog'] }

/** The attributes that a player states. A player whose token contains the skill does not state it. */
const attributesBy: Readonly<Record<Credentials, (player: number) => object>> = {
  names: attributes,
  tokens: () => stated,
}
const authorizations: Readonly<Record<Credentials, (player: number) => string>> = {
  names: (player) => `player-${player}`,
  tokens: (player) => `Bearer ${tokenOf(player, systemClock.now())}`,
}

function creation(port: number, player: number, count: number, credentials: Credentials): string {
  if (count === 1)
    return requestOf(
      port,
      authorizations[credentials](player),
      'POST',
      '/tickets',
      JSON.stringify({ profile: 'duel', attributes: attributesBy[credentials](player) }),
    )
  const tickets = Array.from({ length: count }, (_, index) => ({
    profile: 'duel',
    player_id: `player-${player + index}`,
    player_ip: `203.0.113.${(player + index) % 256}`,
    attributes: attributes(player + index),
  }))
  return requestOf(port, 'backend', 'POST', '/tickets/batch', JSON.stringify({ tickets }))
}

/** Creates tickets. Each connection sends its next request when the previous one is answered. */
async function create({ port, credentials, from, ...load }: Load & { kind: 'create' }): Promise<void> {
  const { tickets, perRequest, connections } = load
  // Created beforehand, so that the server does not wait for this process.
  const requests = Array.from({ length: tickets / perRequest }, (_, index) =>
    creation(port, from + index * perRequest, perRequest, credentials),
  ).values()
  // Keeps this process awake. Otherwise the server would have to wake it for each response, and that would be charged
  // to the server.
  let done = false
  const stayAwake = () => {
    if (!done) setImmediate(stayAwake)
  }
  stayAwake()
  await Promise.all(Array.from({ length: connections }, () => sendAll(port, requests)))
  done = true
}

function sendAll(port: number, requests: Iterator<string>): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let missing = 0
    const next = () => {
      const { value, done } = requests.next()
      if (done !== true) return void socket.write(value)
      socket.destroy()
      resolve()
    }
    socket.once('connect', next).once('error', reject)
    socket.on('data', (data) => {
      missing = missing > 0 ? missing - data.byteLength : bodyMissing(data)
      if (missing === 0) next()
    })
  })
}

/** Returns the number of missing bytes of the response that begins in `data`, whose head is complete. */
function bodyMissing(data: Buffer): number {
  const head = data.indexOf('\r\n\r\n')
  const text = data.toString('latin1', 0, head)
  if (!/^HTTP\/1\.1 20[01]/.test(text)) throw new Error(`not answered as expected: ${data.toString()}`)
  const length = Number(/content-length: (\d+)/i.exec(text)?.[1])
  return head + 4 + length - data.byteLength
}

const CONNECTING_AT_ONCE = 64

/** Lets players wait. Each has an own connection, which stays open. */
async function wait({ from, waiters, ...load }: Load & { kind: 'wait' }): Promise<void> {
  let next = from
  const openSome = async () => {
    while (next < from + waiters) await waitFor(load, next++)
  }
  await Promise.all(Array.from({ length: CONNECTING_AT_ONCE }, openSome))
}

/** Resolves once the player waits. */
async function waitFor(
  { port, way, credentials }: Pick<Load & { kind: 'wait' }, 'port' | 'way' | 'credentials'>,
  player: number,
): Promise<void> {
  const socket = await connected(port)
  const created = await ask(socket, creation(port, player, 1, credentials))
  const id = /"id":"([^"]+)"/.exec(created)?.[1] ?? ''
  const path = way === 'events' ? `/tickets/${id}/events` : `/tickets/${id}?wait=30`
  const request = requestOf(port, authorizations[credentials](player), 'GET', path)
  if (way === 'events') return void (await ask(socket, request))
  // No data arrives until the long poll ends. Then the next one begins.
  socket.on('data', () => socket.write(request))
  socket.write(request)
}

function connected(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => resolve(socket)).once('error', reject)
  })
}

function ask(socket: Socket, request: string): Promise<string> {
  return new Promise((resolve) => {
    socket.once('data', (data) => resolve(data.toString()))
    socket.write(request)
  })
}
