/**
 * One process of a partition, or a matchmaker in memory for comparison:
 * `partition-process leader|standby|follower <redis>`, `partition-process memory`.
 */
import { once } from 'node:events'
import { connect, createServer, type AddressInfo } from 'node:net'
import { createInterface } from 'node:readline'
import { createMatchmaker } from '@muster/matchmaker'
import { connectRedis, createRedisPartition } from '@muster/redis'
import type { Answer, Led, Order } from './partition-messages.js'
import {
  assigned,
  cpuUs,
  createAtRate,
  machineNs,
  manyAtOnce,
  readyAtOnce,
  standingTicket,
  ticketOf,
  unbounded,
} from './traffic.js'

const [role = 'memory', redisUrl = ''] = process.argv.slice(2)
process.on('disconnect', () => process.exit())
const tell = (answer: Answer | Led) => void process.send?.(answer)

const service = await (role === 'memory' ? inMemory() : inRedis())
const STANDING_AT_ONCE = 500
let assignedMs: number[] = []
let cpuBefore = cpuUs()

function inMemory() {
  const matchmaker = createMatchmaker({
    ...unbounded,
    deployments: readyAtOnce((requestId) => matchmaker.hint(requestId)),
  })
  matchmaker.start()
  return matchmaker
}

async function inRedis() {
  const redis = await connectRedis({ client: { url: redisUrl } })
  const partition = createRedisPartition({
    ...unbounded,
    redis,
    name: 'bench',
    deployments: readyAtOnce((requestId) => partition.hint(requestId).catch(() => {})),
    canLead: role !== 'follower',
    standby: role === 'standby',
  })
  partition.on('leading', ({ takeoverMs, tickets }) => tell({ kind: 'led', takeoverMs, tickets }))
  partition.start()
  return partition
}

async function waitFor(id: string, since: number): Promise<void> {
  await assigned(service, id)
  assignedMs.push((machineNs() - since) / 1e6)
}

async function listen(): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, async (socket) => {
    const waits: Promise<void>[] = []
    createInterface({ input: socket }).on('line', (line) => {
      const [id = '', since] = line.split(' ')
      waits.push(waitFor(id, Number(since)))
    })
    await once(socket, 'end')
    await Promise.all(waits)
    socket.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  tell({ kind: 'listening', port: (server.address() as AddressInfo).port })
}

async function create({ prefix, rate, seconds, port }: Order & { kind: 'create' }): Promise<void> {
  const other = connect(port, '127.0.0.1')
  await once(other, 'connect')
  const all: Promise<void>[] = []
  const visit = async (id: string) => {
    const since = machineNs()
    await service.createTicket(ticketOf(id))
    other.write(`${id} ${since}\n`)
  }
  await createAtRate(rate, seconds, (nth) => void all.push(visit(`${prefix}${nth}`)))
  await Promise.all(all)
  await once(other.end(), 'close')
  tell({ kind: 'over' })
}

async function work({ prefix, total, atOnce }: Order & { kind: 'work' }): Promise<void> {
  await manyAtOnce(total, atOnce, async (nth) => {
    const id = `${prefix}${nth}`
    const since = machineNs()
    await service.createTicket(ticketOf(id))
    await waitFor(id, since)
  })
  tell({ kind: 'over' })
}

async function stand(total: number): Promise<void> {
  for (let from = 0; from < total; from += STANDING_AT_ONCE) {
    const inputs = Array.from({ length: STANDING_AT_ONCE }, (_, index) => standingTicket(from + index))
    await service.createTickets(inputs)
  }
  tell({ kind: 'over' })
}

function report(collectsGarbage: boolean): void {
  const now = cpuUs()
  if (collectsGarbage) globalThis.gc?.()
  tell({ kind: 'used', cpuUs: now - cpuBefore, heapBytes: process.memoryUsage().heapUsed, assignedMs })
  cpuBefore = cpuUs()
  assignedMs = []
}

process.on('message', (order: Order) => {
  if (order.kind === 'listen') void listen()
  else if (order.kind === 'create') void create(order)
  else if (order.kind === 'work') void work(order)
  else if (order.kind === 'stand') void stand(order.total)
  else report(order.collectsGarbage)
})
tell({ kind: 'started' })
