import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { atLeast, atMost, median, type Figure, type Figures } from '../figure.js'
import type { Order, Outcome, RelaySessionInfo, RelaySpent, Way } from './messages.js'
import { startTurnServer } from './turn-server.js'

const SIZES = [64, 1200] as const
type Size = (typeof SIZES)[number]

/** Packets per second that must get through at overload. */
const DELIVERED_GOAL: Readonly<Record<Size, number>> = { 64: 130_000, 1200: 110_000 }
/** How much of that is sent: more than gets through, but not so much that the load takes the relay's core. */
const OVERLOAD = 1.5
/** To a TURN server, which lets more through. This is what one process can send and receive. */
const TURN_OVERLOAD = 2
/** Of what a TURN server delivers. */
const TURN_GOAL = 0.6
const OVERLOAD_SECONDS = 1.5
/** The median of which counts. */
const OVERLOAD_ROUNDS = 3
/** Packets per second none of which may be lost. */
const EASY = 10_000
const EASY_SECONDS = 10
const DIRECT_SECONDS = 1

/**
 * The emulator's relay, in a process of its own, with 8 sessions of 4 users: three clients in each send to
 * their host. One other process is all 32 of them, so that two cores are enough.
 */
export async function dataPlaneFigures(): Promise<Figures> {
  const relay = fork(new URL('./relay-process.js', import.meta.url))
  const load = fork(new URL('./load-process.js', import.meta.url))
  try {
    const way: Way = { kind: 'relay', sessions: await answer<readonly RelaySessionInfo[]>(relay) }
    const small = await relayed(relay, load, way, 64)
    const large = await relayed(relay, load, way, 1200)
    const turn = await turnDelivered(load)
    return {
      figures: [...small.figures, ...large.figures, ...againstTurn({ 64: small.delivered, 1200: large.delivered }, turn)],
      peers: { 'relay: 64 B': small.found, 'relay: 1200 B': large.found, 'relay: coturn, packets/s delivered at overload': turn },
    }
  } finally {
    load.disconnect()
    relay.disconnect()
  }
}

async function relayed(relay: ChildProcess, load: ChildProcess, way: Way, size: Size) {
  const before = await spent(relay)
  const overload = await overloaded(load, way, size, OVERLOAD)
  const after = await spent(relay)
  const easy = await order(load, { way, size, perSecond: EASY, seconds: EASY_SECONDS })
  const direct = await order(load, { way: { kind: 'direct' }, size, perSecond: EASY, seconds: DIRECT_SECONDS })
  const { delivered } = overload
  const figures: readonly Figure[] = [
    atLeast(`relay: ${size} B packets delivered at overload`, delivered, DELIVERED_GOAL[size], 'packets/s'),
    atMost(`relay: added latency p50 of ${size} B packets at 10,000/s`, easy.latency.p50 - direct.latency.p50, 60, 'µs'),
    atMost(`relay: ${size} B packets lost at 10,000/s in ${EASY_SECONDS} s`, easy.sent - easy.received, 0, 'packets'),
  ]
  const cpu = (after.cpuMicroseconds - before.cpuMicroseconds) / (after.relayed - before.relayed)
  return { figures, delivered, found: { overload, easy, direct, 'CPU microseconds per packet at overload': cpu } }
}

/** Packets per second sent, and delivered, when more are sent than get through. */
async function overloaded(load: ChildProcess, way: Way, size: Size, factor: number) {
  const rounds: Outcome[] = []
  for (let round = 0; round < OVERLOAD_ROUNDS; round++) {
    rounds.push(await order(load, { way, size, perSecond: DELIVERED_GOAL[size] * factor, seconds: OVERLOAD_SECONDS }))
  }
  return {
    sent: Math.round(median(rounds.map(({ sent, seconds }) => sent / seconds))),
    delivered: Math.round(median(rounds.map(({ receivedInTime, seconds }) => receivedInTime / seconds))),
  }
}

/** The same through a TURN server, or why there is none. */
async function turnDelivered(load: ChildProcess): Promise<Readonly<Record<Size, number>> | string> {
  const server = await startTurnServer()
  if (server === undefined) return 'coturn is not installed'
  const way: Way = { kind: 'turn', port: server.port }
  try {
    const small = await overloaded(load, way, 64, TURN_OVERLOAD)
    const large = await overloaded(load, way, 1200, TURN_OVERLOAD)
    return { 64: small.delivered, 1200: large.delivered }
  } catch {
    return 'coturn is installed, but does not answer'
  } finally {
    await server.stop()
  }
}

function againstTurn(ours: Readonly<Record<Size, number>>, turn: Readonly<Record<Size, number>> | string): readonly Figure[] {
  if (typeof turn === 'string') return []
  return SIZES.map((size) =>
    atLeast(`relay: ${size} B packets delivered against coturn`, ours[size] / turn[size], TURN_GOAL, '×'),
  )
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
