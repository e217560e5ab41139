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
  type PresentTeams,
  type Vacancies,
  type Ledger,
} from '../tickets/index.js'

/** An open or filled backfill as stored. With the match's tickets, another process can take it over. */
export interface SavedBackfill extends Readonly<
  Pick<BackfillRecord, 'id' | 'createdAt' | 'priority' | 'version' | 'rooms'>
> {
  /**
   * Empty for a filled backfill, so that an earlier version of Muster drops the backfill instead of opening it again.
   */
  readonly matchId: string
  readonly present: readonly (readonly SavedPresent[])[]
  readonly tickets: readonly string[]
  /** Since when the backfill is filled, and its match. Undefined while it is open. */
  readonly filled?: { readonly matchId: string; readonly at: number } | undefined
}

/**
 * A ticket of the match and those of its players who are still in the match, or a player that the game server reported.
 */
type SavedPresent = { readonly ticketId: string; readonly playerIds: readonly string[] } | { readonly told: RuleTicket }

const isOfMatch = (ticket: RuleTicket): ticket is TicketRecord => 'seat' in ticket

const savePresent = (ticket: RuleTicket): SavedPresent =>
  isOfMatch(ticket) ? { ticketId: ticket.id, playerIds: ticket.players.map(({ id }) => id) } : { told: ticket }

/**
 * Returns the JSON of an open or filled backfill. It holds no player's address.
 * @param filledAt undefined while it is open
 */
const saveBackfill = (record: BackfillRecord, filledAt: number | undefined): string =>
  JSON.stringify({
    id: record.id,
    matchId: filledAt === undefined ? record.match.matchId : '',
    version: record.version,
    createdAt: record.createdAt,
    priority: record.priority,
    rooms: record.rooms,
    present: record.present.map((tickets) => tickets.map(savePresent)),
    tickets: record.tickets,
    filled: filledAt === undefined ? undefined : { matchId: record.match.matchId, at: filledAt },
  } satisfies SavedBackfill)

