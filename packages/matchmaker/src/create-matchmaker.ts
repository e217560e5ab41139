import { NotFound } from '@muster/core'
import type { Clock, Random } from '@muster/core/clock'
import { MatchmakerClosed, Unavailable } from './errors.js'
import { guarded } from './commands.js'
import { assemble, type Matchmaker } from './matches/index.js'
import { configure, type MatchmakerOptions } from './options.js'
import type { Store } from '@muster/hosting'
import { createServerLog, newSecret, type OutboxRecords, type ServerLog, NO_SERVER_LOG } from '@muster/hosting/internal'
import { createStoreLedger } from './tickets/index.js'
import { createUnwritten } from './unwritten.js'

interface StoredOptions extends MatchmakerOptions {
  readonly store: Store
}

/**
 * Creates a matchmaker whose tickets outlive its process. The tickets of the earlier process are loaded immediately.
 * Changes that fell due while no process ran, such as expiries, are applied at the first tick or command.
 * @throws {InvalidInput} naming the option and the value.
 */
function createStoredMatchmaker(options: StoredOptions, over: (serverLog: ServerLog) => ServerLog): Matchmaker {
  const { store } = options
  const { name, random, clock: own } = configure(options)
  store.attach({ name, problem: (error) => problem('store', error) })
  const { clock, keepStep } = continuedClock(recordsIn(store, 'clock'), own)
  const unwritten = createUnwritten(store)
  const ledger = unwritten.noting(
    createStoreLedger({ store, tickets: () => tickets(), cooldowns: () => matchmaker.exportCooldowns() }),
  )
  const kept = {
    ledger,
    serverLog: over(createServerLog(store)),
    masterSecret: secretIn(store, random),
    resultRecords: recordsIn(store, 'result'),
  }
  const { matchmaker, loading, loadBackfills, tickets, problem, assertReady } = assemble({ ...options, clock }, kept)
  if (loading === undefined) throw new Error('assemble() must return `loading` if it gets a ledger')

  const stored = ledger.storedTickets()
  const failed = [...stored.failed, ...loading.load(stored.tickets)]
  loadBackfills(ledger.storedBackfills())
  matchmaker.importCooldowns(ledger.storedCooldowns())

  const forgetRemoved = keepPauses(matchmaker, store)

  let isResumed = false
  const resume = () => {
    if (isResumed) return
    isResumed = true
    for (const { id, error } of failed) {
      ledger.ended(id)
      problem(
        'store',
        new Error(`Ticket ${id} cannot be restored after the restart. It is cancelled.`, { cause: error }),
      )
    }
    loading.lead()
  }
  matchmaker.on('tickCompleted', () => {
    keepStep()
    unwritten.settle()
    void store.advance()
  })

  const checked = guarded(matchmaker, {
    before: () => {
      resume()
      assertReady()
    },
    /** Flushes a command's entries to the operating system before its caller gets the answer. */
    command: {
      before: () => {
        if (store.isClosed()) throw new MatchmakerClosed('The matchmaker is closed.')
      },
      after: () => store.flush(),
      done: () => {
        if (store.isFailing())
          throw new Unavailable('The store cannot be written, so a restart may undo this command. Retry in a second.')
      },
    },
  })
  const resumed =
    <Given extends unknown[], Result>(method: (...given: Given) => Result) =>
    (...given: Given): Result => {
      resume()
      return method(...given)
    }

  return {
    ...checked,
    getTicket: (id) => {
      const ticket = checked.getTicket(id)
      unwritten.assertWritten([id])
      return ticket
    },
    waitForChange: async (id, wait) => {
      const ticket = await checked.waitForChange(id, wait)
      unwritten.assertWritten([id])
      return ticket
    },
    findPlayer: (playerId) => {
      const found = checked.findPlayer(playerId)
      unwritten.assertWritten(found.tickets.map(({ id }) => id))
      return found
    },
    ready: resumed(matchmaker.ready),
    reconfigure: resumed((...given) => {
      const changed = matchmaker.reconfigure(...given)
      forgetRemoved()
      return changed
    }),
    tick: resumed(matchmaker.tick),
    start: resumed(matchmaker.start),
    close: resumed(matchmaker.close),
  }
}

/**
 * Returns the function that reads the master secret of the servers' tokens. The store keeps it, so that a later process
 * accepts the same tokens.
 */
