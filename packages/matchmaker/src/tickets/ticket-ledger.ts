import type { Coordinates } from '@muster/core'
import type { CooldownState } from '../queues/index.js'
import type { Store, StoreRecord, StoreRecords } from '@muster/hosting'
import { bodyOf, type StoredTicket, type TicketState } from './checked-ticket.js'
import type { Cooldown } from './cooldowns.js'
import type { NotLoaded } from './load-tickets.js'
import { ticketOf, type TicketRecord } from './ticket-record.js'
import type { Ticket } from './ticket.js'

/**
 * Receives the changes that must outlive this process. Each method is called within the turn of the event loop in which
 * the change happened, after it and in order, so that all changes of a turn can be written together.
 */
export interface Ledger {
  /**
   * Tickets are about to be created, all or none. Not called where others create tickets, and this process loads them.
   * @throws {Unavailable} and none is created
   */
  created?(records: readonly TicketRecord[]): void
  /** A ticket was cancelled, or its match is over. */
  ended?(ticketId: string): void
  /** A ticket has changed: its version has grown by one. Not called when a ticket is created or loaded. */
  changed(ticket: Ticket): void
  /** A server was created for these players: `maxServersPerPlayer` counts it, but no retry for lack of capacity. */
  served(playerIds: readonly string[]): void
  /** A cooldown of a player has begun, has become longer, or (undefined) is kept no longer. */
  cooldownChanged(playerId: string, name: string, state: CooldownState | undefined): void
  /**
   * A backfill was opened or has changed.
   * @param text what `loadBackfills` takes; undefined: the backfill is not open any more. It holds the players'
   *   attributes, and no address.
   */
  backfillChanged(backfillId: string, text: string | undefined): void
}

/** What is known of a ticket beside its body. */
interface Known {
  /** Epoch milliseconds, with the fractions that keep tickets in order. */
  readonly createdAt: number
  /** Where its players are, if it is known: it need not be looked up again. */
  readonly place?: Coordinates | undefined
}

/** What separates the two parts, so that the body is not read twice. The first part holds no texts, so no space. */
const BETWEEN = ' '

type LoggedTicket = Pick<TicketRecord, 'queues' | 'players' | 'priority' | 'privateSeat' | 'createdAt' | 'place'>

/** What never changes of a ticket. It holds players' addresses. */
const ticketText = (record: LoggedTicket): string => {
  const { createdAt, place, players } = record
  // Most places follow from the coordinates of one player.
  const isPlaceKept = place !== undefined && !(players.length === 1 && players[0]?.coordinates !== undefined)
  const known: Known = isPlaceKept ? { createdAt, place } : { createdAt }
  return `${JSON.stringify(known)}${BETWEEN}${bodyOf(record)}`
}

/** What changes of a ticket. */
const stateText = (ticket: Ticket): string => {
  const { version, status, waitingFor, attempts, matchId, queue, team, matchedAt, acceptance } = ticket
  const { assignedAt, assignment, left } = ticket
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
    left,
  } satisfies TicketState)
}

/** Parses the ticket. @throws Error if the text is damaged; the error holds nothing of the text. */
function readStoredTicket({ key, value, change }: StoreRecord): StoredTicket {
  const end = value.indexOf(BETWEEN)
  try {
    const { createdAt, place } = JSON.parse(value.slice(0, end)) as Known
    const state = change === undefined ? undefined : (JSON.parse(change) as TicketState)
    return { id: key, body: value.slice(end + 1), createdAt, place, state }
  } catch {
    throw new Error(`ticket ${key} is not in the store as it was written`)
  }
}

/** What a matchmaker keeps in its store. */
interface StoreLedgerOptions {
  readonly store: Pick<Store, 'records'>
  /** All that are kept. */
  readonly tickets: () => Iterable<TicketRecord>
  readonly cooldowns: () => Iterable<Cooldown>
}

/** A ledger, and what an earlier process wrote to it. */
interface StoreLedger extends Required<Ledger> {
  /** In the order in which they were created. */
  storedTickets(): { readonly tickets: readonly StoredTicket[]; readonly failed: readonly NotLoaded[] }
  storedCooldowns(): readonly Cooldown[]
  storedBackfills(): readonly { readonly backfillId: string; readonly text: string }[]
}

/** Creates the ledger of a matchmaker that is alone: its store. */
export function createStoreLedger({ store, tickets, cooldowns }: StoreLedgerOptions): StoreLedger {
  /** The open ones, by id: those that wait for their match too. */
  const backfills = new Map<string, StoreRecord>()
  const ofTickets: StoreRecords = store.records('ticket', () => liveTickets(tickets()))
  const ofBackfills: StoreRecords = store.records('backfill', () => backfills.values())
  const ofCooldowns: StoreRecords = store.records('cooldown', () => Array.from(cooldowns(), loggedCooldown))
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

const loggedCooldown = (cooldown: Cooldown): StoreRecord => ({
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

const logged = (record: TicketRecord): StoreRecord => ({
  key: record.id,
  value: ticketText(record),
  change: isChanged(record) ? stateText(ticketOf(record)) : undefined,
})

function* liveTickets(tickets: Iterable<TicketRecord>): Generator<StoreRecord> {
  for (const record of tickets) {
    if (record.endedAt !== undefined) continue
    yield logged(record)
  }
}
