/** Sends packets one way or another and receives them, in a process of its own. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Order, Outcome, Way } from './messages.js'
import { openWay, type OpenWay, type Sender } from './ways.js'

/** For what is still on its way at the end. */
const DRAIN_MS = 300
/** For the compilers of all processes to have done their work. */
const WARM_UP_SECONDS = 1

/** Opened when first asked for, and left open: the relay knows each user at one place. */
const ways = new Map<Way['kind'], Promise<OpenWay>>()

process.on('message', async (order: Order) => {
  const { kind } = order.way
  const opening = ways.get(kind) ?? openWay(order.way)
  ways.set(kind, opening)
  const way = await opening
  const run = order.load.kind === 'overload' ? overload : paced
  await run(way, { ...order, seconds: WARM_UP_SECONDS })
  const outcome = await run(way, order)
  process.send?.(outcome)
})
process.on('disconnect', () => process.exit())

/** Packets per sender in one turn of the event loop; between the turns what has come is received. */
const BURST = 2

async function overload(way: OpenWay, { size, seconds }: Order): Promise<Outcome> {
  const datagrams = way.senders.map((sender) => ({ socket: sender.socket, datagram: datagramOf(sender, size) }))
  let sent = 0
  let received = 0
  const stop = onData(way, () => {
    received++
  })
  const start = performance.now()
  const end = start + seconds * 1000
  while (performance.now() < end) {
    for (const { socket, datagram } of datagrams) {
      for (let count = 0; count < BURST; count++) socket.send(datagram)
    }
    sent += datagrams.length * BURST
    await turn()
  }
  const outcome = { sent, received, seconds: (performance.now() - start) / 1000, latency: undefined }
  await sleep(DRAIN_MS)
  stop()
  return outcome
}

async function paced(way: OpenWay, { size, seconds, load }: Order): Promise<Outcome> {
  const perSecond = load.kind === 'paced' ? load.perSecond : Number.NaN
  const total = perSecond * seconds
  const latencies = new Float64Array(total)
  let sent = 0
  let received = 0
  const stop = onData(way, (payload) => {
    latencies[received++] = performance.now() - payload.readDoubleLE()
  })
  const start = performance.now()
  while (sent < total) {
    const due = Math.min(total, Math.floor(((performance.now() - start) / 1000) * perSecond))
    for (; sent < due; sent++) {
      const sender = way.senders[sent % way.senders.length] as Sender
      // Each in memory of its own, for the system may take it later.
      const datagram = datagramOf(sender, size)
      datagram.writeDoubleLE(performance.now(), sender.header(size).length)
      sender.socket.send(datagram)
    }
    await turn()
  }
  const elapsed = (performance.now() - start) / 1000
  await sleep(DRAIN_MS)
  stop()
  return { sent, received, seconds: elapsed, latency: percentiles(latencies.subarray(0, received)) }
}

function datagramOf({ header }: Sender, size: number): Buffer {
  const datagram = Buffer.alloc(size)
  header(size).copy(datagram)
  return datagram
}

/** Called with the payload of each packet. Returns what ends that. */
function onData({ receivers, receivedAt }: OpenWay, listener: (payload: Buffer) => void): () => void {
  const hear = (datagram: Buffer) => {
    // Shorter are the relay's answers to pings.
    if (datagram.length > receivedAt + 8) listener(datagram.subarray(receivedAt))
  }
  for (const receiver of receivers) receiver.on('message', hear)
  return () => {
    for (const receiver of receivers) receiver.off('message', hear)
  }
}

function percentiles(milliseconds: Float64Array): { readonly p50: number; readonly p99: number } {
  const sorted = milliseconds.toSorted()
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? Number.NaN) * 1000
  return { p50: at(0.5), p99: at(0.99) }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
