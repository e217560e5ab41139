import { fork, type ChildProcess } from 'node:child_process'
import { atLeast, atMost, median, type Figure, type Figures } from '../figure.js'
import { answer, letGo } from './answer.js'
import { coresUsed, machineTime } from './machine-time.js'
import type { Order, Outcome, RelaySessionInfo, RelaySpent, Way } from './messages.js'
import { startTurnServer, type TurnServer } from './turn-server.js'

const SIZES = [64, 1200] as const
type Size = (typeof SIZES)[number]

/** Packets per second that must get through at overload. */
const DELIVERED_GOAL: Readonly<Record<Size, number>> = { 64: 130_000, 1200: 110_000 }
/** How much of that is sent: more than gets through, but not so much that the load takes the relay's core. */
const OVERLOAD = 1.5
/** Of what a TURN server delivers. */
const TURN_GOAL = 0.6
const OVERLOAD_SECONDS = 1.5
/** The median of which counts. */
const OVERLOAD_ROUNDS = 5
/** Packets per second none of which may be lost. */
const EASY = 10_000
const EASY_SECONDS = 10
const DIRECT_SECONDS = 1

/** Something that relays, and what of the processor it has used. */
interface Relayer {
  readonly way: Way
  cpuMicroseconds(): Promise<number>
}

/**
 * The emulator's relay, in a process of its own, with 8 sessions of 4 users: three clients in each send to
 * their host. One other process is all 32 of them, so that two cores are enough. A TURN server gets the same
 * load from the same process, round by round in turn, so that both see the machine as it is at the moment.
 */
export async function dataPlaneFigures(): Promise<Figures> {
  const turnServer = await startTurnServer()
  const child = fork(new URL('./relay-process.js', import.meta.url))
  const load = fork(new URL('./load-process.js', import.meta.url))
  try {
    const sessions = await answer<readonly RelaySessionInfo[]>(child)
    const relay: Relayer = { way: { kind: 'relay', sessions }, cpuMicroseconds: () => relayCpu(child) }
    const turn = typeof turnServer === 'string' ? undefined : turnRelayer(turnServer)
    const figures: Figure[] = []
    const peers: Record<string, unknown> = {}
    for (const size of SIZES) {
      const overload = await overloaded(load, size, relay, turn)
      const quiet = await atEase(load, size, relay.way)
      figures.push(...overload.figures, ...quiet.figures)
      peers[`relay: ${size} B`] = { overload: overload.ours, ...quiet.found }
      peers[`relay: ${size} B through coturn`] = overload.theirs ?? turnServer
    }
    return { figures, peers }
  } finally {
    letGo(load)
    letGo(child)
    if (typeof turnServer !== 'string') await turnServer.stop()
  }
}

const turnRelayer = ({ port, cpuMicroseconds }: TurnServer): Relayer => ({
  way: { kind: 'turn', port },
  cpuMicroseconds,
})

async function relayCpu(child: ChildProcess): Promise<number> {
  child.send('how much?')
  return (await answer<RelaySpent>(child)).cpuMicroseconds
}

/** What comes of more packets than get through. */
interface Overload {
  readonly sentPerSecond: number
  readonly deliveredPerSecond: number
  /** Of the relayer's processor time, for each packet delivered, those of the warming up included. */
  readonly cpuMicrosecondsEach: number
  /** Cores that others used meanwhile: where that is not next to nothing, the figures say little. */
  readonly coresUsedByOthers: number
}

/** The relay and the TURN server by turns, and each of them first by turns. */
async function overloaded(load: ChildProcess, size: Size, relay: Relayer, turn: Relayer | undefined) {
  const rounds: { readonly ours: Overload; readonly theirs: Overload | undefined }[] = []
  for (let round = 0; round < OVERLOAD_ROUNDS; round += 1) {
    const before = turn === undefined || round % 2 === 0 ? undefined : await flood(load, size, turn)
    const ours = await flood(load, size, relay)
    rounds.push({ ours, theirs: before ?? (turn && (await flood(load, size, turn))) })
  }
  const ours = medianOf(rounds.map((round) => round.ours))
  const delivered = `relay: ${size} B packets delivered`
  const figures = [atLeast(`${delivered} at overload`, ours.deliveredPerSecond, DELIVERED_GOAL[size], 'packets/s')]
  if (turn === undefined) return { figures, ours }
  const compared = rounds.flatMap(({ ours: mine, theirs }) => (theirs === undefined ? [] : [{ mine, theirs }]))
  const shares = compared.map(({ mine, theirs }) => mine.deliveredPerSecond / theirs.deliveredPerSecond)
  return {
    figures: [...figures, atLeast(`${delivered} against coturn`, median(shares), TURN_GOAL, '×')],
    ours,
    theirs: medianOf(compared.map(({ theirs }) => theirs)),
  }
}

async function flood(load: ChildProcess, size: Size, { way, cpuMicroseconds }: Relayer): Promise<Overload> {
  const [before, machineBefore] = [await cpuMicroseconds(), machineTime()]
  const outcome = await order(load, {
    way,
    size,
    perSecond: DELIVERED_GOAL[size] * OVERLOAD,
    seconds: OVERLOAD_SECONDS,
  })
  const [cpu, machine] = [(await cpuMicroseconds()) - before, machineTime()]
  const others = machine.usedMicroseconds - machineBefore.usedMicroseconds - cpu - outcome.cpuMicroseconds
  const { sent, receivedInTime, seconds, receivedInAll } = outcome
  return {
    sentPerSecond: sent / seconds,
    deliveredPerSecond: receivedInTime / seconds,
    cpuMicrosecondsEach: cpu / receivedInAll,
    coresUsedByOthers: Math.max(0, coresUsed(others, machineBefore, machine)),
  }
}

function medianOf(rounds: readonly Overload[]): Overload {
  const of = (key: keyof Overload) => Number(median(rounds.map((round) => round[key])).toPrecision(3))
  return {
    sentPerSecond: of('sentPerSecond'),
    deliveredPerSecond: of('deliveredPerSecond'),
    cpuMicrosecondsEach: of('cpuMicrosecondsEach'),
    coresUsedByOthers: of('coresUsedByOthers'),
  }
}

/** A load that loses no packets, for delays: those without a relay, measured before or after, whichever is faster. */
async function atEase(load: ChildProcess, size: Size, way: Way) {
  const withoutRelay = () => order(load, { way: { kind: 'direct' }, size, perSecond: EASY, seconds: DIRECT_SECONDS })
  const before = await withoutRelay()
  const easy = await order(load, { way, size, perSecond: EASY, seconds: EASY_SECONDS })
  const after = await withoutRelay()
  const direct = before.latency.p50 < after.latency.p50 ? before : after
  const figures: readonly Figure[] = [
    atMost(
      `relay: added latency p50 of ${size} B packets at 10,000/s`,
      easy.latency.p50 - direct.latency.p50,
      60,
      'µs',
    ),
    atMost(`relay: ${size} B packets lost at 10,000/s in ${EASY_SECONDS} s`, easy.sent - easy.received, 0, 'packets'),
  ]
  return { figures, found: { easy, direct } }
}

async function order(load: ChildProcess, wanted: Order): Promise<Outcome> {
  load.send(wanted)
  return answer<Outcome>(load)
}
