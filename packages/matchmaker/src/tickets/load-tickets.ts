import type { Clock } from '@muster/core/clock'
import { PlayerOverLimit } from '../errors.js'
import { type CheckedTicket, NEW_STATE, readBody, type StoredTicket, type TicketState } from './checked-ticket.js'
import type { PlayerLimits } from './limits.js'
import type { LocatePlayers, Place } from './locate-players.js'
import type { PlayerIndex } from './player-index.js'
import { isPrivate, type PrivateMatches } from './private-matches.js'
import { setRuntimes, type OutOfQueues, type TicketPools } from './ticket-pools.js'
import { newRecord, type QueueRuntime, type Seat, type TicketRecord } from './ticket-record.js'

/** A ticket that could not be loaded. */
export interface NotLoaded {
  readonly id: string
  readonly error: unknown
}

/** Takes over tickets that other processes, or earlier ones, have created and checked. */
export interface Loading {
  /**
   * Loads tickets, or what is newer about tickets that are here already. Their players and queues are not checked
   * again, except for what only the leader counts: a new ticket of a player who is over `maxServersPerPlayer` is
   * cancelled as `refused`, and so is a ticket that no queue takes any more. Tickets whose match was found, and those
   * whose match runs, are loaded before this process leads: see `Leader.lead`.
   */
  load(tickets: readonly StoredTicket[]): readonly NotLoaded[]
  /** Forgets tickets, while another process leads. */
  unload(ids: readonly string[]): void
  /** From now on this process leads: changes that were put off are made. */
  lead(): void
}

/** The matches of an earlier process; see `Inheriting`. */
export interface SeatInherited {
  seat(record: TicketRecord, state: TicketState): Seat | undefined
  leave(record: TicketRecord): void
}

interface LoadingOptions {
  readonly inheriting: SeatInherited
  readonly limits: Pick<PlayerLimits, 'check'>
  readonly following: Following
  readonly byId: Map<string, TicketRecord>
  readonly players: PlayerIndex
  readonly privateMatches: Pick<PrivateMatches, 'add' | 'forget'>
  readonly searching: TicketPools
  /** By name. */
  readonly runtimes: () => ReadonlyMap<string, QueueRuntime>
  readonly locatePlayers: LocatePlayers
  readonly located: (record: TicketRecord, place: Place) => void
  /** Grows the ticket's version, unless that is put off. */
  readonly touch: (record: TicketRecord) => void
  readonly out: (record: TicketRecord, why: OutOfQueues, now: number) => void
  /** Milliseconds before a ticket that waits for a retry is grouped. */
  readonly retryDelayMs: (attempts: number) => number
  readonly clock: Pick<Clock, 'now'>
}