/** Returns the present players of a saved backfill. Tickets that are no longer in the match are left out. */
function presentAgain({ present }: SavedBackfill, match: Match): PresentTeams {
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

interface BackfillOptions {
  readonly id?: string | undefined
  readonly priority?: number | undefined
}

interface BackfillsOptions {
  /** The queues in operation by name. */
  readonly runtimes: ReadonlyMap<string, QueueRuntime>
  readonly endedTicketTtlMs: number
  readonly events: Events
  readonly clock: Clock
  readonly random: Random
  readonly ledger?: Pick<Ledger, 'backfillChanged'> | undefined
}

/** Holds all backfills. Every change of a backfill is one of these methods. */
export class Backfills {
  readonly #options: BackfillsOptions
  #runtimes: ReadonlyMap<string, QueueRuntime>
  readonly #byId = new Map<string, BackfillRecord>()
  /** The end time of each ended backfill, the oldest first. */
  readonly #ended = new Map<BackfillRecord, number>()

  constructor(options: BackfillsOptions) {
    this.#options = options
    this.#runtimes = options.runtimes
  }

  /** Opens a backfill. @throws {InvalidBackfill} if the queue's rules cannot decide who would fit */
  open(
    match: Match,
    vacancies: Vacancies,
    { id = newId(this.#options.random), priority = 0 }: BackfillOptions = {},
  ): BackfillRecord {
    const record: BackfillRecord = {
      id,
      match,
      createdAt: this.#options.clock.now(),
      priority,
      version: 1,
      status: 'OPEN',
      ...vacancies,
      tickets: [],
      waiting: undefined,
    }
    this.#enter(record, vacancies)
    this.#add(record)
    this.#save(record)
    this.#options.events.emit('backfillCreated', { backfill: backfillOf(record) })
    return record
  }

  /**
   * Takes over a backfill of an earlier process unchanged. An open one is cancelled if its queue can no longer serve
   * it. A filled one answers a repeated create.
   */
  restore(saved: SavedBackfill, match: Match): void {
    const { id, version, createdAt, priority, rooms, filled } = saved
    const now = this.#options.clock.now()
    const record: BackfillRecord = {
      id,
      match,
      // If the clock was set back meanwhile, the limits must not relax later.
      createdAt: Math.min(createdAt, now),
      priority,
      version,
      status: 'OPEN',
      rooms,
      present: presentAgain(saved, match),
      tickets: [...saved.tickets],
      waiting: undefined,
    }
    if (filled === undefined) {
      this.#add(record)
      return this.#enterOrCancel(record)
    }
    record.status = 'FILLED'
    this.#byId.set(id, record)
    this.#ended.set(record, Math.min(filled.at, now))
  }

  find(id: string): BackfillRecord | undefined {
    return this.#byId.get(id)
  }

  /**
   * Replaces the vacancies. Without vacancies, the backfill becomes full.
   * @param tickets ids of the tickets that joined through the backfill.
   * @throws like `open`; then nothing changed
   */
  change(record: BackfillRecord, vacancies: Vacancies, tickets: readonly string[] = []): void {
    const isFull = vacancies.rooms.every((room) => room === 0)
    if (!isFull) this.#enter(record, vacancies)
    record.rooms = vacancies.rooms
    record.present = vacancies.present
    record.tickets.push(...tickets)
    if (isFull) this.#end(record, 'FILLED')
    this.#changed(record)
  }

  /** Cancels the backfill. Does nothing if it is no longer open. */
  cancel(record: BackfillRecord): void {
    if (record.status !== 'OPEN') return
    this.#end(record, 'CANCELLED')
    this.#changed(record)
  }

  /** Takes over the reloaded queues. Cancels the backfills that these queues cannot serve. */
  replaceQueues(runtimes: ReadonlyMap<string, QueueRuntime>): void {
    this.#runtimes = runtimes
    for (const record of this.#byId.values()) {
      if (record.status !== 'OPEN') continue
      record.waiting = undefined
      this.#enterOrCancel(record)
    }
  }

  /** Removes the backfills that ended at least `endedTicketTtlMs` ago. */
  removeEnded(now: number): void {
    for (const [record, endedAt] of this.#ended) {
      if (now - endedAt < this.#options.endedTicketTtlMs) return
      this.#ended.delete(record)
      this.#byId.delete(record.id)
      if (record.status === 'FILLED') this.#options.ledger?.backfillChanged(record.id, undefined)
    }
  }

  #add(record: BackfillRecord): void {
    this.#byId.set(record.id, record)
    record.match.backfill = record
  }

  /** Replaces the backfill's entry in the pool. @throws {InvalidBackfill}; then the old entry stays */
  #enter(record: BackfillRecord, { rooms, present }: Vacancies): void {
    const { id, priority, match } = record
    const runtime = this.#runtimes.get(match.queue.name)
    if (runtime === undefined || !isSame(runtime.compiled.model.teams, match.teams)) {
      throw new InvalidBackfill(`backfill: queue ${match.queue.name} no longer has the teams of the match`)
    }
    // Use the limits of the match's relaxation step. Stricter limits might exclude everybody.
    const createdAt = record.createdAt - match.expansionMs
    const all = present.flat()
    // Search around the middle of the match's players, because the server may be far from them. A player who is near
    // enough to all of them is near enough to their middle.
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

  #enterOrCancel(record: BackfillRecord): void {
    try {
      this.#enter(record, record)
    } catch (error) {
      if (!(error instanceof InvalidBackfill)) throw error
      this.cancel(record)
    }
  }

  #end(record: BackfillRecord, status: BackfillStatus): void {
    leave(record)
    record.status = status
    record.match.backfill = undefined
    this.#ended.set(record, this.#options.clock.now())
  }

  #changed(record: BackfillRecord): void {
    record.version += 1
    this.#save(record)
    this.#options.events.emit('backfillChanged', { backfill: backfillOf(record) })
  }

  #save(record: BackfillRecord): void {
    const text = record.status === 'CANCELLED' ? undefined : saveBackfill(record, this.#ended.get(record))
    this.#options.ledger?.backfillChanged(record.id, text)
  }
}

/** Removes the backfill from its pool. */
function leave(record: BackfillRecord): void {
  const { waiting } = record
  if (waiting === undefined) return
  waiting.runtime.pool.removeOpening(waiting.slot)
  waiting.runtime.backfills[waiting.slot] = undefined
  record.waiting = undefined
}

const isSame = (teams: readonly TeamShape[], others: readonly TeamShape[]) =>
  teams.length === others.length && teams.every(({ name }, index) => name === others[index]?.name)
