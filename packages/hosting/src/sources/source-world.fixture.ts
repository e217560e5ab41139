import { NoCapacity } from '@muster/core'
import { type ManualClock, seededRandom } from '@muster/core/clock'
import { tagOfCredential } from '../records/index.js'
import { createTestService, lost } from '../service.fixture.js'
import { allocatorSecret, openAllocatorServer } from './allocator-server.fixture.js'
import { createTestAllocator } from './allocator.fixture.js'
import { createHttpAllocator } from './http-allocator.js'
import type { LocalAllocator } from './local/local-allocator.js'
import { openLocalWorld } from './local/local-world.fixture.js'
import { createPolledSource } from './polled-source.js'
import type { ServerAllocator } from './server-allocator.js'
import { createServiceSource } from './service/service-source.js'
import type { OpenSource } from './source.js'

/**
 * What happens to a call. `lost`: nothing, and the response is lost. `effect`: the call takes effect, and the response
 * is lost. `late`: the same, after `lateMs`. `twice`: a proxy repeats the request.
 */
export type Fault = 'ok' | 'lost' | 'effect' | 'late' | 'no-capacity' | 'twice'

/** A simulated source, with access to its servers. */
export interface SourceWorld {
  readonly open: OpenSource
  /** Ids of the running servers whose stop was not requested. An id occurs twice if two servers have it. */
  readonly running: () => readonly string[]
  /** Ends the server with this id, as if by itself. */
  readonly end: (id: string, how: 'failed' | 'ended') => void
  /** Makes the source's later reports about a server invalid. Undefined if this source cannot send invalid reports. */
  readonly garble?: (id: string) => void
  /** Resolves once no request is in flight. */
  readonly settle: () => Promise<void>
}

export interface WorldOptions {
  readonly clock: ManualClock
  /** Returns what happens to the next call. @param isCreate true for a create, false for any other call */
  readonly fault: (isCreate: boolean) => Fault
  readonly lateMs: number
}

export const LAG_MS = 1000

/** Creates a function that performs calls with faults. */
export function createFaults({ clock, fault, lateMs }: WorldOptions) {
  return async <Answer>(isCreate: boolean, act: () => Promise<Answer>): Promise<Answer> => {
    const kind = fault(isCreate)
    // A late call may fail, e.g. because its server was stopped meanwhile.
    const later = () => void act().catch(() => {})
    if (kind === 'no-capacity') throw new NoCapacity('there is no capacity')
    if (kind === 'late') void clock.sleep(lateMs).then(later)
    if (kind === 'effect' || kind === 'twice') await act()
    if (kind !== 'ok' && kind !== 'twice') throw lost
    return act()
  }
}

/** Opens a simulated deployment service, whose list lags. */
function serviceWorld(options: WorldOptions): SourceWorld {
  const { clock } = options
  const service = createTestService({ clock, listLagMs: LAG_MS / 2, fate: () => ({ readyMs: 2000 }) })
  const faulty = createFaults(options)
  const { create, get, stop, list } = service.deployments
  const idOf = (handle: string) =>
    service.records.find(({ requestId }) => requestId === handle)?.tags.find((tag) => tag.startsWith('match-')) ?? ''
  return {
    open: createServiceSource({
      service: {
        create: (input, given) => faulty(true, () => create(input, given)),
        get: (input, given) => faulty(false, () => get(input, given)),
        stop: (input, given) => faulty(false, () => stop(input, given)),
        list: (input, given) => faulty(false, () => list(input, given)),
      },
      clock,
      random: seededRandom(1),
      ownTag: 'mm-test',
      readsPerSecond: 19,
      listLagMs: LAG_MS,
      orphanGraceMs: 10_000,
    }),
    running: () => service.unstopped().map((handle) => idOf(handle).replace(/^match-/, '')),
    end: (id, how) => {
      const record = service.records.find(({ tags }) => tags.includes(tagOfCredential(id)))
      const ms = clock.now() - (record?.createdAt ?? 0)
      const isOver = record?.fate.endMs !== undefined || record?.fate.errorMs !== undefined
      if (record === undefined || isOver) return
      Object.assign(record, { fate: how === 'failed' ? { errorMs: ms } : { endMs: ms } })
    },
    settle: async () => {},
  }
}

function faultyAllocator(options: WorldOptions) {
  const own = createTestAllocator({ clock: options.clock })
  const faulty = createFaults(options)
  const { allocate, poll, stop } = own.allocator
  const allocator: ServerAllocator = {
    allocate: (wanted, given) => faulty(true, () => allocate(wanted, given)),
    poll: (ids, given) => faulty(false, () => poll(ids, given)),
    stop: (id, given) => faulty(false, () => stop(id, given)),
  }
  return { own, allocator }
}