function secretIn(store: Store, random: Random): () => string {
  const records = recordsIn(store, 'secret')
  return () => {
    const kept = records.stored().find(({ key }) => key === 'servers')
    if (kept !== undefined) return kept.value
    const secret = newSecret(random)
    // Entries reach the disk in order, and a create writes its `sent` entry later. So no server exists before the
    // secret is stored.
    records.put('servers', secret)
    return secret
  }
}

/**
 * Creates a clock that continues from the earlier process's clock. The store keeps how far that clock was off the wall
 * clock, so stored times stay right even if the wall clock was set.
 */
function continuedClock(records: OutboxRecords, clock: Clock) {
  const stepOf = ({ wallStepMs }: Pick<Clock, 'wallStepMs'>) => wallStepMs?.() ?? 0
  const kept = Number(records.stored().find(({ key }) => key === 'step')?.value ?? 0)
  let writtenMs = Number.isFinite(kept) ? kept : 0
  const shiftMs = stepOf(clock) - writtenMs
  const continued: Clock = {
    now: () => clock.now() + shiftMs,
    wallStepMs: () => stepOf(clock) - shiftMs,
    sleep: (ms, signal) => clock.sleep(ms, signal),
  }
  const keepStep = () => {
    const stepMs = stepOf(continued)
    if (stepMs === writtenMs) return
    writtenMs = stepMs
    records.put('step', String(stepMs))
  }
  return { clock: continued, keepStep }
}

/** Returns the records of a kind, which are kept in memory and in the store. */
function recordsIn(store: Store, kind: string): OutboxRecords {
  const kept = new Map<string, string>()
  const all = () => Array.from(kept, ([key, value]) => ({ key, value }))
  const records = store.records(kind, all)
  for (const { key, value } of records.stored()) kept.set(key, value)
  return {
    stored: all,
    put: (key, value) => {
      kept.set(key, value)
      records.put(key, value)
    },
    remove: (key) => {
      kept.delete(key)
      records.remove(key)
    },
    written: () => {
      store.flush()
      return store.isFailing() ? Promise.reject(new Error('the store cannot be written')) : undefined
    },
  }
}

/**
 * Stores which queues and pools are paused, so that they stay paused after a restart. Returns the function that forgets
 * the pauses of queues and pools that no longer exist.
 */
function keepPauses(matchmaker: Matchmaker, store: Store): () => void {
  const pausedQueues = keptPauses(store, 'pause', matchmaker.pauseQueue)
  matchmaker.on('queuePaused', ({ queue }) => pausedQueues.keep(queue, true))
  matchmaker.on('queueResumed', ({ queue }) => pausedQueues.keep(queue, false))
  const pausedPools = keptPauses(store, 'pool-pause', (pool) => matchmaker.pausePool(pool, true))
  matchmaker.on('poolPaused', ({ pool, paused }) => pausedPools.keep(pool, paused))
  return () => {
    pausedQueues.pauseAll()
    pausedPools.pauseAll()
  }
}

/**
 * Pauses the queues or pools that are stored as paused. Returns `keep`, which stores each later pause, and `pauseAll`,
 * which pauses all stored ones again and forgets those that the configuration no longer has.
 */
function keptPauses(store: Store, kind: string, pause: (name: string) => void) {
  const paused = recordsIn(store, kind)
  const pauseAll = () => {
    for (const { key } of paused.stored()) {
      try {
        pause(key)
      } catch (error) {
        if (!(error instanceof NotFound)) throw error
        // Forget the pause: the configuration no longer has this queue or pool.
        paused.remove(key)
      }
    }
  }
  pauseAll()
  const keep = (name: string, isPaused: boolean) => (isPaused ? paused.put(name, '{}') : paused.remove(name))
  return { keep, pauseAll }
}

/**
 * Creates a matchmaker: it groups tickets into matches and gets a server for each match.
 * @throws {InvalidInput} naming the option and the value.
 */
export const createMatchmaker = (options: MatchmakerOptions): Matchmaker => createMatchmakerOver(options)

/**
 * Creates a matchmaker whose servers are stored apart from its tickets, for tests.
 * @param over returns the log of servers to use. Its argument is the store's own log or, without a store, one that
 *   stores nothing.
 */
export function createMatchmakerOver(
  options: MatchmakerOptions,
  over: (serverLog: ServerLog) => ServerLog = (serverLog) => serverLog,
): Matchmaker {
  const { store } = options
  if (store !== undefined) return createStoredMatchmaker({ ...options, store }, over)
  const serverLog = over(NO_SERVER_LOG)
  const { matchmaker, assertReady } = assemble(options, { serverLog })
  return serverLog === NO_SERVER_LOG ? matchmaker : guarded(matchmaker, { before: assertReady })
}
