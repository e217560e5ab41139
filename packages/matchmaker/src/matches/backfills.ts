import { middleOf, newId } from '@muster/core/internal'
import type { Clock, Random } from '@muster/core/clock'
import type { TeamShape } from '@muster/kernel'
import { InvalidBackfill, InvalidTicket } from '../errors.js'
import type { Events } from '../events.js'
import type { RuleTicket } from '../queues/index.js'
import {
  backfillOf,
  type BackfillRecord,
  type Match,
  type QueueRuntime,
  type TicketRecord,
  type BackfillStatus,
  type Present,
  type Vacancies,
  type Ledger,
} from '../tickets/index.js'

/** An open backfill, for a process that takes its match over together with the match's tickets. */
export interface SavedBackfill {
  readonly id: string
  readonly matchId: string
  readonly version: number
  /** Epoch milliseconds. */
  readonly createdAt: number
  readonly priority: number
  readonly rooms: readonly number[]
  readonly present: readonly (readonly SavedPresent[])[]
  readonly tickets: readonly string[]
}

/** A ticket of the match, and which of its players are still there; or what a game said of somebody else. */
type SavedPresent = { readonly ticketId: string; readonly playerIds: readonly string[] } | { readonly told: RuleTicket }

const isOfMatch = (ticket: RuleTicket): ticket is TicketRecord => 'seat' in ticket

const savePresent = (ticket: RuleTicket): SavedPresent =>
  isOfMatch(ticket) ? { ticketId: ticket.id, playerIds: ticket.players.map(({ id }) => id) } : { told: ticket }

/** The JSON text of an open backfill. It holds no player's address. */
const saveBackfill = (record: BackfillRecord): string =>
  JSON.stringify({
    id: record.id,
    matchId: record.match.matchId,
    version: record.version,
    createdAt: record.createdAt,
    priority: record.priority,
    rooms: record.rooms,
    present: record.present.map((tickets) => tickets.map(savePresent)),
    tickets: record.tickets,
  } satisfies SavedBackfill)

/** Who was present by a saved backfill, as far as their tickets are in the match. */
function presentAgain({ present }: SavedBackfill, match: Match): Present {
  const tickets = new Map(match.placed.map(({ ticket }) => [ticket.id, ticket]))
  return present.map((team) =>
    team.flatMap((one) => {
      if ('told' in one) return [one.told]
      const ticket = tickets.get(one.ticketId)
      if (ticket === undefined) return []
      const players = ticket.players.filter(({ id }) => one.playerIds.includes(id))
      return players.length === ticket.players.length ? [ticket] : [{ ...ticket, players }]
    }),
  )
}

/** All backfills and their lives: every change of a backfill is one of these functions. */
export interface Backfills {
  /** @throws {InvalidBackfill} if the queue cannot tell who would fit. */
  open(match: Match, vacancies: Vacancies, options?: BackfillOptions): BackfillRecord
  find(id: string): BackfillRecord | undefined
  /**
   * Without room it is full. @param tickets ids of those who came through it. @throws as `open`, and nothing changed
   */
  change(record: BackfillRecord, vacancies: Vacancies, tickets?: readonly string[]): void
  /** Cancels the backfill. Does nothing to one that is not open any more. */
  cancel(record: BackfillRecord): void
  /** Reopens a backfill of an earlier process unchanged. It is cancelled if its queue cannot serve it any more. */
  restore(saved: SavedBackfill, match: Match): void
  /** The queues are in operation anew. Those that these cannot serve are cancelled. */
  replaceQueues(runtimes: ReadonlyMap<string, QueueRuntime>): void
  /** Removes those that ended long enough ago. */
  removeEnded(now: number): void
  all(): Iterable<BackfillRecord>
}

interface BackfillOptions {
  readonly id?: string | undefined
  readonly priority?: number | undefined
}

interface BackfillsOptions {
  /** By name. */
  readonly runtimes: ReadonlyMap<string, QueueRuntime>
  readonly endedTicketTtlMs: number
  readonly events: Events
  readonly clock: Clock
  readonly random: Random
  readonly ledger?: Pick<Ledger, 'backfillChanged'> | undefined
}

