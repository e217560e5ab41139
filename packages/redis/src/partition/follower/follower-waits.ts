import { EventEmitter } from 'node:events'
import type { Clock } from '@muster/core/clock'
import { unlessAborted } from '@muster/core/internal'
import type { Ticket, TicketService, WaitEstimate } from '@muster/matchmaker'
import { createLeaderWaits, createStoredKind, type LeaderWaits, type StoredKind } from '@muster/matchmaker/internal'
import { LRUCache } from 'lru-cache'
import type { StoredTicket } from '../store/index.js'
import type { RpcClient } from './rpc-client.js'

/** A searching ticket. Its kind is computed on demand. */
interface Noted {
  readonly stored: Pick<StoredTicket, 'id' | 'createdAt' | 'body'>
  kind?: { readonly read: StoredKind | undefined }
}

export interface FollowerWaitsOptions {
  readonly ask: RpcClient['ask']
  readonly locate: Parameters<typeof createStoredKind>[0]
  readonly clock: Pick<Clock, 'now'>
}

/** Milliseconds for which the leader's estimates are cached (our choice). */
const FRESH_MS = 2000
/** Milliseconds after which the leader's estimates are not used: the leader may be gone (our choice). */
const GOOD_MS = 60_000
/** Maximum number of remembered tickets, and their total length: every returned ticket may need an estimate soon. */
const NOTED = 5000
const NOTED_LENGTH = 8 * 1024 * 1024

/** Wait-time estimates in a follower. It fetches them from the leader when they are needed. */
export function createFollowerWaits({ ask, locate, clock }: FollowerWaitsOptions) {
  const kindOf = createStoredKind(locate)
  const noted = new LRUCache<string, Noted>({
    maxSize: NOTED_LENGTH,
    // This minimum size allows at most `NOTED` tickets. With `max`, the cache would allocate memory for all of them at
    // once.
    sizeCalculation: ({ stored }) => Math.max(stored.body.length, Math.ceil(NOTED_LENGTH / NOTED)),
  })
  let learned: { readonly waits: LeaderWaits; readonly at: number } | undefined
  let asking: Promise<LeaderWaits> | undefined

  const askLeader = async (): Promise<LeaderWaits> => {
    const at = clock.now()
    try {
      learned = { waits: createLeaderWaits(await ask('learnedWaits')), at }
      return learned.waits
    } finally {
      asking = undefined
    }
  }
  const isFresh = () => learned !== undefined && clock.now() - learned.at < FRESH_MS

  return {
    /** Remembers a ticket that is about to be returned. */
    note: (stored: StoredTicket, { status }: Ticket): void => {
      const { id, createdAt, body } = stored
      if (status !== 'SEARCHING') return void noted.delete(id)
      if (noted.get(id)?.stored.createdAt !== createdAt) noted.set(id, { stored: { id, createdAt, body } })
    },

    /**
     * Returns an estimate at once, from the leader's last reply. Undefined if that is too old, or the ticket was not
     * noted.
     */
    estimateWait: (ticketId: string): WaitEstimate | undefined => {
      // The estimates are requested without waiting, because there may be no leader to reply.
      if (!isFresh()) (asking ??= askLeader()).catch(() => {})
      const one = noted.get(ticketId)
      const now = clock.now()
      if (one === undefined || learned === undefined || now - learned.at > GOOD_MS) return undefined
      const { read: kind } = (one.kind ??= { read: kindOf(one.stored) })
      return kind && learned.waits.estimate(kind, now - one.stored.createdAt)
    },

    estimateQueueWaits: async (...[place]: Parameters<TicketService['estimateQueueWaits']>) => {
      const waits = learned !== undefined && isFresh() ? learned.waits : await (asking ??= askLeader())
      return waits.estimateQueueWaits(place)
    },
  }
}

/** Callers of this process that wait for changes of tickets. */
export function createWaits() {
  const changes = new EventEmitter().setMaxListeners(0)
  // Returns the name of a ticket's event. The emitter has events of its own, whose names do not have this prefix.
  const nameOf = (ticketId: string) => `ticket ${ticketId}`
  return {
    /** Subscribes to the next change of a ticket. If called before the ticket is read, no change is missed. */
    begin: (ticketId: string) => {
      let tell = () => {}
      const changed = new Promise<void>((resolve) => {
        tell = resolve
      })
      changes.once(nameOf(ticketId), tell)
      return {
        /** Resolves at the next change. Rejects with `signal.reason`. */
        changed: (signal: AbortSignal | undefined) => unlessAborted(changed, signal),
        end: () => void changes.off(nameOf(ticketId), tell),
      }
    },
    /** Wakes the callers that wait for these tickets. */
    wake: (ticketIds: Iterable<string>) => {
      for (const ticketId of ticketIds) changes.emit(nameOf(ticketId))
    },
    /** Wakes all callers, because any ticket may have changed. */
    wakeAll: () => {
      for (const name of changes.eventNames()) changes.emit(name)
    },
    size: () => changes.eventNames().length,
  }
}
