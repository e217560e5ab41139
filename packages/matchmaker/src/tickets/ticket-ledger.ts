import type { Coordinates } from '@muster/core'
import type { CooldownState } from '../queues/index.js'
import type { Store, StoreRecord, StoreRecords } from '@muster/hosting'
import { bodyOf, type StoredTicket, type TicketState } from './checked-ticket.js'
import type { Cooldown } from './cooldowns.js'
import type { NotLoaded } from './load-tickets.js'
import { ticketOf, type TicketRecord } from './ticket-record.js'
import type { Ticket } from './ticket.js'

/**
 * Stores the changes that must outlive this process. Methods are called in the order of changes, each after its change
 * (`created`: before it). They are called in the same turn of the event loop, so that all changes of a turn can be
 * written together.
 */
export interface Ledger {
  /**
   * Called before tickets are created, all of them or none. Not called if other processes create the tickets and this
   * process only loads them.
   * @throws {Unavailable}; then no ticket is created
   */
  created?(records: readonly TicketRecord[]): void
  /** Called when a ticket was cancelled, or its match has ended. */
  ended?(ticketId: string): void
  /** Called when a ticket has changed: its version was raised by 1. Not called when a ticket is created or loaded. */
  changed(ticket: Ticket): void
  /**
   * Called when a server was created for these players, which `maxServersPerPlayer` counts. Not called if the create
   * was repeated for lack of capacity.
   */
  served(playerIds: readonly string[]): void
  /** Called when a cooldown of a player has begun, has become longer, or was deleted (`state` is undefined). */
  cooldownChanged(playerId: string, name: string, state: CooldownState | undefined): void
  /**
   * Called when a backfill was opened or has changed.
   * @param text the argument of `loadBackfills`, with the players' attributes and no address; undefined if the backfill
   *   was cancelled, or was filled for so long that a repeated create is not expected any more.
   */
  backfillChanged(backfillId: string, text: string | undefined): void
}

/** The known facts about a ticket besides its body. */
interface LedgerFacts {
  /** Epoch milliseconds. Their fractions keep tickets in order. */
  readonly createdAt: number
  /** The location of the ticket's players, if known. It is stored so that it is not looked up again. */
  readonly place?: Coordinates | undefined
}

/**
 * Separates the facts from the body, so that the body is not parsed twice. The facts have no strings and thus no
 * spaces.
 */
const BETWEEN = ' '

type LoggedTicket = Pick<TicketRecord, 'queues' | 'players' | 'priority' | 'privateSeat' | 'createdAt' | 'place'>

/** Returns the constant parts of a ticket as text. It holds players' addresses. */
const ticketText = (record: LoggedTicket): string => {
  const { createdAt, place, players } = record
  // Most locations follow from the coordinates of a single player and are not stored.
  const isPlaceKept = place !== undefined && !(players.length === 1 && players[0]?.coordinates !== undefined)
  const known: LedgerFacts = isPlaceKept ? { createdAt, place } : { createdAt }
  return `${JSON.stringify(known)}${BETWEEN}${bodyOf(record)}`
}

/** Returns the changing parts of a ticket as text. */
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

/** Parses a stored ticket. @throws Error if the record is damaged; the error quotes nothing of the record. */
function readStoredTicket({ key, value, change }: StoreRecord): StoredTicket {
  const end = value.indexOf(BETWEEN)
  try {
    const { createdAt, place } = JSON.parse(value.slice(0, end)) as LedgerFacts
    const state = change === undefined ? undefined : (JSON.parse(change) as TicketState)
    return { id: key, body: value.slice(end + 1), createdAt, place, state }
  } catch {
    throw new Error(`ticket ${key} in the store is damaged`)
  }
}

/** Options of the ledger of a single process. */
interface StoreLedgerOptions {
  readonly store: Pick<Store, 'records'>
  /** Returns all stored tickets. */
  readonly tickets: () => Iterable<TicketRecord>
  readonly cooldowns: () => Iterable<Cooldown>
}

/** A ledger, and access to the content that an earlier process wrote. */
interface StoreLedger extends Required<Ledger> {
  /** Returns the stored tickets, sorted by creation, and those that could not be read. */
  storedTickets(): { readonly tickets: readonly StoredTicket[]; readonly failed: readonly NotLoaded[] }
  storedCooldowns(): readonly Cooldown[]
  storedBackfills(): readonly { readonly backfillId: string; readonly text: string }[]
}

/** Creates the ledger of a single process, which writes to its store. */
export function createStoreLedger({ store, tickets, cooldowns }: StoreLedgerOptions): StoreLedger {
  /** The open and filled backfills by id, including those that wait for their match. */
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
    // The servers of a player are not stored: they are counted anew from the start of each process.
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

/** Parses a cooldown. An unreadable cooldown is dropped, so that the player may wait. */
function readCooldown(value: string): readonly Cooldown[] {
  try {
    return [JSON.parse(value) as Cooldown]
  } catch {
    return []
  }
}

/**
 * True if the ticket differs from a new ticket. This may also hold for an imported ticket, which has waited elsewhere.
 */
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