/** Opens a simulated allocator. @param via wraps the allocator */
function allocatorWorld(options: WorldOptions, via = (allocator: ServerAllocator) => allocator): SourceWorld {
  const { clock } = options
  const { own, allocator } = faultyAllocator(options)
  return {
    open: createPolledSource({ allocator: via(allocator), clock, random: seededRandom(1), lagMs: LAG_MS }),
    running: own.running,
    end: own.end,
    garble: own.garble,
    settle: async () => {},
  }
}

/** Opens an HTTP server to which allocators are attached one after another. */
async function openHttpWorlds() {
  let behind: ServerAllocator | undefined
  let underWay = 0
  const needed = () => behind ?? Promise.reject<never>(new Error('no allocator was opened behind the HTTP server'))
  const server = await openAllocatorServer({
    allocator: {
      allocate: async (wanted, given) => (await needed()).allocate(wanted, given),
      poll: async (ids, given) => (await needed()).poll(ids, given),
      stop: async (id, given) => (await needed()).stop(id, given),
    },
  })
  const http = createHttpAllocator({ url: server.url, secret: allocatorSecret })
  const counted = async <Answer>(call: Promise<Answer>): Promise<Answer> => {
    underWay += 1
    try {
      return await call
    } finally {
      underWay -= 1
    }
  }
  const client: ServerAllocator = {
    allocate: (wanted, given) => counted(http.allocate(wanted, given)),
    poll: (ids, given) => counted(http.poll(ids, given)),
    stop: (id, given) => counted(http.stop(id, given)),
  }
  return {
    open: (options: WorldOptions): SourceWorld => ({
      ...allocatorWorld(options, (allocator) => {
        behind = allocator
        return client
      }),
      settle: async () => {
        do await new Promise((resolve) => setImmediate(resolve))
        while (underWay > 0)
      },
    }),
    close: async () => {
      await http.close()
      server.close()
    },
  }
}

/** Opens allocators of processes on this machine. Each has its own folder, and each `open` is like a restart. */
function createLocalWorlds() {
  const opened: Promise<Awaited<ReturnType<typeof openLocalWorld>>>[] = []
  const open = (options: WorldOptions): SourceWorld => {
    const { clock } = options
    const world = openLocalWorld(clock)
    opened.push(world)
    let made: Awaited<typeof world> | undefined
    void world.then((ready) => (made = ready))
    const faulty = createFaults(options)
    const underWay = new Set<Promise<unknown>>()
    const counted = <Answer>(call: Promise<Answer>): Promise<Answer> => {
      const over: Promise<unknown> = call.then(
        () => underWay.delete(over),
        () => underWay.delete(over),
      )
      underWay.add(over)
      return call
    }
    let last: Promise<LocalAllocator> | undefined
    const openAllocator = (): ServerAllocator => {
      // A process that was replaced acts no more: its timers would end servers that only the next one polls.
      void last?.then(({ close }) => close())
      const local = world.then((ready) => ready.open())
      last = local
      const allocate = async (...[wanted, given]: Parameters<ServerAllocator['allocate']>) => {
        await (await local).allocate(wanted, given)
        await (await world).up(wanted.id)
      }
      return {
        allocate: (...given) => faulty(true, () => counted(allocate(...given))),
        poll: (...given) => faulty(false, () => counted(local.then(({ poll }) => poll(...given)))),
        stop: (...given) => faulty(false, () => counted(local.then(({ stop }) => stop(...given)))),
      }
    }
    return {
      open: (listener) => {
        const polled = { allocator: openAllocator(), clock, random: seededRandom(1), lagMs: LAG_MS }
        return createPolledSource(polled)(listener)
      },
      running: () => made?.running() ?? [],
      end: (id, how) => void counted(world.then((ready) => ready.end(id, how))),
      settle: async () => {
        do await new Promise((resolve) => setImmediate(resolve))
        while ((await Promise.all(underWay)).length > 0)
      },
    }
  }
  return { open, close: async () => void (await Promise.all(opened.map(async (world) => (await world).close()))) }
}

/** Opens all kinds of sources. Each must pass the test cases. */
export async function openWorlds() {
  const http = await openHttpWorlds()
  const local = createLocalWorlds()
  return {
    kinds: {
      'the deployment service': serviceWorld,
      'an allocator': (options: WorldOptions) => allocatorWorld(options),
      'an allocator over HTTP': http.open,
      'processes of this machine': local.open,
    },
    close: async () => void (await Promise.all([http.close(), local.close()])),
  }
}
