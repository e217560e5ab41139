import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ask } from './ask.js'
import { findRedisServer, howToGetRedis } from './find.js'
import { endsWithThisProcess } from './guard.js'

export interface RedisServerOptions {
  /** How often the append-only file is synced. `none`: there is no such file. Default 'none'. */
  readonly appendOnly?: 'none' | 'everysec' | 'always'
  /** Maximum memory, e.g. '10mb'. Beyond it, writes are refused (`noeviction`). Default: no limit. */
  readonly maxMemory?: string
  /** True: starts a cluster of one node that has all slots. Default false. */
  readonly cluster?: boolean
  /** Port of the server that this server replicates. Default: none. */
  readonly replicaOf?: number
  /** Further settings, as on the command line, e.g. `['--requirepass', 'secret']`. */
  readonly settings?: readonly string[]
  /** TCP port, which `restart` keeps. Default: a free port. */
  readonly port?: number
}

/** A redis-server on the loopback address, with its data in an own folder. */
export interface RedisServer {
  readonly port: number
  readonly url: string
  /** Process id. It changes with `restart`. */
  readonly pid: number
  /** Sends a command, e.g. `ask('CONFIG SET maxmemory 1mb')`. Resolves with the raw reply. */
  ask(command: string): Promise<string>
  /** Ends the process, by default with SIGKILL. Resolves once it has ended. The data is kept. */
  kill(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>
  /** Pauses the process by SIGSTOP. */
  pause(): void
  resume(): void
  /** Starts the process again on the same port. With an append-only file, the data is the same. */
  restart(): Promise<void>
  /** Kills the process and deletes its data. */
  close(): Promise<void>
}

/** Milliseconds after which a server that does not respond counts as not started. */
const START_MS = 10_000

/** Starts the redis-server that `findRedisServer` finds. The server ends when this process ends. */
export async function startRedisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-redis-'))
  const port = options.port ?? (await freePort())
  const busPort = options.cluster === true ? await freePort() : undefined
  let child = await begin(options, folder, port, busPort)

  const kill = async (signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL') => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    get pid() {
      return child.pid as number
    },
    ask: (command) => ask(port, command),
    kill,
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    restart: async () => {
      await kill()
      child = await begin(options, folder, port, busPort)
    },
    close: async () => {
      await kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

async function begin(
  options: RedisServerOptions,
  folder: string,
  port: number,
  busPort: number | undefined,
): Promise<ChildProcess> {
  const binary = findRedisServer()
  if (binary === undefined) throw new Error(`there is no redis-server on this machine: ${howToGetRedis}`)
  const env = { ...process.env, ...binary.env }
  const child = spawn(binary.path, argumentsOf(options, folder, port, busPort), {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  if (child.pid !== undefined) endsWithThisProcess(child)
  let said = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (text) => (said = `${said}${text}`.slice(-2000)))
  child.once('error', (error) => (said += String(error)))
  try {
    await until(child, async () => /^\+PONG|^-NOAUTH/.test(await ask(port, 'PING')))
    if (busPort !== undefined) {
      await ask(port, 'CLUSTER ADDSLOTSRANGE 0 16383')
      await until(child, async () => (await ask(port, 'CLUSTER INFO')).includes('cluster_state:ok'))
    }
  } catch {
    child.kill('SIGKILL')
    throw new Error(`redis-server did not start: ${said.trim()}`)
  }
  return child
}

function argumentsOf(options: RedisServerOptions, folder: string, port: number, busPort: number | undefined): string[] {
  const { appendOnly = 'none', maxMemory, replicaOf, settings = [] } = options
  const given = ['--port', `${port}`, '--bind', '127.0.0.1', '--dir', folder, '--save', '']
  if (appendOnly !== 'none') given.push('--appendonly', 'yes', '--appendfsync', appendOnly)
  if (maxMemory !== undefined) given.push('--maxmemory', maxMemory, '--maxmemory-policy', 'noeviction')
  if (busPort !== undefined)
    given.push('--cluster-enabled', 'yes', '--cluster-port', `${busPort}`, '--cluster-announce-ip', '127.0.0.1')
  if (replicaOf !== undefined) given.push('--replicaof', '127.0.0.1', `${replicaOf}`)
  return [...given, ...settings]
}

/** Polls every 10 ms until a condition holds. Rejects if the process ends or the time is over. */
async function until(child: ChildProcess, isSo: () => Promise<boolean>): Promise<void> {
  for (const end = Date.now() + START_MS; ;) {
    if (await isSo().catch(() => false)) return
    if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null || Date.now() > end)
      throw new Error('no')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}
