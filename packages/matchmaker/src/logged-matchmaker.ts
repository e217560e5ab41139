import { assemble } from './assembly.js'
import type { Matchmaker } from './commands/matchmaker.js'
import { MatchmakerClosed } from './errors.js'
import { configure, type MatchmakerOptions } from './options.js'
import type { TicketLog } from './ticket-log/ticket-log.js'
import { createLogLedger } from './tickets/log-ledger.js'

export interface LoggedOptions extends MatchmakerOptions {
  readonly ticketLog: TicketLog
}

/**
 * Creates a matchmaker whose tickets outlive it. It has those of an earlier process at once; what has happened to them
 * in between, such as that they expired, happens at its first tick or command.
 * @throws {InvalidInput} naming the option and the value.
 */
export function createLoggedMatchmaker(options: LoggedOptions): Matchmaker {
  const { ticketLog: log } = options
  const { name } = configure(options)
  log.attach({ name, problem: (error) => problem('ticket-log', error) })
  const ledger = createLogLedger({ log, tickets: () => tickets(), cooldowns: () => matchmaker.exportCooldowns() })
  const { matchmaker, loading, loadBackfills, tickets, problem } = assemble(options, ledger)
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
  matchmaker.on('ticked', () => void log.advance())

  /** The command is with the operating system when its caller gets the answer. */
  const command =
    <Given extends unknown[], Result>(given: (...given: Given) => Result) =>
    (...input: Given): Result => {
      if (log.isClosed()) throw new MatchmakerClosed('the matchmaker is closed')
      resume()
      try {
        return given(...input)
      } finally {
        log.flush()
      }
    }

  return {
    ...matchmaker,
    createTicket: command(matchmaker.createTicket),
    createTickets: command(matchmaker.createTickets),
    createMatch: command(matchmaker.createMatch),
    cancelTicket: command(matchmaker.cancelTicket),
    acceptMatch: command(matchmaker.acceptMatch),
    declineMatch: command(matchmaker.declineMatch),
    playersLeft: command(matchmaker.playersLeft),
    createBackfill: command(matchmaker.createBackfill),
    updateBackfill: command(matchmaker.updateBackfill),
    cancelBackfill: command(matchmaker.cancelBackfill),
    exportTickets: command(matchmaker.exportTickets),
    importTickets: command(matchmaker.importTickets),
    reconfigure: command(matchmaker.reconfigure),
    forgive: command(matchmaker.forgive),
    importCooldowns: command(matchmaker.importCooldowns),
    pauseQueue: command(matchmaker.pauseQueue),
    resumeQueue: command(matchmaker.resumeQueue),
    tick: () => {
      resume()
      return matchmaker.tick()
    },
    start: () => {
      resume()
      matchmaker.start()
    },
    close: (given) => {
      resume()
      return matchmaker.close(given)
    },
  }
}

/** Queues that an operator has paused stay paused. */
function keepPauses(matchmaker: Matchmaker, log: TicketLog): void {
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