export function createLoading(options: LoadingOptions): Loading {
  const { inheriting, limits, following, byId, players, privateMatches, searching } = options
  const { runtimes, locatePlayers, located, touch, out, retryDelayMs, clock } = options

  const runtimesOf = (queues: readonly string[]): readonly QueueRuntime[] => {
    const known = runtimes()
    return queues.flatMap((queue) => known.get(queue) ?? [])
  }

  const add = (ticket: CheckedTicket, { id, createdAt, place: known }: StoredTicket, now: number): TicketRecord => {
    const place = known ?? locatePlayers(ticket.players)
    const locating = place instanceof Promise
    const record = newRecord(ticket, {
      id,
      runtimes: runtimesOf(ticket.queues),
      createdAt: Math.min(createdAt, now),
      attempts: 0,
      place: locating ? undefined : place,
      locating,
    })
    byId.set(id, record)
    players.add(record)
    if (isPrivate(record)) privateMatches.add(record)
    if (locating) void place.then((found) => located(record, found))
    return record
  }

  const remove = (record: TicketRecord, now: number) => {
    inheriting.leave(record)
    searching.forget(record, now)
    following.forget(record)
    players.remove(record)
    if (isPrivate(record)) privateMatches.forget(record)
    byId.delete(record.id)
  }

  /** Sets the state of a ticket that is in no pool and in no match. */
  const restore = (record: TicketRecord, state: TicketState, now: number) => {
    const { version, status, attempts, waitingFor } = state
    record.version = version
    record.attempts = attempts
    record.status = 'SEARCHING'
    if (status !== 'SEARCHING') {
      record.seat = inheriting.seat(record, state)
      if (record.seat !== undefined) return void seated(record, state)
      // The match continues without this process knowing who is in it.
      if (status === 'HOST_ASSIGNED') return remove(record, now)
    }
    record.waitingFor = isPrivate(record) && state === NEW_STATE ? 'servers' : (waitingFor ?? 'players')
    record.restsUntil = waitingFor === 'retry' ? now + retryDelayMs(attempts) : 0
    if (waitingFor === 'servers' && !isPrivate(record)) searching.expectShort(record)
    searching.syncPools(record, now)
    if (status === 'MATCH_FOUND') touch(record)
  }

  /** Whether a player of the ticket has reached `maxServersPerPlayer`. */
  const isOverLimit = ({ players: all }: TicketRecord, now: number): boolean => {
    try {
      for (const { id } of all) limits.check(id, 0, now)
      return false
    } catch (error) {
      if (error instanceof PlayerOverLimit) return true
      throw error
    }
  }

  const seated = (record: TicketRecord, { status, assignedAt, left }: TicketState) => {
    record.status = status
    record.assignedAt = assignedAt
    record.left = left
    if (status !== 'HOST_ASSIGNED') return
    players.remove(record)
    if (isPrivate(record)) privateMatches.forget(record)
  }

  const loadOne = (stored: StoredTicket, now: number) => {
    const { id, body, createdAt, state = NEW_STATE } = stored
    const { status } = state
    if (status === 'CANCELLED' || (status === 'HOST_ASSIGNED' && !following.isOn()))
      throw new Error(`ticket ${id} has ended`)
    const known = byId.get(id)
    if (known === undefined) {
      const record = add(readBody(id, body), stored, now)
      restore(record, state, now)
      if (stored.state === undefined && !following.isOn() && isOverLimit(record, now)) out(record, 'refused', now)
      return
    }
    if (known.endedAt !== undefined) {
      // A ticket of this id was created again, after the one before had been removed elsewhere.
      if (known.createdAt === Math.min(createdAt, now)) return
      byId.delete(id)
      return restore(add(readBody(id, body), stored, now), state, now)
    }
    if (!following.isOn() || known.version >= state.version) return
    searching.leave(known, state.matchedAt ?? now, state.queue === undefined ? undefined : runtimes().get(state.queue))
    inheriting.leave(known)
    following.forget(known)
    setRuntimes(known, runtimesOf(known.queues))
    restore(known, state, now)
  }

  return {
    load: (tickets) => {
      const now = clock.now()
      const failed: NotLoaded[] = []
      for (const stored of tickets) {
        try {
          loadOne(stored, now)
        } catch (error) {
          failed.push({ id: stored.id, error })
        }
      }
      return failed
    },

    unload: (ids) => {
      if (!following.isOn()) throw new Error('tickets are unloaded only while another process leads')
      const now = clock.now()
      for (const id of ids) {
        const record = byId.get(id)
        if (record !== undefined) remove(record, now)
      }
    },

    lead: () => {
      const now = clock.now()
      for (const [record, why] of following.end()) {
        if (record.status !== 'SEARCHING') continue
        const { version } = record
        if (record.runtimes.length === 0 && why !== undefined) out(record, why, now)
        else searching.syncPools(record, now)
        if (record.version === version) touch(record)
      }
    },
  }
}

/**
 * While another process leads, this one only keeps its tickets ready. What would change a ticket is put off: the leader
 * makes that change, or this process does, when it leads.
 */
interface Following {
  /**
   * Whether another process leads; then the ticket is remembered as one to be changed.
   * @param out why no queue takes the ticket any more.
   */
  putsOff(record: TicketRecord, out?: OutOfQueues): boolean
  isOn(): boolean
  /** The ticket is not kept any more, or was loaded again. */
  forget(record: TicketRecord): void
  /** From now on this process leads. Returns the tickets whose changes were put off, and the first `out` of each. */
  end(): readonly (readonly [TicketRecord, OutOfQueues | undefined])[]
}

export function createFollowing(): Following {
  const changing = new Map<TicketRecord, OutOfQueues | undefined>()
  let isOn = true
  return {
    putsOff: (record, out) => {
      if (isOn) changing.set(record, changing.get(record) ?? out)
      return isOn
    },
    isOn: () => isOn,
    forget: (record) => void changing.delete(record),
    end: () => {
      isOn = false
      const put = [...changing]
      changing.clear()
      return put
    },
  }
}
