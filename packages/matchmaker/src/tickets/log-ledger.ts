import type { LogRecord } from '../ticket-log/log-lines.js'
import type { LogRecords, TicketLog } from '../ticket-log/ticket-log.js'
import type { Cooldown } from './cooldowns.js'
import type { Ledger } from './ledger.js'
import { readStoredTicket, stateText, ticketText } from './logged-ticket.js'
import type { NotLoaded } from './loading.js'
import type { TicketRecord } from './records.js'
import type { StoredTicket } from './ticket-body.js'
import { ticketOf } from './ticket-view.js'

/** What a matchmaker keeps in its ticket log. */
export interface LogLedgerOptions {
  readonly log: Pick<TicketLog, 'records'>
  /** All that are kept. */
  readonly tickets: () => Iterable<TicketRecord>
  readonly cooldowns: () => Iterable<Cooldown>
}

/** A ledger, and what an earlier process told it. */
export interface LogLedger extends Required<Ledger> {
  /** In the order in which they were created. */
  storedTickets(): { readonly tickets: readonly StoredTicket[]; readonly failed: readonly NotLoaded[] }
  storedCooldowns(): readonly Cooldown[]
  storedBackfills(): readonly { readonly backfillId: string; readonly text: string }[]
}

/** Creates the ledger of a matchmaker that is alone: its ticket log. */
export function createLogLedger({ log, tickets, cooldowns }: LogLedgerOptions): LogLedger {
  /** The open ones, by id: those that wait for their match too. */
  const backfills = new Map<string, LogRecord>()
  const ofTickets: LogRecords = log.records('ticket', () => liveTickets(tickets()))
  const ofBackfills: LogRecords = log.records('backfill', () => backfills.values())
  const ofCooldowns: LogRecords = log.records('cooldown', () => Array.from(cooldowns(), loggedCooldown))
  for (const record of ofBackfills.stored()) backfills.set(record.key, record)

  return {
    created: (records) => ofTickets.write(records.map(logged)),
    changed: (ticket) => {
      if (ticket.status !== 'CANCELLED' && ticket.ended === undefined) ofTickets.change(ticket.id, stateText(ticket))
    },
    ended: ofTickets.remove,
    // What players cost is counted from the start of the process on.
    served: () => {},
    cooldownChanged: (playerId, name, state) => {
      if (state === undefined) return ofCooldowns.remove(cooldownKey({ playerId, name }))
      const { key, value } = loggedCooldown({ playerId, name, ...state })
      ofCooldowns.put(key, value)
    },
    backfillChanged: (backfillId, text) => {
      if (text === undefined) {
        backfills.delete(backfillId)
        return ofBackfills.remove(backfillId)
      }
      backfills.set(backfillId, { key: backfillId, value: text })
      ofBackfills.put(backfillId, text)
    },

    storedTickets: () => {
      const stored: StoredTicket[] = []
      const failed: NotLoaded[] = []
      for (const record of ofTickets.stored()) {
        try {
          stored.push(readStoredTicket(record))
        } catch (error) {
          failed.push({ id: record.key, error })
        }
      }
      return { tickets: stored, failed }
    },
    storedCooldowns: () => ofCooldowns.stored().flatMap(({ value }) => readCooldown(value)),
    storedBackfills: () => Array.from(backfills.values(), ({ key, value }) => ({ backfillId: key, text: value })),
  }
}

const cooldownKey = ({ playerId, name }: Pick<Cooldown, 'playerId' | 'name'>) => JSON.stringify([name, playerId])

const loggedCooldown = (cooldown: Cooldown): LogRecord => ({
  key: cooldownKey(cooldown),
  value: JSON.stringify(cooldown),
})

/** The cooldown again; nothing of one that cannot be read, so that the player may wait. */
function readCooldown(value: string): readonly Cooldown[] {
  try {
    return [JSON.parse(value) as Cooldown]
  } catch {
    return []
  }
}

/** Whether it is not as tickets are at first: it may have waited elsewhere before. */
const isChanged = ({ version, attempts }: TicketRecord) => version > 1 || attempts > 0

const logged = (record: TicketRecord): LogRecord => ({
  key: record.id,
  value: ticketText(record),
  change: isChanged(record) ? stateText(ticketOf(record)) : undefined,
})

function* liveTickets(tickets: Iterable<TicketRecord>): Generator<LogRecord> {
  for (const record of tickets) {
    if (record.endedAt !== undefined) continue
    yield logged(record)
  }
}
