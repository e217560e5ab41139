import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSocket } from './sockets.js'

/** coturn, on a port of this machine. */
export interface TurnServer {
  readonly port: number
  stop(): Promise<void>
}

/** Undefined where coturn is not installed. */
export async function startTurnServer(): Promise<TurnServer | undefined> {
  const port = await freePort()
  const child = spawn('turnserver', argumentsFor(port), { stdio: 'ignore' })
  try {
    await once(child, 'spawn')
  } catch {
    return undefined
  }
  const exited = once(child, 'exit')
  return {
    port,
    stop: async () => {
      child.kill()
      await exited
    },
  }
}

/** One relay thread, as the relay has one. Nothing but UDP, and nothing written. */
const argumentsFor = (port: number) =>
  [
    '-n --no-auth --no-cli --no-tcp --no-tls --no-dtls --allow-loopback-peers --relay-threads 1',
    `--listening-ip 127.0.0.1 --relay-ip 127.0.0.1 --listening-port ${port}`,
    '--log-file /dev/null --pidfile /dev/null --userdb /dev/null',
  ].flatMap((line) => line.split(' '))

async function freePort(): Promise<number> {
  const socket = await openSocket()
  const { port } = socket.address()
  await new Promise<void>((resolve) => socket.close(resolve))
  return port
}
