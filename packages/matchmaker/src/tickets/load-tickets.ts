import type { Clock } from '@muster/core/clock'
import { PlayerOverLimit } from '../errors.js'
import { type CheckedTicket, NEW_STATE, readBody, type StoredTicket, type TicketState } from './checked-ticket.js'
import type { PlayerLimits } from './limits.js'
import type { LocatePlayers, PlayerLocation } from './locate-players.js'
import type { PlayerIndex } from './player-index.js'
import { isPrivate, type PrivateMatches } from './private-matches.js'
import { setRuntimes, type OutOfQueues, type TicketPools } from './ticket-pools.js'
import { newRecord, type QueueRuntime, type MatchSeat, type TicketRecord } from './ticket-record.js'

/** A ticket that could not be loaded. */
export interface NotLoaded {
  readonly id: string
  readonly error: unknown
}

/** Loads tickets that other or earlier processes have created and validated. */
export interface TicketLoader {
  /**
   * Loads new tickets, and newer states of loaded tickets. Their players and queues are not checked again, with two
   * exceptions. A new ticket is cancelled as `refused` if a player is over `maxServersPerPlayer`, which only the leader
   * counts. It is also cancelled if no queue accepts it any more. Tickets in a found or running match are loaded before
   * this process leads: see `Leader.lead`.
   */
  load(tickets: readonly StoredTicket[]): readonly NotLoaded[]
  /** Removes tickets while another process leads. */
  unload(ids: readonly string[]): void
  /** Makes this process the leader. Changes that were deferred until now are applied. */
  lead(): void
}

/** The matches of an earlier process; see `InheritedMatches`. */
export interface SeatInherited {
  seat(record: TicketRecord, state: TicketState): MatchSeat | undefined
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
  /** Returns the queues in operation by name. */
  readonly runtimes: () => ReadonlyMap<string, QueueRuntime>
  readonly locatePlayers: LocatePlayers
  readonly located: (record: TicketRecord, place: PlayerLocation) => void
  /** Raises the ticket's version, unless changes are deferred. */
  readonly touch: (record: TicketRecord) => void
  readonly out: (record: TicketRecord, why: OutOfQueues, now: number) => void
  /** Returns the milliseconds before a ticket that waits for a retry is matched again. */
  readonly retryDelayMs: (attempts: number) => number
  readonly clock: Pick<Clock, 'now'>
}

export function createTicketLoader(options: LoadingOptions): TicketLoader {
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
      // Forget the ticket: its match continues, but this process could not take the match over.
      if (status === 'HOST_ASSIGNED') return remove(record, now)
    }
    record.waitingFor = isPrivate(record) && state === NEW_STATE ? 'servers' : (waitingFor ?? 'players')
    record.restsUntil = waitingFor === 'retry' ? now + retryDelayMs(attempts) : 0
    if (waitingFor === 'servers' && !isPrivate(record)) searching.expectShort(record)
    searching.syncPools(record, now)
    if (status === 'MATCH_FOUND') touch(record)
  }

  /** True if a player of the ticket has reached `maxServersPerPlayer`. */
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
      // Another process removed the old ticket and created a new one of the same id.
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
      if (!following.isOn()) throw new Error('tickets may be unloaded only while another process leads')
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
 * The state of a follower, i.e. of a process while another one leads. It keeps its tickets ready, and defers the
 * changes that the leader makes. If this process becomes the leader, it applies the deferred changes.
 */
interface Following {
  /**
   * Defers a change of the ticket and returns true if another process leads. Otherwise returns false.
   * @param out the reason, if no queue accepts the ticket any more.
   */
  putsOff(record: TicketRecord, out?: OutOfQueues): boolean
  isOn(): boolean
  /** Drops the deferred change of a ticket that was removed or loaded again. */
  forget(record: TicketRecord): void
  /** Makes this process the leader. Returns the tickets with deferred changes, and the first `out` reason of each. */
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
