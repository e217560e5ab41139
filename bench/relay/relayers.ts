import { fork, type ChildProcess } from 'node:child_process'
import { answer, letGo } from './answer.js'
import type { ForwardedPorts, RelaySessionInfo, RelaySpent, Way } from './messages.js'
import { startTurnServer } from './turn-server.js'

/** A program that relays packets, and the CPU time that it has used. */
export interface Relayer {
  readonly way: Way
  cpuMicroseconds(): Promise<number>
  stop(): Promise<void> | void
}

/** The programs that get the same load. */
export interface Relayers {
  /** The emulator's relay. */
  readonly relay: Relayer
  /** `node:dgram` that only forwards. */
  readonly forwarding: Relayer
  /** coturn, or why it is not available. */
  readonly turn: Relayer | string
}

/** Starts each program in a process of its own, with one thread that relays. */
export async function startRelayers(): Promise<Relayers> {
  return {
    relay: await relayerOf(
      fork(new URL('./relay-process.js', import.meta.url)),
      (sessions: readonly RelaySessionInfo[]) => ({ kind: 'relay', sessions }),
    ),
    forwarding: await relayerOf(
      fork(new URL('./forwarding-process.js', import.meta.url)),
      (ports: readonly ForwardedPorts[]) => ({ kind: 'forwarding', ports }),
    ),
    turn: await turnRelayer(),
  }
}

export async function stopRelayers({ relay, forwarding, turn }: Relayers): Promise<void> {
  for (const relayer of [relay, forwarding, turn]) if (typeof relayer !== 'string') await relayer.stop()
}

/**
 * Controls a program that first sends its address, and then answers each message with the CPU time that it has used.
 */
async function relayerOf<Ready>(child: ChildProcess, wayOf: (ready: Ready) => Way): Promise<Relayer> {
  return {
    way: wayOf(await answer<Ready>(child)),
    cpuMicroseconds: async () => {
      child.send('how much?')
      return (await answer<RelaySpent>(child)).cpuMicroseconds
    },
    stop: () => letGo(child),
  }
}

async function turnRelayer(): Promise<Relayer | string> {
  const server = await startTurnServer()
  if (typeof server === 'string') return server
  const { port, cpuMicroseconds, stop } = server
  return { way: { kind: 'turn', port }, cpuMicroseconds, stop }
}
