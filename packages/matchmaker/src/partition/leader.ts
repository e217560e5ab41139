import type { CallOptions } from '@muster/core'
import { linkedSignal, manyWaitOn } from '@muster/core/internal'
import type { ServerAllocator } from '@muster/hosting'
import {
  createMemoryServerLog,
  type DeploymentService,
  type OutboxRecords,
  type ServerLog,
} from '@muster/hosting/internal'
import { eachMethod, rejects } from '../commands.js'
import { MatchmakerClosed } from '../errors.js'
import { assemble, type LearnedWaits, type Matchmaker, type StoredBackfill } from '../matches/index.js'
import type { MatchmakerOptions } from '../options.js'
import type { TicketLoader, Ledger } from '../tickets/index.js'

/**
 * All calls of a leader to the outside go through its gate. Once the gate is shut, no call leaves and no answer is
 * passed on. The promise of a running call then never settles, so that it has no effect.
 */
interface Gate {
  readonly isShut: () => boolean
  /** Aborts running calls. The promises of `promised` reject. */
  shut(): void
  /** Checks that the gate is open. @throws {MatchmakerClosed} once the gate is shut */
  check(): void
  /**
   * Wraps a promise for a caller outside the leader: it resolves like the promise, or rejects once the gate is shut.
   * @throws {MatchmakerClosed}
   */
  promised<Value>(promise: Promise<Value>): Promise<Value>
  service(service: DeploymentService): DeploymentService
  allocator(allocator: ServerAllocator): ServerAllocator
  serverLog(serverLog: ServerLog): ServerLog
  ledger(ledger: Ledger): Ledger
}

/** Applies `map` to each source. */
export const mapSources = (
  sources: MatchmakerOptions['sources'] = {},
  map: (allocator: ServerAllocator) => ServerAllocator,
): Readonly<Record<string, ServerAllocator>> =>
  Object.fromEntries(Object.entries(sources).map(([name, allocator]) => [name, map(allocator)]))

/** Returns a new promise for each caller, because a shared promise would reference all its waiters. */
const never = () => new Promise<never>(() => {})

export function createGate(): Gate {
  const shutting = manyWaitOn()
  const { signal } = shutting
  const closed = () =>
    new MatchmakerClosed('This process no longer leads the partition. Send the call to the new leader.')

  /** Resolves with the call's result, unless the gate is shut by then. */
  const resultIfOpen = <Value>(call: () => Value | Promise<Value>): Promise<Value> => {
    if (signal.aborted) return never()
    return new Promise((resolve, reject) => {
      const called = call()
      if (!(called instanceof Promise)) return resolve(called)
      called.then(
        (value) => signal.aborted || resolve(value),
        (error: Error) => signal.aborted || reject(error),
      )
    })
  }

  const gated =
    <Input, Output>(call: (input: Input, options?: CallOptions) => Promise<Output>) =>
    (input: Input, options: CallOptions = {}): Promise<Output> =>
      resultIfOpen(async () => {
        const linked = linkedSignal(signal, options.signal)
        try {
          return await call(input, { ...options, signal: linked.signal })
        } finally {
          linked.unlink()
        }
      })

  const unlessShut =
    <Given extends unknown[]>(act: (...given: Given) => void) =>
    (...given: Given): void => {
      if (!signal.aborted) act(...given)
    }

  return {
    isShut: () => signal.aborted,
    shut: () => shutting.abort(closed()),
    check: () => {
      if (signal.aborted) throw closed()
    },
    promised: (promise) =>
      new Promise((resolve, reject) => {
        const shut = () => reject(closed())
        if (signal.aborted) return shut()
        signal.addEventListener('abort', shut, { once: true })
        promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', shut))
      }),

    service: (service) => ({
      create: gated((input, options) => service.create(input, options)),
      get: gated((input, options) => service.get(input, options)),
      stop: gated((input, options) => service.stop(input, options)),
      list: gated((input, options) => service.list(input, options)),
      ...(service.logs && { logs: gated(service.logs.bind(service)) }),
    }),
    allocator: (allocator) => ({
      lagMs: allocator.lagMs,
      allocate: gated((wanted, options = {}) => allocator.allocate(wanted, options)),
      poll: gated((ids, options = {}) => allocator.poll(ids, options)),
      stop: gated((id, options = {}) => allocator.stop(id, options)),
      ...(allocator.logs && {
        logs: gated((id, options = {}) => allocator.logs?.(id, options) ?? Promise.resolve('')),
      }),
    }),
    serverLog: (serverLog) => ({
      resumes: serverLog.resumes,
      append: (entries) => {
        if (signal.aborted) return never()
        const appended = serverLog.append(entries)
        return appended instanceof Promise ? resultIfOpen(() => appended) : appended
      },
      open: (problem) => resultIfOpen(() => serverLog.open(problem)),
      close: () => (signal.aborted ? undefined : serverLog.close?.()),
    }),
    ledger: (ledger) => ({
      changed: unlessShut((ticket) => ledger.changed(ticket)),
      served: unlessShut((playerIds) => ledger.served(playerIds)),
      cooldownChanged: unlessShut((...change) => ledger.cooldownChanged(...change)),
      backfillChanged: unlessShut((...change) => ledger.backfillChanged(...change)),
    }),
  }
}

