import { SendAborted } from '@muster/core'
import { Allocator } from '../fleet/allocator.js'
import { createPolledSource } from '../sources/polled-source.js'
import { createServiceSource } from '../sources/service/service-source.js'
import { BROWSER, type Definitions, EXTERNAL } from './definitions.fixture.js'
import type { ServerCalls } from './game-process.fixture.js'
import type { Life } from './life.fixture.js'
import type { ServerLog } from '../store/index.js'
import type { OpenStorage, Storage, TestSources, Ticket } from './storage.fixture.js'
import { createTickets, type Tickets } from './tickets.fixture.js'
import type { Witness } from './witness.fixture.js'

/** A deliberate defect of a Muster process. The schedules must find it. */
export interface Mutant {
  readonly log?: (log: ServerLog, life: Life) => ServerLog
  readonly sources?: (sources: TestSources) => TestSources
}

interface MusterOptions {
  readonly life: Life
  readonly storage: Storage
  readonly sources: TestSources
  readonly definitions: Definitions
  readonly maxServers: number
  readonly witness: Witness
  readonly mutant: Mutant
}

/** A simulated Muster process with an allocator and tickets. */
export interface Muster {
  readonly life: Life
  tick(): void
  /** Returns the running process. Undefined before it has taken over its store, and after its end. */
  running(): RunningMuster | undefined
}

export interface RunningMuster extends ServerCalls {
  readonly allocator: Allocator
  readonly tickets: Tickets
  readonly storage: OpenStorage
  /** Commands of players and operators. Each resolves once its effect is stored. */
  create(ticket: Ticket): Promise<void>
  cancel(ticketId: string): Promise<void>
  stop(matchId: string): Promise<void>
  drain(serverId: string): Promise<void>
}

const LIST_LAG_MS = 3000
export const OWN_TAG = 'mm-schedules'
const SECRET = 'a master secret of at least thirty-two bytes'

/** Rejects a request when `mayWrite` returns false, like the real client. */
const asked = ({ service, allocator }: TestSources): TestSources => {
  const may = (options: { readonly mayWrite?: (() => boolean) | undefined } | undefined) => {
    if (options?.mayWrite?.() === false) throw new SendAborted('not sent', { sent: false })
  }
  return {
    service: {
      ...service,
      create: async (input, options) => {
        may(options)
        return service.create(input, options)
      },
      stop: async (input, options) => {
        may(options)
        return service.stop(input, options)
      },
    },
    allocator: {
      ...allocator,
      allocate: async (wanted, options) => {
        may(options)
        return allocator.allocate(wanted, options)
      },
      stop: async (id, options) => {
        may(options)
        return allocator.stop(id, options)
      },
    },
  }
}

const ofLife = ({ service, allocator }: TestSources, { alive, isDead }: Life): TestSources => {
  const gated =
    <Given extends readonly unknown[], Answer>(call: (...given: Given) => Promise<Answer>) =>
    (...given: Given): Promise<Answer> =>
      isDead() ? new Promise(() => {}) : alive(call(...given))
  return {
    service: {
      create: gated(service.create),
      get: gated(service.get),
      stop: gated(service.stop),
      list: gated(service.list),
    },
    allocator: {
      allocate: gated(allocator.allocate),
      poll: gated(allocator.poll),
      stop: gated(allocator.stop),
    },
  }
}

/** Tells the witness of each end of a match before the end is written, because the process may die during the write. */
const noting = (log: ServerLog, witness: Pick<Witness, 'ends'>): ServerLog => ({
  ...log,
  append: (entries) => {
    for (const entry of entries) if (entry.kind === 'over') witness.ends(entry.matchId)
    return log.append(entries)
  },
})

type PartsOptions = Pick<MusterOptions, 'life' | 'definitions' | 'maxServers' | 'sources'> & {
  readonly log: ServerLog
  readonly tickets: Tickets
  readonly taken: Witness['taken']
}

function allocatorOf({ life, definitions, maxServers, sources, log, tickets, taken }: PartsOptions): Allocator {
  const { clock, random } = life
  const nothing = () => {}
  return new Allocator({
    sources: {
      service: createServiceSource({
        service: sources.service,
        clock,
        random,
        ownTag: OWN_TAG,
        readsPerSecond: 10,
        listLagMs: LIST_LAG_MS,
        orphanGraceMs: 20_000,
      }),
      others: new Map([
        [EXTERNAL, createPolledSource({ allocator: sources.allocator, clock, random, lagMs: LIST_LAG_MS })],
      ]),
    },
    serverLog: log,
    clock,
    stopwatch: () => 0,
    random,
    masterSecret: () => SECRET,
    bound: { maxServers, maxStarting: maxServers, maxCreatesPerMinute: Infinity },
    maxCreatesInFlight: 4,
    pools: definitions.pools,
    browser: BROWSER,
    seatUnused: nothing,
    assertMayStart: nothing,
    inherited: tickets.inherited,
    on: {
      ...tickets.on,
      created: nothing,
      used: nothing,
      up: nothing,
      faulty: nothing,
      logs: nothing,
      stopped: nothing,
      reaped: nothing,
      problem: nothing,
      servers: { registered: nothing, draining: nothing, lost: nothing, returned: nothing, taken, freed: nothing },
    },
  })
}

