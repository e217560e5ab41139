import { readdir, rm, stat, writeFile } from 'node:fs/promises'
import { isAbsolute, join } from 'node:path'
import { InvalidInput, NoCapacity, SendAborted, TimedOut } from '@muster/core'
import { type Clock, dateOf, type Random, systemClock, systemRandom } from '@muster/core/clock'
import { makeFolder, read, within } from '@muster/core/internal'
import { z } from 'zod'
import type { AllocatedServer, ServerAllocator, WantedServer } from '../server-allocator.js'
import { assertPosix, isAlive, outputOf, startDetached, stateOf, stopDetached, textOf } from './detached-process.js'
import { drawPort } from './free-port.js'

export interface LocalAllocatorOptions {
  /**
   * The program and its arguments, run without a shell. `{application}` and `{version}` in an argument are replaced by
   * the server's application and version.
   */
  readonly command: readonly string[]
  /** The working directory. Default: that of this process. */
  readonly folder?: string | undefined
  /** Absolute path of a folder for servers' output and for data that survives a restart. For one Muster only. */
  readonly state: string
  /** Protocol of each port of a server, by the port's name. Default: `{ game: 'UDP' }`. */
  readonly ports?: Readonly<Record<string, string>> | undefined
  /** The range from which ports are chosen, inclusive. Default: 20000 to 29999. */
  readonly portRange?: { readonly from: number; readonly to: number } | undefined
  /** Host name or IP address that players get. Default: 127.0.0.1. */
  readonly host?: string | undefined
  /** Maximum number of concurrent servers, up to 1000. Default 10. */
  readonly max?: number | undefined
  /** Milliseconds between SIGTERM and SIGKILL, up to 15,000. Default 10,000. */
  readonly graceMs?: number | undefined
  /** Bytes above which a server's output is rotated. One earlier part is kept. Default 262,144. */
  readonly outputLimit?: number | undefined
  /**
   * Environment variables for each server. Default: PATH, HOME and a few others of this process, none of them secret.
   */
  readonly env?: Readonly<Record<string, string>> | undefined
  /** True if `close` ends the servers. Default false: they keep running, and the next process finds them. */
  readonly endsServers?: boolean | undefined
  readonly clock?: Clock | undefined
  readonly random?: Random | undefined
}

/** An allocator that runs servers as processes on this machine. */
export interface LocalAllocator extends ServerAllocator {
  /** Ends the servers that this allocator has started, if `endsServers` is true. */
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

/** Variables of this process that servers get because few programs run without them. Other variables may be secrets. */
const PASSED = ['PATH', 'HOME', 'USER', 'LANG', 'LC_ALL', 'TZ', 'TMPDIR']
const ID = /^[a-z0-9-]{1,40}$/
const DAY_MS = 86_400_000
/** Milliseconds from the first poll until a running server that was never polled is ended: the time of twelve polls. */
const FORGOTTEN_MS = 60_000
/** Milliseconds after which the stop of such a server is tried again. */
const AGAIN_MS = 15_000
const SWEEP_MS = 3_600_000
const PORTS_FILE = 'ports.json'

type Ports = Readonly<Record<string, number>>

/**
 * Creates an allocator that runs each server as a process on this machine. A server outlives this process, even if it
 * is killed. Its folder below `state` has all data with which the next process finds it. A server that the next
 * process does not poll within a minute is ended.
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
  /** Servers that may run, by id, with their ports. */
  const known = new Map<string, Ports>()
  /** Ids of the servers that this process has started. */
  const own = new Set<string>()
  /** Ids of servers from before a restart that were not polled yet. */
  const unasked = new Set<string>()
  let loaded: Promise<void> | undefined
  /** Set by the first poll. */
  let ending: Promise<void> | undefined
  const closing = new AbortController()
  let sweptAt = -Infinity
  /** The last start. Servers start one after another, so that no port is chosen twice and at most `max` servers run. */
  let turn: Promise<unknown> = Promise.resolve()

  const folderOf = (id: string) => join(state, id)

  /** Finds the running servers in the folder. Not before the first call, because another process may still use it. */
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

  /** Removes the folders of servers that ended more than a day ago. */
  const sweep = async () => {
    if (clock.now() - sweptAt < SWEEP_MS) return
    sweptAt = clock.now()
    for (const id of await entriesOf(state)) {
      const { mtimeMs } = await stat(folderOf(id))
      if (known.has(id) || dateOf(clock) - mtimeMs < DAY_MS || !(await isOfServer(folderOf(id)))) continue
      if (await isAlive(folderOf(id))) continue
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
    // The previous Muster process may still be starting this server, with the ports in the server's file.
    const drawn = (await portsOf(folderOf(id))) ?? (await drawPorts())
    if (!mayWrite()) throw new SendAborted('allocate: not sent, because mayWrite returned false', { sent: false })
    await makeFolder(folderOf(id), 0o700)
    await writeFile(join(folderOf(id), PORTS_FILE), JSON.stringify(drawn), { mode: 0o600 })
    known.set(id, drawn)
    own.add(id)
    const filled = options.command.map((part) =>
      part.replaceAll('{application}', application).replaceAll('{version}', version),
    )
    await startDetached(
      folderOf(id),
      {
        command: filled,
        cwd,
        outputLimit,
        env: { ...env, ...environment, ...portVariables(id, drawn, ports) },
      },
      clock,
    )
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
   * Ends the servers from before a restart that are not polled in time. No store has a record of them. Muster may send
   * no further poll, because it polls only servers that it knows.
   */
  const endForgotten = async () => {
    for (let waitMs = FORGOTTEN_MS; unasked.size > 0; waitMs = AGAIN_MS) {
      await clock.sleep(waitMs, closing.signal)
      await Promise.all(Array.from(unasked, (id) => stop(id).catch(() => {})))
    }
  }

  return {
    // A started server is visible at once, so a short lag is enough.
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
      // The start continues, so `sent` is true: the server may run later.
      if (isStarted === undefined)
        throw new TimedOut(`allocate: the process did not start within ${timeoutMs} ms`, { sent: true, timeoutMs })
    },
    poll: async (ids) => {
      await load()
      for (const id of ids) unasked.delete(id)
      ending ??= endForgotten().catch(() => {}) // The allocator was closed.
      return Promise.all(ids.map(readStatus))
    },
    stop: async (id) => {
      assertId(id)
      await load()
      await stop(id)
    },
    logs: async (id) => (ID.test(id) ? outputOf(folderOf(id), outputLimit) : ''),
    close: async () => {
      closing.abort()
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

/** True for a folder that an allocator has made for a server. Other folders must not be removed. */
const isOfServer = async (folder: string): Promise<boolean> =>
  (await stateOf(folder)).status !== 'unknown' || (await textOf(join(folder, PORTS_FILE))) !== undefined

/** Returns the names of the folders that may be those of servers. */
async function entriesOf(state: string): Promise<readonly string[]> {
  try {
    const entries = await readdir(state, { withFileTypes: true })
    return entries.filter((entry) => entry.isDirectory() && ID.test(entry.name)).map(({ name }) => name)
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
    // The file is incomplete, because its process died while writing it. No server was started with it.
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

/** Returns the variables with a server's ports, as the deployment service sets them for `portsIn` of game-server. */
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
