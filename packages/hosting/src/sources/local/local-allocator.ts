import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { InvalidInput, NoCapacity, SendAborted, TimedOut } from '@muster/core'
import { type Clock, dateOf, type Random, systemClock, systemRandom } from '@muster/core/clock'
import { read, within } from '@muster/core/internal'
import { z } from 'zod'
import type { AllocatedServer, ServerAllocator, WantedServer } from '../server-allocator.js'
import { assertPosix, isAlive, outputOf, startDetached, stateOf, stopDetached, textOf } from './detached-process.js'
import { drawPort } from './free-port.js'

export interface LocalAllocatorOptions {
  /**
   * The program and its arguments, run without a shell. `{application}` and `{version}` in an argument are replaced by
   * the names that the server has.
   */
  readonly command: readonly string[]
  /** The working directory. Default: that of this process. */
  readonly folder?: string | undefined
  /**
   * An absolute path: a folder for data that must survive a restart, and for the output of servers. It belongs to one
   * Muster.
   */
  readonly state: string
  /** Name and protocol of each port of a server. Default: `{ game: 'UDP' }`. */
  readonly ports?: Readonly<Record<string, string>> | undefined
  /** The range of ports, inclusive. Default: 20000 to 29999. */
  readonly portRange?: { readonly from: number; readonly to: number } | undefined
  /** Host name or address for players. Default: 127.0.0.1. */
  readonly host?: string | undefined
  /** Maximum number of concurrent servers, up to 1000. Default 10. */
  readonly max?: number | undefined
  /** Milliseconds from SIGTERM to SIGKILL, up to 15,000. Default 10,000. */
  readonly graceMs?: number | undefined
  /** Maximum number of bytes of each server's output, kept twice. Default 262,144. */
  readonly outputLimit?: number | undefined
  /** Additional variables of each server. Default: this process' variables that are not secrets, such as PATH. */
  readonly env?: Readonly<Record<string, string>> | undefined
  /**
   * True ends the servers when the allocator is closed. Default false: they run on, and the next process finds them.
   */
  readonly endsServers?: boolean | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
}

/** An allocator of processes on this machine. Calls after `close` find the processes that still run. */
export interface LocalAllocator extends ServerAllocator {
  /** Ends the allocator's servers if `endsServers` is true. */
  close(): Promise<void>
}

const portSchema = z.int().min(1).max(65_535)
const optionsSchema = z.object({
  command: z.array(z.string()).min(1),
  state: z.string().refine(isAbsolute, 'must be an absolute path'),
  ports: z.record(z.string().regex(/^[\w-]{1,64}$/), z.string()).default({ game: 'UDP' }),
  portRange: z
    .object({ from: portSchema, to: portSchema })
    .refine(({ from, to }) => from <= to, 'must not end before it begins')
    .default({ from: 20_000, to: 29_999 }),
  max: z.int().min(1).max(1000).default(10),
  graceMs: z.number().min(0).max(15_000).default(10_000),
  outputLimit: z.int().min(1).default(262_144),
})

/** Variables of this process that a server gets because programs do not run without them. The others may be secrets. */
const PASSED = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR']
const ID = /^[a-z0-9-]{1,40}$/
const DAY_MS = 86_400_000
/** Milliseconds from the first poll until a server of an earlier process counts as forgotten: twelve polls. */
const FORGOTTEN_MS = 60_000
const SWEEP_MS = 3_600_000
const PORTS_FILE = 'ports.json'

type Ports = Readonly<Record<string, number>>

/**
 * Runs each server as a process on this machine. It outlives this process, even after SIGKILL, because its folder below
 * `state` has the necessary data. A server that no later process polls within a minute is ended.
 * @throws {InvalidInput} with `field`, if an option is invalid, or on Windows
 */
