// pure: a ticket as text of a ticket log
import type { Coordinates } from '@muster/core'
import type { LogRecord } from '../ticket-log/log-lines.js'
import type { TicketRecord } from './records.js'
import { bodyOf, type StoredTicket, type TicketState } from './ticket-body.js'
import type { Ticket } from './ticket.js'

/** What is known of a ticket beside its body. */
interface Told {
  /** Epoch milliseconds, with the fractions that keep tickets in order. */
  readonly createdAt: number
  /** Where its players are, if it is known: it need not be looked up again. */
  readonly place?: Coordinates | undefined
}

/** What separates the two parts, so that the body is not read twice. The first part holds no texts, so no space. */
const BETWEEN = ' '

type LoggedTicket = Pick<TicketRecord, 'queues' | 'players' | 'priority' | 'privateSeat' | 'createdAt' | 'place'>

/** What never changes of a ticket. It holds players' addresses. */
export const ticketText = (record: LoggedTicket): string => {
  const { createdAt, place, players } = record
  // Most places follow from the coordinates of one player.
  const isTold = place !== undefined && !(players.length === 1 && players[0]?.coordinates !== undefined)
  const told: Told = isTold ? { createdAt, place } : { createdAt }
  return `${JSON.stringify(told)}${BETWEEN}${bodyOf(record)}`
}

/** What changes of a ticket. */
export const stateText = (ticket: Ticket): string => {
  const { version, status, waitingFor, attempts, matchId, queue, team, matchedAt, acceptance } = ticket
  const { assignedAt, assignment } = ticket
  return JSON.stringify({
    version,
    status,
    waitingFor,
    attempts,
    matchId,
    queue,
    team,
    matchedAt,
    acceptance,
    assignedAt,
    assignment,
  } satisfies TicketState)
}

/** The ticket again. @throws Error if it is not as it was written; the error holds nothing of the text. */
export function readStoredTicket({ key, value, change }: LogRecord): StoredTicket {
  const end = value.indexOf(BETWEEN)
  try {
    const { createdAt, place } = JSON.parse(value.slice(0, end)) as Told
    const state = change === undefined ? undefined : (JSON.parse(change) as TicketState)
    return { id: key, body: value.slice(end + 1), createdAt, place, state }
  } catch {
    throw new Error(`ticket ${key} is not in the log as it was written`)
  }
}
