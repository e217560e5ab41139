import type { Yielder } from '@muster/core/internal'
import type { Entry, Slot } from '@muster/kernel'
import type { ReturnReason } from '@muster/hosting/internal'
import { InvalidTicket } from '../errors.js'
import type { Facts } from '../queues/index.js'
import type { WaitCell } from '../wait-times/index.js'
import { isPrivate } from './private-matches.js'
import { absentAt, createTimers, firstExpiryOf, isExpiredIn } from './ticket-expiry.js'
import { NOWHERE, type QueueRuntime, type TicketRecord } from './ticket-record.js'
import type { WaitingFor } from './ticket.js'

const runtimeOf = (record: TicketRecord, index: number): QueueRuntime => record.runtimes[index] as QueueRuntime

export const slotIn = ({ slot, moreSlots }: TicketRecord, index: number): Slot =>
  index === 0 ? slot : (moreSlots?.[index - 1] ?? NOWHERE)

function setSlot(record: TicketRecord, index: number, slot: Slot): void {
  if (index === 0) record.slot = slot
  else (record.moreSlots ??= record.runtimes.slice(1).map(() => NOWHERE))[index - 1] = slot
}

export const isIn = (record: TicketRecord, runtime: QueueRuntime): boolean => {
  const index = record.runtimes.indexOf(runtime)
  return index >= 0 && slotIn(record, index) !== NOWHERE
}

/**
 * Adds the ticket to the pool of one of its queues, unless it is already there.
 * @throws {InvalidTicket} if the queue refuses the ticket.
 */
function enter(record: TicketRecord, index: number, known?: Entry<Facts>): void {
  if (slotIn(record, index) !== NOWHERE) return
  const runtime = runtimeOf(record, index)
  const slot = runtime.pool.add(known ?? runtime.entryOf(record))
  setSlot(record, index, slot)
  runtime.records[slot] = record
  if (runtime.queue.mode === 'arrival') arrive(record, runtime)
}

function arrive(record: TicketRecord, runtime: QueueRuntime): void {
  runtime.arrivals.add(record)
  if (runtime.arrivals.size === 1) runtime.arrived(runtime)
}

function leave(record: TicketRecord, index: number): void {
  const slot = slotIn(record, index)
  if (slot === NOWHERE) return
  const runtime = runtimeOf(record, index)
  runtime.pool.remove(slot)
  runtime.records[slot] = undefined
  if (runtime.queue.mode === 'arrival') runtime.arrivals.delete(record)
  setSlot(record, index, NOWHERE)
}

function leaveAll(record: TicketRecord): void {
  for (let index = 0; index < record.runtimes.length; index++) leave(record, index)
}

export function leaveOthers(record: TicketRecord, runtime: QueueRuntime): void {
  for (let index = 0; index < record.runtimes.length; index += 1)
    if (record.runtimes[index] !== runtime) leave(record, index)
}

/** Keeps the runtimes for which `keep` returns true, and removes the ticket from the others. */
function keepRuntimes(record: TicketRecord, keep: (runtime: QueueRuntime) => boolean): void {
  if (record.runtimes.every(keep)) return
  const kept: number[] = []
  for (const [index, runtime] of record.runtimes.entries()) {
    if (keep(runtime)) kept.push(index)
    else leave(record, index)
  }
  const slots = kept.map((index) => slotIn(record, index))
  record.runtimes = kept.map((index) => runtimeOf(record, index))
  for (const [index, slot] of slots.entries()) setSlot(record, index, slot)
}

/** Moves the ticket to new runtimes, whose pools replace those of the old runtimes. */
export function setRuntimes(record: TicketRecord, runtimes: readonly QueueRuntime[]): void {
  record.runtimes = runtimes
  record.slot = NOWHERE
  record.moreSlots = undefined
}

/**
 * Counts a searching ticket in the wait statistics of its queues; moves it if it is already counted. A ticket of a
 * private match does not wait for other players and is not counted.
 */
function beginWait(record: TicketRecord, now: number): void {
  if (isPrivate(record)) return
  const cells = cellsOf(record, now)
  if (record.waits !== undefined) {
    if (isSame(record.waits, cells)) return
    endWait(record, now)
  }
  record.waits = cells
  for (const cell of cells) cell.enter(record.createdAt, record.players.length, now)
}

