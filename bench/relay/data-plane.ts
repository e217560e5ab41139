import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { atLeast, atMost, type Figure, type Figures } from '../figure.js'
import type { Order, Outcome, RelaySessionInfo, RelaySpent, Way } from './messages.js'
import { startTurnServer } from './turn-server.js'

const SIZES = [64, 1200] as const
/** Packets per second that must get through. */
const OVERLOAD_GOAL = { 64: 130_000, 1200: 110_000 } as const
const OVERLOAD_SECONDS = 3
const PER_SECOND = 10_000
const PACED_SECONDS = 10
const DIRECT_SECONDS = 2

/**
 * The emulator's relay, in a process of its own, with 8 sessions of 4 users: three clients in each send to
 * their host. One other process is all 32 of them, so that two cores are enough.
 */
export async function dataPlaneFigures(): Promise<Figures> {
  const relay = fork(new URL('./relay-process.js', import.meta.url))
  const load = fork(new URL('./load-process.js', import.meta.url))
  try {
    const sessions = await answer<readonly RelaySessionInfo[]>(relay)
    const figures: Figure[] = []
    const peers: Record<string, unknown> = {}
    for (const size of SIZES) {
      const { overload, paced, direct, cpu } = await measured(relay, load, { kind: 'relay', sessions }, size)
      const delivered = overload.received / overload.seconds
      const added = (paced.latency?.p50 ?? Number.NaN) - (direct.latency?.p50 ?? Number.NaN)
      figures.push(
        atLeast(`relay: ${size} B packets delivered at overload`, delivered, OVERLOAD_GOAL[size], 'packets/s'),
        atMost(`relay: added latency p50 of ${size} B packets at 10,000/s`, added, 60, 'µs'),
        atMost(`relay: ${size} B packets lost of 10,000/s for ${PACED_SECONDS} s`, paced.sent - paced.received, 0, 'packets'),
      )
      peers[`relay: ${size} B`] = { overload, paced, direct, 'CPU microseconds per packet': cpu }
    }
    return { figures, peers: { ...peers, ...(await turnFigures(load)) } }
  } finally {
    load.disconnect()
    relay.disconnect()
  }
}

async function measured(relay: ChildProcess, load: ChildProcess, way: Way, size: number) {
  const before = await spent(relay)
  const overload = await order(load, { way, load: { kind: 'overload' }, size, seconds: OVERLOAD_SECONDS })
  const after = await spent(relay)
  const evenly = { kind: 'paced', perSecond: PER_SECOND } as const
  const paced = await order(load, { way, load: evenly, size, seconds: PACED_SECONDS })
  const direct = await order(load, { way: { kind: 'direct' }, load: evenly, size, seconds: DIRECT_SECONDS })
  return { overload, paced, direct, cpu: (after.cpuMicroseconds - before.cpuMicroseconds) / (after.relayed - before.relayed) }
}

async function turnFigures(load: ChildProcess): Promise<Readonly<Record<string, unknown>>> {
  const server = await startTurnServer()
  if (server === undefined) return { 'relay: coturn': 'not installed' }
  try {
    const delivered: Record<string, number> = {}
    for (const size of SIZES) {
      const { received, seconds } = await order(load, { way: { kind: 'turn', port: server.port }, load: { kind: 'overload' }, size, seconds: OVERLOAD_SECONDS })
      delivered[`${size} B packets/s delivered at overload`] = Math.round(received / seconds)
    }
    return { 'relay: coturn': delivered }
  } finally {
    await server.stop()
  }
}

async function order(load: ChildProcess, wanted: Order): Promise<Outcome> {
  load.send(wanted)
  return answer<Outcome>(load)
}

async function spent(relay: ChildProcess): Promise<RelaySpent> {
  relay.send('how much?')
  return answer<RelaySpent>(relay)
}

/** Its next message. @throws Error when it ends instead. */
async function answer<Message>(child: ChildProcess): Promise<Message> {
  const ended = new AbortController()
  const onExit = () => ended.abort(new Error('a process of the benchmark has ended'))
  child.once('exit', onExit)
  try {
    const [message] = (await once(child, 'message', { signal: ended.signal })) as [Message]
    return message
  } finally {
    child.off('exit', onExit)
  }
}