export function startMuster(options: MusterOptions): Muster {
  const { life, storage, definitions, witness, mutant } = options
  let running: RunningMuster | undefined
  let tick = () => {}

  const begin = (open: OpenStorage) => {
    const fenced = asked(open.fenced(options.sources))
    const log = noting(mutant.log?.(open.serverLog, life) ?? open.serverLog, witness)
    const tickets = createTickets({
      storage: () => open,
      allocator: () => allocator,
      queues: definitions.queues,
      clock: life.clock,
      random: life.random,
      heard: {
        told: (...told) => void (life.isDead() || witness.told(...told)),
        over: (...over) => void (life.isDead() || witness.over(...over)),
      },
    })
    tickets.load(open.tickets)
    const allocator = allocatorOf({
      ...options,
      sources: ofLife(mutant.sources?.(fenced) ?? fenced, life),
      log,
      tickets,
      taken: (...taken) => void (life.isDead() || witness.taken(...taken)),
    })
    expected = tickets.expected
    gone = (ids) => {
      for (const id of ids) tickets.cancel(id)
    }
    running = {
      ...callsOf(life, allocator, witness),
      ...commandsOf(life, open, allocator, tickets, witness),
      allocator,
      tickets,
      storage: open,
    }
    tick = () => {
      if (!allocator.recovery.attempt()) return
      open.advance()
      allocator.advance(life.clock.now())
      tickets.makeMatches((id) => void (life.isDead() || witness.begun(id)))
    }
  }

  let expected: Tickets['expected'] = () => []
  let gone: (ticketIds: readonly string[]) => void = () => {}
  const opened = storage.open(life, { expected: (id) => expected(id), gone: (ids) => gone(ids) })
  if (opened instanceof Promise) void life.alive(opened).then(begin)
  else begin(opened)
  return {
    life,
    tick: () => void (life.isDead() || life.isSuspended() || tick()),
    running: () =>
      life.isDead() || life.isSuspended() || running?.allocator.recovery.isDone() !== true ? undefined : running,
  }
}

function callsOf({ alive, isDead }: Life, allocator: Allocator, witness: Pick<Witness, 'answers'>): ServerCalls {
  return {
    registerServer: (token, registration) => allocator.serverCalls.registerServer(token, registration),
    reportServer: (token, report) =>
      alive(
        (async () => {
          const { orders, before } = allocator.serverCalls.reportServer(token, report)
          const about = new Set([...before, ...report.matches.map(({ id }) => id)])
          await Promise.all(Array.from(about, (id) => allocator.recorded(id)))
          if (!isDead()) witness.answers(report)
          return orders
        })(),
      ),
    enrolServer: (key, request) =>
      alive(
        (async () => {
          const server = allocator.enrolling.enrol(key, request, undefined)
          await allocator.recorded(server.id)
          return server
        })(),
      ),
  }
}

/** Makes a command ignore failures: a command that could not be stored counts as never acknowledged. */
const unlessFailing = (command: (id: string) => Promise<void>) => (id: string) => command(id).catch(() => {})

function commandsOf(life: Life, open: OpenStorage, allocator: Allocator, tickets: Tickets, witness: Witness) {
  const { alive, isDead } = life
  return {
    create: async (ticket: Ticket) => {
      try {
        await alive(open.create(ticket))
      } catch {
        return
      }
      tickets.learn(ticket)
      if (!isDead()) witness.created(ticket.id)
    },
    cancel: unlessFailing(async (ticketId: string) => {
      const before = tickets.find(ticketId)?.state
      if (before !== 'searching' && before !== 'matched') return
      const matchId = tickets.cancel(ticketId)
      if (matchId !== undefined) await alive(Promise.resolve(allocator.recorded(matchId)))
      await alive(open.flushed())
      if (!isDead() && tickets.find(ticketId)?.state === 'cancelled') witness.cancelled(ticketId)
    }),
    stop: unlessFailing(async (matchId: string) => {
      witness.excuse(matchId)
      tickets.dissolve(matchId, 'stopped', false)
      await alive(Promise.resolve(allocator.recorded(matchId)))
      if (!isDead()) witness.stopped(matchId)
    }),
    drain: unlessFailing(async (serverId: string) => {
      if (!allocator.drainServer(serverId)) return
      await alive(Promise.resolve(allocator.recorded(serverId)))
      if (!isDead()) witness.drained(serverId)
    }),
  }
}

/** Returns the entries that a process writes while it takes over the stored records, and the tickets afterwards. */
export function recovered(
  { log, written, tickets: stored }: ReturnType<Storage['copy']>,
  life: Life,
  definitions: Definitions,
) {
  const waits = () => new Promise<never>(() => {})
  const sources: TestSources = {
    service: { create: waits, get: waits, stop: waits, list: waits },
    allocator: { allocate: waits, poll: waits, stop: waits },
  }
  const storage = { put: () => {}, putResult: () => {} }
  const tickets = createTickets({
    storage: () => storage as unknown as OpenStorage,
    allocator: () => allocator,
    queues: definitions.queues,
    clock: life.clock,
    random: life.random,
    heard: { told: () => {}, over: () => {} },
  })
  tickets.load(stored)
  let isOver = false
  const once: ServerLog = { ...log, append: (entries) => (isOver ? waits() : log.append(entries)) }
  const allocator = allocatorOf({ life, definitions, maxServers: 0, sources, log: once, tickets, taken: () => {} })
  const before = written().length
  allocator.recovery.attempt()
  isOver = true
  allocator.abandon()
  return { entries: written().slice(before), tickets: [...tickets.all()] }
}
