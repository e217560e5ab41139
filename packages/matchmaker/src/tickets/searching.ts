import type { Yielder } from '@muster/core/runtime'
import { InvalidTicket } from '../errors.js'
import type { Entry } from '@muster/kernel'
import type { Facts } from '../queues/rule-parts/rule-checks.js'
import { absentAt } from './presence.js'
import { createDeadlines } from './deadlines.js'
import type { QueueRuntime, TicketRecord } from './records.js'
import { enter, keepRuntimes, leaveAll } from './pool-membership.js'
import { beginWait, endWait } from './counting-waits.js'
import type { WaitingFor } from './ticket.js'

/** Moves searching tickets in and out of the pools of their runtimes. */
export interface Searching {
  /**
   * Moves a searching ticket into its pools or out of them, as it should be now, and sets a timer for the next change.
   * @param entries of the ticket in its runtimes, if they are known. @param refused is told which runtime refuses the
   *   ticket.
   */
  settle(record: TicketRecord, now: number, entries?: readonly Entry<Facts>[], refused?: Refused): void
  /** Settles the tickets whose timers are due. */
  advance(now: number): void
  /** The ticket stops searching. @param matchedIn the queue that has found a match for it. */
  leave(record: TicketRecord, now: number, matchedIn?: QueueRuntime): void
  /** Marks exactly these tickets as having a match but no server: see `waitingFor`. */
  shortOfServers(records: readonly TicketRecord[], yielder: Yielder): Promise<void>
  /** The tickets that search and are in no pool, because they cannot be grouped now. */
  outside(): Iterable<TicketRecord>
  /** The ticket was short of servers in an earlier process, and counts as such until `shortOfServers` is called. */
  expectShort(record: TicketRecord): void
  /** Nothing is kept of the ticket any more. */
  forget(record: TicketRecord, now: number): void
}

/** Why a ticket is to be cancelled: no queue takes it any more, or its client is away. */
export type OutOfQueues = 'expired' | 'refused' | 'absent'

type Refused = (runtime: QueueRuntime, error: InvalidTicket) => void

export interface SearchingOptions {
  readonly locateTimeoutMs: number
  /** Whether another process leads: then nobody counts as absent. */
  readonly isFollowing: () => boolean
  /** Whether another ticket of one of its players has a match. */
  readonly isElsewhere: (record: TicketRecord) => boolean
  readonly changed: (record: TicketRecord) => void
  /** Called when the ticket is to be cancelled. */
  readonly out: (record: TicketRecord, reason: OutOfQueues, now: number) => void
}

interface Hindrance {
  readonly lacks: WaitingFor
  /** Epoch milliseconds; Infinity for until it is settled again. */
  readonly until: number
}

export function createSearching(options: SearchingOptions): Searching {
  const { locateTimeoutMs, isFollowing, isElsewhere, changed, out } = options
  const deadlines = createDeadlines<TicketRecord>()
  let short = new Set<TicketRecord>()
  const outside = new Set<TicketRecord>()

  const lacks = (record: TicketRecord, what: WaitingFor) => {
    if (record.waitingFor === what) return
    record.waitingFor = what
    changed(record)
  }

  /** Why the ticket cannot be grouped now. */
  const hindranceOf = (record: TicketRecord, now: number): Hindrance | undefined => {
    const locatedBy = record.createdAt + locateTimeoutMs
    const isPrivate = record.privateSeat !== undefined
    if (record.locating && now < locatedBy && !isPrivate) return { lacks: 'location', until: locatedBy }
    if (now < record.restsUntil) return { lacks: 'retry', until: record.restsUntil }
    if (isElsewhere(record)) return { lacks: 'other-ticket', until: Infinity }
    return isPrivate ? { lacks: 'servers', until: Infinity } : undefined
  }

  const enterAll = (
    record: TicketRecord,
    entries: readonly Entry<Facts>[] | undefined,
    refused: Refused | undefined,
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

  const settle: Searching['settle'] = (record, now, entries, refused) => {
    if (record.status !== 'SEARCHING') return
    if (record.runtimes.length === 0) return out(record, 'refused', now)
    if (firstExpiryOf(record) <= now) leaveExpired(record, now)
    if (record.runtimes.length === 0) return out(record, 'expired', now)
    const awayAt = absentAt(record, isFollowing(), now)
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
    deadlines.set(record, Math.min(hindrance?.until ?? Infinity, firstExpiryOf(record), awayAt))
    lacks(record, hindrance?.lacks ?? (short.has(record) ? 'servers' : 'players'))
  }

  const leaveSearch: Searching['leave'] = (record, now, matchedIn) => {
    leaveAll(record)
    if (outside.size > 0) outside.delete(record)
    endWait(record, now, matchedIn)
    deadlines.remove(record)
  }

  return {
    settle,
    advance: (now) => deadlines.advance(now, (due) => settle(due, now)),
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
        if (!short.has(record) && record.waitingFor === 'servers') lacks(record, 'players')
        if (yielder.isDue()) await yielder.yieldNow()
      }
    },
  }
}

function firstExpiryOf({ createdAt, runtimes }: TicketRecord): number {
  let first = Infinity
  for (const { queue } of runtimes) first = Math.min(first, createdAt + queue.expireAfterMs)
  return first
}

const leaveExpired = (record: TicketRecord, now: number) =>
  keepRuntimes(record, ({ queue }) => now - record.createdAt < queue.expireAfterMs)