/** Stops counting the ticket in wait statistics. @param matchedIn the queue that has found a match for it. */
function endWait(record: TicketRecord, now: number, matchedIn?: QueueRuntime): void {
  const { waits, createdAt, players, runtimes } = record
  if (waits === undefined) return
  // There is one cell for each runtime, in the order of the runtimes.
  const matched = matchedIn === undefined ? undefined : waits[runtimes.indexOf(matchedIn)]
  for (const cell of waits) cell.leave(createdAt, players.length, now, cell === matched)
  record.waits = undefined
}

const kindOf = ({ place, players }: TicketRecord) => ({ place, players: players.length })

function cellsOf(record: TicketRecord, now: number): readonly WaitCell[] {
  const { runtimes } = record
  const [first] = runtimes
  const kind = kindOf(record)
  if (first !== undefined && runtimes.length === 1) return first.waits.cellOf(kind, now).alone
  return runtimes.map(({ waits }) => waits.cellOf(kind, now))
}

const isSame = (cells: readonly WaitCell[], others: readonly WaitCell[]) =>
  cells.length === others.length && cells.every((cell, index) => cell === others[index])

/**
 * Moves searching tickets in and out of pools. Pools are the kernel's spatial indices of the tickets that a round may
 * match.
 */
export interface TicketPools {
  /**
   * Moves a searching ticket into its pools or out of them, as its state requires now. Sets a timer for the next
   * change.
   * @param entries the ticket's entries in its runtimes, if they are known.
   * @param refused receives the runtime that refuses the ticket.
   */
  syncPools(record: TicketRecord, now: number, entries?: readonly Entry<Facts>[], refused?: OnRefused): void
  /**
   * Applies the changes of tickets whose timers are due.
   * @param wasPaused true if this process was paused. Then every client's time to be away starts anew.
   */
  advance(now: number, wasPaused: boolean): void
  /** Ends the search of a ticket. @param matchedIn the queue that has found a match for it. */
  leave(record: TicketRecord, now: number, matchedIn?: QueueRuntime): void
  /** Marks exactly these tickets as having a match but no server: see `waitingFor`. */
  shortOfServers(records: readonly TicketRecord[], yielder: Yielder): Promise<void>
  /** Returns the searching tickets that are in no pool because they cannot be matched now. */
  outside(): Iterable<TicketRecord>
  /** Marks a ticket that was short of servers in an earlier process, until `shortOfServers` is called. */
  expectShort(record: TicketRecord): void
  /** Removes the ticket from its pools, timers and statistics. */
  forget(record: TicketRecord, now: number): void
}

/** Why a ticket is to be cancelled: it has expired, no queue accepts it, or its client is away. */
export type OutOfQueues = 'expired' | 'refused' | 'absent'

export type OnRefused = (runtime: QueueRuntime, error: InvalidTicket) => void

interface TicketPoolsOptions {
  readonly locateTimeoutMs: number
  /** True if another process leads. Then no client counts as absent. */
  readonly isFollowing: () => boolean
  /** True if another ticket of one of its players has a match. */
  readonly isElsewhere: (record: TicketRecord) => boolean
  readonly changed: (record: TicketRecord) => void
  /** Called when the ticket is to be cancelled. */
  readonly out: (record: TicketRecord, reason: OutOfQueues, now: number) => void
}

