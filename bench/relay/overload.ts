import { atLeast, atMost, median, type Figure } from '../figure.js'
import type { Load } from './load.js'
import { coresUsed, machineTime } from './machine-time.js'
import type { Relayer, Relayers } from './relayers.js'

/** Packets per second that must get through at overload, by their size in bytes. */
const DELIVERED_GOAL = { 64: 130_000, 1200: 110_000 } as const
export type Size = keyof typeof DELIVERED_GOAL
/**
 * Sent packets as a multiple of the goal: more than get through, but not so many that the load takes the relay's core.
 */
const OVERLOAD = 1.5
/** Minimum share of the packets that `node:dgram` delivers when it only forwards. */
const FORWARDING_GOAL = 0.9
/** Maximum cost of a packet relative to plain forwarding, in CPU time and in delay. */
export const FORWARDING_COST_GOAL = 1.11
/** Minimum share of the packets that a TURN server delivers. */
const TURN_GOAL = 0.6
const SECONDS = 1
const ROUNDS = 5

/** The result of sending more packets than get through. */
interface Overload {
  readonly sentPerSecond: number
  readonly deliveredPerSecond: number
  /** CPU microseconds of the relaying process for each delivered packet, including packets of the warm-up. */
  readonly cpuMicrosecondsEach: number
  /** Number of cores that other processes used meanwhile. If it is not close to 0, the figures mean little. */
  readonly coresUsedByOthers: number
}

type Round = Readonly<Record<'relay' | 'forwarding', Overload>> & { readonly turn: Overload | undefined }

/**
 * Measures round by round. Relay, plain forwarding and TURN take turns, so that all find the machine in the same state.
 */
export async function overloaded(load: Load, size: Size, relayers: Relayers) {
  const rounds: Round[] = []
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await floodEach(load, size, relayers, round % 2 === 1))
  const of = (name: 'relay' | 'forwarding', key: keyof Overload) => rounds.map((round) => round[name][key])
  const shares = (key: keyof Overload) => rounds.map(({ relay, forwarding }) => relay[key] / forwarding[key])
  const beside = (key: keyof Overload) =>
    `${rounded(median(of('relay', key)))} of ${rounded(median(of('forwarding', key)))}`
  const delivered = `relay: ${size} B packets delivered`
  const figures: Figure[] = [
    atLeast(`${delivered} at overload`, of('relay', 'deliveredPerSecond'), DELIVERED_GOAL[size], 'packets/s'),
    atLeast(
      `${delivered} against node:dgram that only forwards`,
      shares('deliveredPerSecond'),
      FORWARDING_GOAL,
      '×',
      `${beside('deliveredPerSecond')} packets/s, of ${rounded(median(of('relay', 'sentPerSecond')))} sent`,
    ),
    atMost(
      `relay: CPU of a ${size} B packet against node:dgram that only forwards`,
      shares('cpuMicrosecondsEach'),
      FORWARDING_COST_GOAL,
      '×',
      `${beside('cpuMicrosecondsEach')} µs`,
    ),
  ]
  const found: Record<string, unknown> = {
    relay: mediansOf(rounds.map(({ relay }) => relay)),
    forwarding: mediansOf(rounds.map(({ forwarding }) => forwarding)),
  }
  const compared = rounds.flatMap(({ relay, turn }) => (turn === undefined ? [] : [{ relay, turn }]))
  if (compared.length === 0) return { figures, found: { ...found, coturn: relayers.turn } }
  const turnShares = compared.map(({ relay, turn }) => relay.deliveredPerSecond / turn.deliveredPerSecond)
  figures.push(atLeast(`${delivered} against coturn`, turnShares, TURN_GOAL, '×'))
  return { figures, found: { ...found, coturn: mediansOf(compared.map(({ turn }) => turn)) } }
}

/** Measures each way once. `backwards` reverses the order, as every other round does. */
async function floodEach(load: Load, size: Size, relayers: Relayers, backwards: boolean): Promise<Round> {
  const { relay, forwarding, turn } = relayers
  const flooded = async () => ({ turn: typeof turn === 'string' ? undefined : await flood(load, size, turn) })
  if (!backwards) {
    const ours = await flood(load, size, relay)
    return { relay: ours, forwarding: await flood(load, size, forwarding), ...(await flooded()) }
  }
  const theirs = { ...(await flooded()), forwarding: await flood(load, size, forwarding) }
  return { ...theirs, relay: await flood(load, size, relay) }
}

async function flood(load: Load, size: Size, { way, cpuMicroseconds }: Relayer): Promise<Overload> {
  const [before, machineBefore] = [await cpuMicroseconds(), machineTime()]
  const outcome = await load.order({ way, size, perSecond: DELIVERED_GOAL[size] * OVERLOAD, seconds: SECONDS })
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

function mediansOf(rounds: readonly Overload[]): Overload {
  const of = (key: keyof Overload) => rounded(median(rounds.map((round) => round[key])))
  return {
    sentPerSecond: of('sentPerSecond'),
    deliveredPerSecond: of('deliveredPerSecond'),
    cpuMicrosecondsEach: of('cpuMicrosecondsEach'),
    coresUsedByOthers: of('coresUsedByOthers'),
  }
}

const rounded = (value: number) => Number(value.toPrecision(3))
