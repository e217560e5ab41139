import { MatchmakerClosed, Unavailable } from './errors.js'
import { assemble } from './matches/assembly.js'
import { guarded } from './matches/guard.js'
import type { Matchmaker } from './matches/matchmaker.js'
import { configure, type MatchmakerOptions } from './options.js'
import type { Store } from '@muster/servers'
import { createLogLedger } from './tickets/ticket-ledger.js'

interface LoggedOptions extends MatchmakerOptions {
  readonly ticketLog: Store
}

/**
 * Creates a matchmaker whose tickets outlive it. It has those of an earlier process at once; what has happened to them
 * in between, such as that they expired, happens at its first tick or command.
 * @throws {InvalidInput} naming the option and the value.
 */
function createLoggedMatchmaker(options: LoggedOptions): Matchmaker {
  const { ticketLog: log } = options
  const { name } = configure(options)
  log.attach({ name, problem: (error) => problem('ticket-log', error) })
  const ledger = createLogLedger({ log, tickets: () => tickets(), cooldowns: () => matchmaker.exportCooldowns() })
  const { matchmaker, loading, loadBackfills, tickets, problem, assertReady } = assemble(options, ledger)
  if (loading === undefined) throw new Error('a matchmaker with a ticket log has a ledger')

  const stored = ledger.storedTickets()
  const failed = [...stored.failed, ...loading.load(stored.tickets)]
  loadBackfills(ledger.storedBackfills())
  matchmaker.importCooldowns(ledger.storedCooldowns())

  keepPauses(matchmaker, log)

  let isResumed = false
  const resume = () => {
    if (isResumed) return
    isResumed = true
    for (const { id, error } of failed) {
      ledger.ended(id)
      problem('ticket-log', new Error(`ticket ${id} cannot go on after the restart`, { cause: error }))
    }
    loading.lead()
  }
  matchmaker.on('tickCompleted', () => void log.advance())

  const checked = guarded(matchmaker, {
    before: () => {
      resume()
      assertReady()
    },
    /** The command is with the operating system when its caller gets the answer. */
    command: {
      before: () => {
        if (log.isClosed()) throw new MatchmakerClosed('the matchmaker is closed')
      },
      after: () => log.flush(),
      done: () => {
        if (log.isFailing()) throw new Unavailable('the ticket log cannot be written to, so a restart may undo this')
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
    ready: resumed(matchmaker.ready),
    reconfigure: resumed(matchmaker.reconfigure),
    tick: resumed(matchmaker.tick),
    start: resumed(matchmaker.start),
    close: resumed(matchmaker.close),
  }
}

/** Queues that an operator has paused stay paused. */
function keepPauses(matchmaker: Matchmaker, log: Store): void {
  const paused = new Set<string>()
  const records = log.records('pause', () => Array.from(paused, (key) => ({ key, value: '{}' })))
  const names = matchmaker.queueNames()
  for (const { key } of records.stored()) {
    if (!names.includes(key)) continue
    paused.add(key)
    matchmaker.pauseQueue(key)
  }
  matchmaker.on('queuePaused', ({ queue }) => {
    paused.add(queue)
    records.put(queue, '{}')
  })
  matchmaker.on('queueResumed', ({ queue }) => {
    paused.delete(queue)
    records.remove(queue)
  })
}

/**
 * Creates a matchmaker: it groups tickets into matches and gets a server for each match.
 * @throws {InvalidInput} naming the option and the value.
 */
export function createMatchmaker({ ticketLog, ...options }: MatchmakerOptions): Matchmaker {
  if (ticketLog !== undefined) return createLoggedMatchmaker({ ...options, ticketLog })
  const { matchmaker, assertReady } = assemble(options)
  return options.journal === undefined ? matchmaker : guarded(matchmaker, { before: assertReady })
}