export function createTicketPools(options: TicketPoolsOptions): TicketPools {
  const { locateTimeoutMs, isFollowing, isElsewhere, changed, out } = options
  const timers = createTimers<TicketRecord>()
  let short = new Set<TicketRecord>()
  const outside = new Set<TicketRecord>()
  /** Epoch milliseconds of the end of the last pause of this process. */
  let upSince = -Infinity

  const lacks = (record: TicketRecord, what: WaitingFor) => {
    if (record.waitingFor === what) return
    record.waitingFor = what
    changed(record)
  }

  /**
   * Returns why the ticket cannot be matched now, and until when: Infinity until `syncPools` is called again. Returns
   * undefined if it can be matched.
   */
  const hindranceOf = (record: TicketRecord, now: number): { lacks: WaitingFor; until: number } | undefined => {
    const locatedBy = record.createdAt + locateTimeoutMs
    if (record.locating && now < locatedBy && !isPrivate(record)) return { lacks: 'location', until: locatedBy }
    if (now < record.restsUntil) return { lacks: 'retry', until: record.restsUntil }
    if (isElsewhere(record)) return { lacks: 'other-ticket', until: Infinity }
    return isPrivate(record) ? { lacks: 'servers', until: Infinity } : undefined
  }

  const enterAll = (
    record: TicketRecord,
    entries: readonly Entry<Facts>[] | undefined,
    refused: OnRefused | undefined,
  ) => {
    let refusing: Set<QueueRuntime> | undefined
    for (let index = 0; index < record.runtimes.length; index += 1) {
      const runtime = record.runtimes[index] as QueueRuntime
      try {
        enter(record, index, entries?.[index])
      } catch (error) {
        if (!(error instanceof InvalidTicket)) throw error
        refusing = (refusing ?? new Set()).add(runtime)
        refused?.(runtime, error)
      }
    }
    if (refusing !== undefined) keepRuntimes(record, (runtime) => refusing.has(runtime) === false)
  }

  const syncPools: TicketPools['syncPools'] = (record, now, entries, refused) => {
    if (record.status !== 'SEARCHING') return
    if (record.runtimes.length === 0) return out(record, 'refused', now)
    if (firstExpiryOf(record) <= now) leaveExpired(record, now)
    if (record.runtimes.length === 0) return out(record, 'expired', now)
    const awayAt = absentAt(record, { isSuspended: isFollowing(), upSince }, now)
    if (awayAt <= now) return out(record, 'absent', now)
    const hindrance = hindranceOf(record, now)
    if (hindrance === undefined) {
      if (outside.size > 0) outside.delete(record)
      enterAll(record, entries, refused)
    } else {
      leaveAll(record)
      outside.add(record)
    }
    if (record.runtimes.length === 0) return out(record, 'refused', now)
    beginWait(record, now)
    timers.set(record, Math.min(hindrance?.until ?? Infinity, firstExpiryOf(record), awayAt))
    lacks(record, hindrance?.lacks ?? (short.has(record) ? 'servers' : 'players'))
  }

  const leaveSearch: TicketPools['leave'] = (record, now, matchedIn) => {
    leaveAll(record)
    if (outside.size > 0) outside.delete(record)
    endWait(record, now, matchedIn)
    timers.remove(record)
  }

  return {
    syncPools,
    advance: (now, wasPaused) => {
      if (wasPaused) upSince = now
      for (const due of timers.takeDue(now)) syncPools(due, now)
    },
    leave: leaveSearch,
    outside: () => outside,
    expectShort: (record) => void short.add(record),
    forget: (record, now) => {
      leaveSearch(record, now)
      short.delete(record)
    },
    shortOfServers: async (records, yielder) => {
      const before = short
      short = new Set(records)
      for (const record of records) {
        if (record.status === 'SEARCHING' && record.waitingFor === 'players') lacks(record, 'servers')
        if (yielder.isDue()) await yielder.yieldNow()
      }
      for (const record of before) {
        const isShort = record.status === 'SEARCHING' && record.waitingFor === 'servers'
        if (isShort && !short.has(record)) lacks(record, 'players')
        if (yielder.isDue()) await yielder.yieldNow()
      }
    },
  }
}

const leaveExpired = (record: TicketRecord, now: number) =>
  keepRuntimes(record, (runtime) => !isExpiredIn(runtime, record.createdAt, now))

/**
 * Returns the milliseconds before a ticket is matched again after a failed deployment. An immediate retry would often
 * fail again.
 */
export const retryDelay = (attempts: number) => Math.min(1000 * 2 ** attempts, 15_000)
/** Reasons for a requeue without a failed deployment: the ticket may be matched again immediately. */
export const atOnce: ReadonlySet<ReturnReason> = new Set(['dissolved', 'not-accepted', 'stopped'])
