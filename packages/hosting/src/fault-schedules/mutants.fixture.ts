import { Forbidden } from '@muster/core'
import type { HostingEntry, ServerLog } from '../store/index.js'
import type { Life } from './life.fixture.js'
import type { Mutant } from './muster.fixture.js'

type Kind = HostingEntry['kind']
type LogFault = NonNullable<Mutant['log']>

/** Maximum milliseconds between the early acknowledgement of an entry and its write. */
const LATE_MS = 3000

interface Held {
  readonly entries: readonly HostingEntry[]
  readonly written: () => void
}

/**
 * Returns a defect: the log acknowledges entries of these kinds before it writes them. It writes all entries in order.
 */
const early =
  (...kinds: readonly Kind[]): LogFault =>
  (log: ServerLog, { clock, random }: Life): ServerLog => {
    const held: Held[] = []
    const write = async () => {
      await clock.sleep(random() * LATE_MS)
      for (let first = held[0]; first !== undefined; first = held[0]) {
        try {
          await log.append(first.entries)
        } catch {
          await clock.sleep(1000)
          continue
        }
        held.shift()
        first.written()
      }
    }
    const hold = (entries: readonly HostingEntry[], written = () => {}) => {
      held.push({ entries, written })
      if (held.length === 1) void write()
    }
    return {
      ...log,
      append: (entries) => {
        if (entries.some(({ kind }) => kinds.includes(kind))) return hold(entries)
        if (held.length === 0) return log.append(entries)
        return new Promise((resolve) => hold(entries, resolve))
      },
    }
  }

/** Returns a defect: the log changes or drops entries before it writes them. */
const writes =
  (change: (entry: HostingEntry, all: readonly HostingEntry[]) => HostingEntry | undefined): LogFault =>
  (log: ServerLog): ServerLog => ({
    ...log,
    append: (entries) => {
      const changed = entries.flatMap((entry) => change(entry, entries) ?? [])
      return changed.length === 0 ? undefined : log.append(changed)
    },
  })

type Stored = Awaited<ReturnType<ServerLog['open']>>

/** Returns a defect: the log returns changed records when it is opened. */
const finds =
  (server: (one: Stored['servers'][number]) => object, match: (one: Stored['matches'][number]) => object): LogFault =>
  (log: ServerLog): ServerLog => ({
    ...log,
    open: async (problem) => {
      const { servers, matches } = await log.open(problem)
      return {
        servers: servers.map((one) => ({ ...one, ...server(one) })),
        matches: matches.map((one) => ({ ...one, ...match(one) })),
      }
    },
  })

const nothing = () => ({})

/** The defects by name. The schedules must find each of them with every kind of store. */
export const mutants = {
  'a match is acknowledged before it is stored': { log: early('match') },
  'a create is sent before it is stored': { log: early('sent') },
  'players are sent to a server before the assignment is stored': { log: early('playing') },
  'a match is ended before the end is stored': { log: early('over') },
  'a drain is acknowledged before it is stored': { log: early('draining') },
  'an enrolled server gets its token before it is stored': { log: early('server') },
  'a drain is not stored': { log: writes((entry) => (entry.kind === 'draining' ? undefined : entry)) },
  'the end of a match is not stored': { log: writes((entry) => (entry.kind === 'over' ? undefined : entry)) },
  'the maximum duration of a match is not stored': {
    log: writes((entry) => (entry.kind === 'playing' ? { ...entry, lastsMs: undefined } : entry)),
  },
  'the address of a server is not stored': {
    log: writes((entry) => (entry.kind === 'up' ? { ...entry, assignment: undefined } : entry)),
  },
  'a sent create is not searched for after a restart': {
    log: finds(({ requestId }) => (requestId === undefined ? { sentAt: undefined } : {}), nothing),
  },
  'the assignment of players is ignored after a restart': {
    log: finds(nothing, () => ({ playingSince: undefined })),
  },
  'a lost create counts as absent immediately': {
    sources: ({ service, allocator }) => ({
      service: {
        ...service,
        create: (input, options) => service.create(input, options).catch(() => Promise.reject(new Forbidden('no'))),
      },
      allocator: {
        ...allocator,
        allocate: (wanted, options) =>
          allocator.allocate(wanted, options).catch(() => Promise.reject(new Forbidden('no'))),
      },
    }),
  },
  'every error confirms a stop': {
    sources: ({ service, allocator }) => ({
      service: {
        ...service,
        stop: (input, options) => service.stop(input, options).catch(() => ({ message: 'stopping' })),
      },
      allocator: { ...allocator, stop: (id, options) => allocator.stop(id, options).catch(() => {}) },
    }),
  },
} satisfies Readonly<Record<string, Mutant>>

export type MutantName = keyof typeof mutants