export function createBackfills({
  endedTicketTtlMs,
  events,
  clock,
  random,
  ledger,
  ...options
}: BackfillsOptions): Backfills {
  let { runtimes } = options
  const byId = new Map<string, BackfillRecord>()
  /** Those that ended, the first to end first. */
  const ended = new Map<BackfillRecord, number>()

  const leave = (record: BackfillRecord) => {
    const { waiting } = record
    if (waiting === undefined) return
    waiting.runtime.pool.removeOpening(waiting.slot)
    waiting.runtime.backfills[waiting.slot] = undefined
    record.waiting = undefined
  }

  /** Replaces what waits in the pool. @throws {InvalidBackfill}; what waited before stays */
  const enter = (record: BackfillRecord, { rooms, present }: Vacancies) => {
    const { id, priority, match } = record
    const runtime = runtimes.get(match.queue.name)
    if (runtime === undefined || !isSame(runtime.compiled.model.teams, match.teams)) {
      throw new InvalidBackfill(`backfill: queue ${match.queue.name} no longer has the teams of the match`)
    }
    // Stricter limits than those under which the match was found might leave out everybody.
    const createdAt = record.createdAt - match.expansionMs
    const all = present.flat()
    // Whoever is near enough to all of them is near enough to their middle, which the server may be far from.
    const place = middleOf(all.flatMap((ticket) => ticket.place ?? []))
    const network = all.find((ticket) => ticket.network !== undefined)?.network
    try {
      const opening = runtime.compiled.openingOf({ id, createdAt, priority, place, network, rooms, present })
      leave(record)
      const slot = runtime.pool.addOpening(opening)
      runtime.backfills[slot] = record
      record.waiting = { runtime, slot }
    } catch (error) {
      if (!(error instanceof InvalidTicket)) throw error
      throw new InvalidBackfill(error.message.replace(/^ticket/, 'backfill'), { field: error.field })
    }
  }

  const end = (record: BackfillRecord, status: BackfillStatus) => {
    leave(record)
    record.status = status
    record.match.backfill = undefined
    ended.set(record, clock.now())
  }

  const save = (record: BackfillRecord) =>
    ledger?.backfillChanged(record.id, record.status === 'OPEN' ? saveBackfill(record) : undefined)

  const changed = (record: BackfillRecord) => {
    record.version += 1
    save(record)
    events.emit('backfillChanged', { backfill: backfillOf(record) })
  }

  const cancel = (record: BackfillRecord) => {
    if (record.status !== 'OPEN') return
    end(record, 'CANCELLED')
    changed(record)
  }

  const enterOrCancel = (record: BackfillRecord) => {
    try {
      enter(record, record)
    } catch (error) {
      if (!(error instanceof InvalidBackfill)) throw error
      cancel(record)
    }
  }

  return {
    open: (match, vacancies, { id = newId(random), priority = 0 } = {}) => {
      const record: BackfillRecord = {
        id,
        match,
        createdAt: clock.now(),
        priority,
        version: 1,
        status: 'OPEN',
        ...vacancies,
        tickets: [],
        waiting: undefined,
      }
      enter(record, vacancies)
      byId.set(id, record)
      match.backfill = record
      save(record)
      events.emit('backfillCreated', { backfill: backfillOf(record) })
      return record
    },

    find: (id) => byId.get(id),

    change: (record, vacancies, tickets = []) => {
      const isFull = vacancies.rooms.every((room) => room === 0)
      if (!isFull) enter(record, vacancies)
      record.rooms = vacancies.rooms
      record.present = vacancies.present
      record.tickets.push(...tickets)
      if (isFull) end(record, 'FILLED')
      changed(record)
    },

    cancel,

    restore: (saved, match) => {
      const { id, version, createdAt, priority, rooms } = saved
      const present = presentAgain(saved, match)
      const tickets = [...saved.tickets]
      const record: BackfillRecord = {
        id,
        match,
        createdAt,
        priority,
        version,
        status: 'OPEN',
        rooms,
        present,
        tickets,
        waiting: undefined,
      }
      byId.set(id, record)
      match.backfill = record
      enterOrCancel(record)
    },

    replaceQueues: (others) => {
      runtimes = others
      for (const record of byId.values()) {
        if (record.status !== 'OPEN') continue
        record.waiting = undefined
        enterOrCancel(record)
      }
    },

    removeEnded: (now) => {
      for (const [record, endedAt] of ended) {
        if (now - endedAt < endedTicketTtlMs) return
        ended.delete(record)
        byId.delete(record.id)
      }
    },

    all: () => byId.values(),
  }
}

const isSame = (teams: readonly TeamShape[], others: readonly TeamShape[]) =>
  teams.length === others.length && teams.every(({ name }, index) => name === others[index]?.name)
