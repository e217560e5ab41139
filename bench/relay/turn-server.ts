import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { openSocket } from './sockets.js'
import { openChannel } from './turn.js'

/** coturn, on a port of this machine. */
export interface TurnServer {
  readonly port: number
  /** Returns CPU microseconds since its start. Linux counts them in hundredths of a second. */
  cpuMicroseconds(): Promise<number>
  stop(): Promise<void>
}

/** Starts coturn. Resolves with the reason if it is not available. */
export async function startTurnServer(): Promise<TurnServer | string> {
  const port = await freePort()
  const child = spawn('turnserver', argumentsFor(port), { stdio: 'ignore' })
  try {
    await once(child, 'spawn')
  } catch {
    return 'coturn is not installed'
  }
  const exited = once(child, 'exit')
  const stop = async () => {
    child.kill()
    await exited
  }
  const socket = await openSocket()
  try {
    socket.connect(port, '127.0.0.1')
    await once(socket, 'connect')
    await openChannel(socket, port)
  } catch {
    await stop()
    return 'coturn is installed, but does not answer'
  } finally {
    socket.close()
  }
  return { port, cpuMicroseconds: () => cpuMicroseconds(child.pid as number), stop }
}

const MICROSECONDS_PER_TICK = 10_000

/**
 * Reads the 14th and 15th fields of /proc/pid/stat (proc(5)). The second field is the program's name in parentheses,
 * which may contain spaces.
 */
async function cpuMicroseconds(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8')
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return (Number(fields[11]) + Number(fields[12])) * MICROSECONDS_PER_TICK
}

/**
 * Returns arguments for one relay thread, like that of the emulator's relay. Only UDP is used, and nothing is logged.
 */
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