export function createLocalAllocator(options: LocalAllocatorOptions): LocalAllocator {
  const { ports, portRange, max, graceMs, outputLimit } = read(
    optionsSchema,
    options,
    (field, message) => new InvalidInput(message, { field }),
  )
  assertPosix()
  const { state, folder: cwd = process.cwd(), host = '127.0.0.1', endsServers = false } = options
  const { clock = systemClock, random = systemRandom, env = passedOn() } = options
  /** Servers that may run, with their ports. */
  const known = new Map<string, Ports>()
  /** Servers of `known` that this process has started. */
  const own = new Set<string>()
  /** Servers of an earlier process that were not polled yet. */
  const unasked = new Set<string>()
  let loaded: Promise<void> | undefined
  let firstPollAt: number | undefined
  let sweptAt = -Infinity
  /** Servers start one after another, so that no port is drawn twice and at most `max` servers run. */
  let turn: Promise<unknown> = Promise.resolve()

  const folderOf = (id: string) => join(state, id)

  /** Reads the folder at the first call, not earlier, because another process may still use it before. */
  const load = () =>
    (loaded ??= (async () => {
      for (const id of await entriesOf(state)) {
        if ((await stateOf(folderOf(id))).status !== 'running') continue
        known.set(id, (await portsOf(folderOf(id))) ?? {})
        unasked.add(id)
      }
    })().catch((error: unknown) => {
      loaded = undefined
      throw error
    }))

  /** Removes forgotten servers. */
  const sweep = async () => {
    if (clock.now() - sweptAt < SWEEP_MS) return
    sweptAt = clock.now()
    for (const id of await entriesOf(state)) {
      const { mtimeMs } = await stat(folderOf(id))
      if (known.has(id) || dateOf(clock) - mtimeMs < DAY_MS || (await isAlive(folderOf(id)))) continue
      await rm(folderOf(id), { recursive: true, force: true })
    }
  }

  const start = async ({ id, application, version, environment }: WantedServer, mayWrite: () => boolean) => {
    const { status } = await stateOf(folderOf(id))
    if (status === 'running') return
    if (status !== 'unknown')
      throw new InvalidInput(`id: server ${JSON.stringify(id)} has ended. Use a new id.`, { field: 'id' })
    await sweep()
    for (const one of known.keys()) {
      if (await isAlive(folderOf(one))) continue
      known.delete(one)
      own.delete(one)
    }
    if (known.size >= max)
      throw new NoCapacity(`allocate: this machine already runs ${max} servers, its maximum`, { operation: 'allocate' })
    // An earlier process may be starting this server at this moment, with the ports in the file.
    const drawn = (await portsOf(folderOf(id))) ?? (await drawPorts())
    if (!mayWrite()) throw new SendAborted('allocate: not sent, because mayWrite returned false', { sent: false })
    await mkdir(folderOf(id), { recursive: true, mode: 0o700 })
    await writeFile(join(folderOf(id), PORTS_FILE), JSON.stringify(drawn), { mode: 0o600 })
    known.set(id, drawn)
    own.add(id)
    const filled = options.command.map((part) =>
      part.replaceAll('{application}', application).replaceAll('{version}', version),
    )
    await startDetached(folderOf(id), {
      command: filled,
      cwd,
      outputLimit,
      env: { ...env, ...environment, ...portVariables(id, drawn, ports) },
    })
  }
  const drawPorts = async (): Promise<Ports> => {
    const taken = new Set([...known.values()].flatMap(Object.values<number>))
    const drawn: Record<string, number> = {}
    for (const name of Object.keys(ports)) {
      drawn[name] = await drawPort(portRange, taken, random)
      taken.add(drawn[name])
    }
    return drawn
  }

  const readStatus = async (id: string): Promise<AllocatedServer> => {
    if (!ID.test(id)) return { id, status: 'unknown' }
    const { status, detail } = await stateOf(folderOf(id))
    if (status !== 'running') return { id, status, ...(detail !== undefined && { detail }) }
    const given = known.get(id) ?? (await portsOf(folderOf(id))) ?? {}
    known.set(id, given)
    const assigned = Object.entries(given).map(
      ([name, port]) => [name, { port, protocol: ports[name] ?? 'UDP' }] as const,
    )
    return { id, status: 'ready', host, ports: Object.fromEntries(assigned) }
  }
  const stop = async (id: string) => {
    await stopDetached(folderOf(id), graceMs, clock)
    known.delete(id)
    own.delete(id)
    unasked.delete(id)
  }
  /**
   * Ends the forgotten servers of an earlier process. No process knows them, because its store was lost or it had none.
   */
  const endForgotten = () => {
    firstPollAt ??= clock.now()
    if (clock.now() - firstPollAt < FORGOTTEN_MS) return
    for (const id of unasked) {
      unasked.delete(id)
      void stop(id).catch(() => unasked.add(id))
    }
  }

  return {
    // Started servers are visible at once.
    lagMs: 1000,
    allocate: async (wanted, { timeoutMs = 30_000, mayWrite = () => true }) => {
      assertId(wanted.id)
      await load()
      const started = turn.then(() => start(wanted, mayWrite))
      turn = started.catch(() => {})
      const isStarted = await within(
        started.then(() => true),
        timeoutMs,
        clock,
      )
      // The start continues, so the error says that the call was sent.
      if (isStarted === undefined)
        throw new TimedOut(`allocate: the process did not start within ${timeoutMs} ms`, { sent: true, timeoutMs })
    },
    poll: async (ids) => {
      await load()
      for (const id of ids) unasked.delete(id)
      endForgotten()
      return Promise.all(ids.map(readStatus))
    },
    stop: async (id) => {
      assertId(id)
      await load()
      await stop(id)
    },
    logs: async (id) => (ID.test(id) ? outputOf(folderOf(id)) : ''),
    close: async () => {
      await turn
      if (endsServers) await Promise.all([...own].map((id) => stop(id).catch(() => {})))
    },
  }
}

function assertId(id: string): void {
  if (!ID.test(id))
    throw new InvalidInput(`id: must have 1 to 40 characters of a–z, 0–9 and -, got ${JSON.stringify(id)}`, {
      field: 'id',
    })
}

/** Returns the names of folders that are ids of servers. */
async function entriesOf(state: string): Promise<readonly string[]> {
  try {
    return (await readdir(state)).filter((name) => ID.test(name))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw error
  }
}

async function portsOf(folder: string): Promise<Ports | undefined> {
  const text = await textOf(join(folder, PORTS_FILE))
  try {
    return text === undefined ? undefined : (JSON.parse(text) as Ports)
  } catch {
    // The file is incomplete, because the process that wrote it died. No server was started.
    return undefined
  }
}

const passedOn = () =>
  Object.fromEntries(
    PASSED.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )

/**
 * Returns variables with the server's ports, like those of the deployment service. See `portsIn` of
 * @muster/game-server.
 */
const portVariables = (id: string, own: Ports, protocols: Readonly<Record<string, string>>) => ({
  SERVICE_REQUEST_ID: id,
  ...Object.fromEntries(
    Object.entries(own).flatMap(([name, port]) => {
      const prefix = `SERVICE_PORT_${name.toUpperCase().replaceAll('-', '_')}`
      return [
        [`${prefix}_INTERNAL`, String(port)],
        [`${prefix}_EXTERNAL`, String(port)],
        [`${prefix}_PROTOCOL`, protocols[name] ?? 'UDP'],
      ]
    }),
  ),
})