/**
 * The matchmaker of one of several processes that share tickets by a store. It begins as a standby: it receives the
 * tickets by `load` and changes nothing. After `lead` it matches them.
 */
export interface Leader
  extends
    Omit<Matchmaker, 'createTicket' | 'createTickets' | 'createMatch' | 'importTickets' | 'ready'>,
    Pick<TicketLoader, 'load' | 'unload'> {
  /** Loads open and filled backfills as written to the ledger. Call it before `lead`. */
  loadBackfills(saved: readonly StoredBackfill[]): void
  /**
   * Makes this process the leader. It first applies changes of tickets that fell due. Then it reads the store and
   * continues the previous leader's matches whose tickets are loaded:
   * - a match whose server runs, with its players;
   * - a match whose server is ordered, searched for by orphan reconciliation, or starting, if all of its players are
   *   loaded and the store `resumes`; otherwise its server is stopped and its tickets search again;
   * - the open backfill of such a match, if loaded.
   * A match without a server order still awaited acceptance, or there was no room for its server. Its tickets search
   * again.
   *
   * Resolves with false if the store cannot be read. Then each tick tries again, and no server is created.
   */
  lead(): Promise<boolean>
  /**
   * Returns the ids of a match's tickets that wait for nothing but its server: they have no address yet, and none of
   * their players still has to accept. A store calls this while it appends an entry of the match.
   */
  expected(matchId: string): readonly string[]
  /** Returns the waits that this process has learned while it led or followed; see `WaitCommands`. */
  learnedWaits(): readonly LearnedWaits[]
  /**
   * Ends this process's part because another process leads. It changes nothing: no server is stopped, no ticket
   * cancelled, no entry written, no listener called. Running requests are aborted. Promises of callers reject, and
   * every method throws `MatchmakerClosed` from then on.
   */
  abandon(): void
}

/** The ledger and the log of servers are passed separately, so there is no `store`. */
export interface LeaderOptions extends Omit<MatchmakerOptions, 'store'> {
  readonly ledger: Ledger
  /** The log of servers. Default: in memory. */
  readonly serverLog?: ServerLog | undefined
  /**
   * Returns the master secret of the servers' tokens, once this process leads. Default: a new secret for this process.
   */
  readonly masterSecret?: (() => string) | undefined
  /** True if records of servers are lost: see `AllocatorOptions.sparesUnknown`. */
  readonly sparesUnknownServers?: (() => boolean) | undefined
  /** Stores match results until a backend takes them. Default: in memory. */
  readonly resultRecords?: OutboxRecords | undefined
}

/**
 * Creates the leader of a partition, which begins as a standby.
 * @throws {InvalidInput} naming the option and the value.
 */
export function createLeader({
  ledger,
  serverLog = createMemoryServerLog(),
  masterSecret,
  sparesUnknownServers,
  resultRecords,
  ...options
}: LeaderOptions): Leader {
  const gate = createGate()
  const { matchmaker, loading, loadBackfills, recover, expected, learnedWaits, abandon } = assemble(
    {
      ...options,
      deployments: options.deployments && gate.service(options.deployments),
      sources: mapSources(options.sources, gate.allocator),
    },
    {
      ledger: gate.ledger(ledger),
      serverLog: gate.serverLog(serverLog),
      masterSecret,
      sparesUnknownServers,
      resultRecords,
    },
  )
  if (loading === undefined) throw new Error('assemble() must return `loading` if it gets a ledger')

  const now =
    <Given extends unknown[], Result>(method: (...given: Given) => Result) =>
    (...given: Given): Result => {
      gate.check()
      return method(...given)
    }
  const later =
    <Given extends unknown[], Result>(method: (...given: Given) => Promise<Result>) =>
    async (...given: Given): Promise<Result> => {
      gate.check()
      return gate.promised(method(...given))
    }

  return {
    // The caller's promise rejects once the gate is shut.
    ...eachMethod(matchmaker, (method, name) =>
      rejects(name) ? later(method as typeof method & (() => Promise<unknown>)) : now(method),
    ),
    load: now(loading.load),
    unload: now(loading.unload),
    loadBackfills: now(loadBackfills),
    lead: later(async () => {
      loading.lead()
      return recover()
    }),
    expected: now(expected),
    learnedWaits: now(learnedWaits),
    abandon: () => {
      gate.shut()
      abandon()
    },

    on: (event, listener) =>
      matchmaker.on(event, (data) => {
        if (!gate.isShut()) return listener(data)
      }),
  }
}
