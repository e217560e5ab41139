import type { CallOptions } from '@muster/core'
import { linkedSignal, manyWaitOn } from '@muster/core/internal'
import type { ServerAllocator } from '@muster/hosting'
import {
  createMemoryServerLog,
  type DeploymentService,
  type OutboxRecords,
  type ServerLog,
} from '@muster/hosting/internal'
import { MatchmakerClosed } from '../errors.js'
import { assemble, type LearnedWaits, type Matchmaker, type StoredBackfill } from '../matches/index.js'
import type { MatchmakerOptions } from '../options.js'
import type { Loading, Ledger } from '../tickets/index.js'

/**
 * What a leader does to the world goes through its gate. Once the gate is shut, nothing leaves any more, and what comes
 * in is not heard: a call under way never answers its caller inside, so that nothing follows from it.
 */
interface Gate {
  readonly isShut: () => boolean
  /** Aborts calls under way. The promises of `promised` reject. */
  shut(): void
  /** @throws {MatchmakerClosed} once the gate is shut */
  check(): void
  /**
   * For a caller outside: what the promise brings, or the rejection once the gate is shut.
   * @throws {MatchmakerClosed}
   */
  promised<Value>(promise: Promise<Value>): Promise<Value>
  service(service: DeploymentService): DeploymentService
  allocator(allocator: ServerAllocator): ServerAllocator
  serverLog(serverLog: ServerLog): ServerLog
  ledger(ledger: Ledger): Ledger
}

/** Each source as another one. */
export const mapSources = (
  sources: MatchmakerOptions['sources'] = {},
  map: (allocator: ServerAllocator) => ServerAllocator,
): Readonly<Record<string, ServerAllocator>> =>
  Object.fromEntries(Object.entries(sources).map(([name, allocator]) => [name, map(allocator)]))

/** A new one for each caller: a promise keeps all that wait for it. */
const never = () => new Promise<never>(() => {})

export function createGate(): Gate {
  const shutting = manyWaitOn()
  const { signal } = shutting
  const closed = () =>
    new MatchmakerClosed('This process no longer leads the partition. Send the call to the new leader.')

  /** What the call brings, unless the gate is shut by then. */
  const heard = <Value>(call: () => Value | Promise<Value>): Promise<Value> => {
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
      heard(async () => {
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
        return appended instanceof Promise ? heard(() => appended) : appended
      },
      open: (problem) => heard(() => serverLog.open(problem)),
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
 * The matchmaker of one of several processes, which share tickets by a store. It begins as a standby: it receives the
 * tickets by `load`, and changes nothing. From `lead` on it matches them.
 */
export interface Leader
  extends
    Omit<Matchmaker, 'createTicket' | 'createTickets' | 'createMatch' | 'importTickets' | 'ready'>,
    Pick<Loading, 'load' | 'unload'> {
  /** Loads open backfills, as written to the ledger, before this process leads. */
  loadBackfills(saved: readonly StoredBackfill[]): void
  /**
   * From now on this process leads: changes of tickets that were put off are made. Then the store is opened, and
   * matches of the previous leader continue from where they were, as far as their tickets are loaded:
   * - a match whose server runs, with those who play there;
   * - one whose server is ordered, searched for by orphan reconciliation, or starting, if all of its players are loaded
   *   and the store `resumes`; otherwise its server is stopped and its tickets search again;
   * - the open backfill of such a match, if it was loaded;
   * - the tickets of a match for which nothing was to be created yet, because its players had yet to say whether they
   *   accept it or because there was no room, search again.
   *
   * Resolves with false if the store cannot be read; each tick tries again then, and nothing is created.
   */
  lead(): Promise<boolean>
  /**
   * Ids of the tickets of a match whose players get the address as soon as its server listens: those without a server
   * yet, whose match does not await acceptance. A store calls it while it appends an entry of the match.
   */
  expected(matchId: string): readonly string[]
  /** What was learned of waits, as far as this process has led or followed: see `WaitCommands`. */
  learnedWaits(): readonly LearnedWaits[]
  /**
   * Ends at once, because another process leads, and touches nothing: no server is stopped, no ticket cancelled, no
   * entry written, no listener called. Requests under way are aborted. Promises of callers reject, and every method
   * throws `MatchmakerClosed` from then on.
   */
  abandon(): void
}

/** Tickets are where the ledger keeps them, and servers where their log does, so there is no store. */
export interface LeaderOptions extends Omit<MatchmakerOptions, 'store'> {
  readonly ledger: Ledger
  /** Default: in memory. */
  readonly serverLog?: ServerLog | undefined
  /** Returns the master secret of the servers' tokens, once this process leads. Default: one of this process. */
  readonly masterSecret?: (() => string) | undefined
  /** Whether records of servers have vanished: see `AllocatorOptions.sparesUnknown`. */
  readonly sparesUnknownServers?: (() => boolean) | undefined
  /** Keeps results of matches that no backend has taken yet. Default: in memory. */
  readonly resultRecords?: OutboxRecords | undefined
}

type Method<Result = unknown> = (...given: unknown[]) => Result

/** Methods whose promise a caller outside gets: it rejects once the gate is shut. */
const PROMISED: ReadonlySet<string> = new Set<keyof Matchmaker>([
  'waitForChange',
  'reportServer',
  'enrolServer',
  'revokeEnrolment',
  'drainServer',
  'releaseSeat',
  'startServer',
  'stopServer',
  'waitForServerOrders',
  'stopMatch',
  'webhook',
  'tick',
  'stop',
  'close',
])

/** @throws {InvalidInput} naming the option and the value. */
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
  if (loading === undefined) throw new Error('a leader has a ledger')

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

  const methods = Object.fromEntries(
    Object.entries(matchmaker).map(([name, method]: [string, Method]) => [
      name,
      PROMISED.has(name) ? later(method as Method<Promise<unknown>>) : now(method),
    ]),
  ) as Matchmaker & Record<string, Method>

  return {
    ...methods,
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
