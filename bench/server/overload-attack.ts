/** Attacks the program from a process of its own, with as little code as possible, and counts the responses. */
import { connect, type Socket } from 'node:net'
import { tokenOf } from './configuration.js'
import type { Attack, Attacked, AttackKind } from './overload-messages.js'

/**
 * Number of players in the crowd. Each player may send 10 requests per second, so the limit per player does not weaken
 * the attack.
 */
const PLAYERS = 20_000
const CONNECTIONS: Readonly<Record<AttackKind, number>> = { capacity: 64, bodies: 32, crowd: 4000, pipelined: 100 }
const PIPELINED = 300
const OPENING_AT_ONCE = 50
/** Milliseconds between two parts of the crowd's requests. */
const PART_MS = 10

const request = (token: string, body: string | Buffer, path = '/tickets') =>
  Buffer.concat([
    Buffer.from(
      `POST ${path} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\n` +
        `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n`,
    ),
    Buffer.from(body),
  ])

let players = 0
const tokens: string[] = []
/** Returns a create by the next player of the crowd. */
function create(): Buffer {
  players += 1
  const nth = players % PLAYERS
  const token = (tokens[nth] ??= tokenOf(1_000_000 + nth, Date.now()))
  return request(token, '{"profile":"duel","attributes":{"mode":"ranked"}}')
}

/**
 * Returns bodies of one caller: near the limit of 1 MiB and no JSON, deeply nested, with many names, with wrong types,
 * and too large.
 */
function wrongBodies(): readonly Buffer[] {
  const token = tokenOf(999_999, Date.now())
  const names = Array.from({ length: 20_000 }, (_, nth) => `"name-${nth}":[${nth}]`).join()
  const bodies = [
    'x'.repeat(1_000_000),
    '['.repeat(500_000),
    `{"profile":"duel","attributes":{${names}}}`,
    `{"profile":[${'{},'.repeat(100_000)}0]}`,
    'x'.repeat(4_000_000),
  ]
  return bodies.map((body) => request(token, body))
}

async function attack({ kind, port, seconds, perSecond = Infinity }: Attack): Promise<Attacked> {
  const answers: Record<number, number> = {}
  const note = (status: number) => void (answers[status] = (answers[status] ?? 0) + 1)
  let sent = 0
  let connected = 0
  let isOver = false
  const bodies = kind === 'bodies' ? wrongBodies() : []
  const pipelined = kind === 'pipelined' ? Buffer.concat(Array.from({ length: PIPELINED }, create)) : undefined
  if (kind === 'crowd' || kind === 'capacity') for (let nth = 0; nth < PLAYERS; nth += 1) create()
  const idle: Link[] = []
  const sockets = new Set<Socket>()

  interface Link {
    readonly socket: Socket
    missing: number
    isOpen: boolean
  }
  const next = (link: Link) => {
    if (isOver) return
    if (kind === 'crowd') return void idle.push(link)
    link.missing = pipelined === undefined ? 1 : PIPELINED
    sent += link.missing
    link.socket.write(pipelined ?? bodies[sent % bodies.length] ?? create())
  }
  const open = (): void => {
    if (isOver) return
    const socket = connect(port, '127.0.0.1')
    const link = { socket, missing: 0, isOpen: false }
    sockets.add(socket)
    socket.on('connect', () => {
      link.isOpen = true
      connected += 1
      next(link)
    })
    socket.on('error', () => {})
    socket.on('data', (data) => {
      for (const [, status] of data.toString('latin1').matchAll(/HTTP\/1\.1 (\d+)/g)) {
        note(Number(status))
        link.missing -= 1
        if (link.missing === 0) next(link)
      }
    })
    socket.on('close', () => {
      sockets.delete(socket)
      if (link.isOpen) connected -= 1
      if (isOver) return
      note(0)
      // A connection that was ended is not opened again at once, because that would be another attack.
      setTimeout(open, PART_MS)
    })
  }
  for (let opened = 0; opened < CONNECTIONS[kind]; opened += 1) {
    open()
    // Opens fewer connections at once than the system accepts. Further ones would be retried after a second, even those
    // of other clients.
    while (sockets.size - connected >= OPENING_AT_ONCE) await new Promise((resolve) => setTimeout(resolve, 1))
  }
  const begun = performance.now()
  const end = begun + seconds * 1000
  while (performance.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, PART_MS))
    if (kind !== 'crowd') continue
    let due = Math.min(((performance.now() - begun) / 1000) * perSecond - sent, idle.length)
    for (; due >= 1; due -= 1) {
      const link = idle.shift() as Link
      link.missing = 1
      sent += 1
      link.socket.write(create())
    }
  }
  isOver = true
  const lasted = (performance.now() - begun) / 1000
  for (const socket of sockets) socket.destroy()
  return { sent, seconds: lasted, answers }
}

process.on('message', (order: Attack) => void attack(order).then((attacked) => process.send?.(attacked)))
process.on('disconnect', () => process.exit())
process.send?.('ready')
