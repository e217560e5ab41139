/** Sends packets by one way (relay, plain forwarding, TURN or direct) and receives them, in a process of its own. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Order, Outcome, Way } from './messages.js'
import { openWay, type OpenWay, type Sender } from './ways.js'

/** Milliseconds at the end, for packets that are still under way. */
const DRAIN_MS = 200
/** Seconds after which the compilers of all processes have done their work. */
const WARM_UP_SECONDS = 0.5
/** Maximum number of due packets that are sent before any is received. */
const MOST_AT_ONCE = 48

/**
 * The open ways of sending packets. Each is opened on first use and stays open, because the relay knows each user at
 * one address.
 */
const ways = new Map<Way['kind'], Promise<OpenWay>>()

type Ran = Omit<Outcome, 'receivedInAll' | 'cpuMicroseconds'>

process.on('message', async (order: Order) => {
  const { kind } = order.way
  const opening = ways.get(kind) ?? openWay(order.way)
  ways.set(kind, opening)
  const way = await opening
  const before = process.cpuUsage()
  const warmUp = await run(way, { ...order, seconds: WARM_UP_SECONDS })
  const ran = await run(way, order)
  const { user, system } = process.cpuUsage(before)
  const outcome: Outcome = { ...ran, receivedInAll: warmUp.received + ran.received, cpuMicroseconds: user + system }
  process.send?.(outcome)
})
process.on('disconnect', () => process.exit())

async function run(way: OpenWay, { perSecond, size, seconds }: Order): Promise<Ran> {
  const senders = way.senders.map((sender) => stampedSender(sender, size))
  const latencies = new Float64Array(Math.ceil(2 * perSecond * seconds))
  let sent = 0
  let received = 0
  const stop = onData(way, (sentAt) => {
    latencies[received++] = performance.now() - sentAt
  })

  const start = performance.now()
  let now = start
  while (now - start < seconds * 1000) {
    const due = Math.floor(((now - start) / 1000) * perSecond)
    for (const most = Math.min(due, sent + MOST_AT_ONCE); sent < most; sent++) senders[sent % senders.length]?.()
    await turn()
    now = performance.now()
  }
  const receivedInTime = received
  await sleep(DRAIN_MS)
  stop()
  return {
    sent,
    received,
    receivedInTime,
    seconds: (now - start) / 1000,
    latency: percentiles(latencies.subarray(0, received)),
  }
}

/** Creates a function that sends a datagram of this size with the time in its payload. */
function stampedSender({ socket, header }: Sender, size: number): () => void {
  const before = header(size)
  // The same buffer is used every time, because the system has copied it when `send` returns.
  const datagram = Buffer.concat([before, Buffer.alloc(size - before.length)])
  return () => {
    datagram.writeDoubleLE(performance.now(), before.length)
    socket.send(datagram)
  }
}

/** Calls the listener for each packet, with the time in its payload. Returns a function that ends this. */
function onData({ receivers, receivedAt }: OpenWay, listener: (sentAt: number) => void): () => void {
  const hear = (datagram: Buffer) => {
    // The relay's answers to pings are shorter, and are ignored.
    if (datagram.length >= receivedAt + 8) listener(datagram.readDoubleLE(receivedAt))
  }
  for (const receiver of receivers) receiver.on('message', hear)
  return () => {
    for (const receiver of receivers) receiver.off('message', hear)
  }
}

function percentiles(milliseconds: Float64Array): { readonly p50: number; readonly p99: number } {
  const sorted = milliseconds.toSorted()
  const at = (share: number) => Math.round((sorted[Math.floor(sorted.length * share)] ?? Number.NaN) * 1000)
  return { p50: at(0.5), p99: at(0.99) }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
