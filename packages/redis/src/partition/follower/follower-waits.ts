import { EventEmitter } from 'node:events'
import type { Clock } from '@muster/core/clock'
import { unlessAborted } from '@muster/core/internal'
import type { Ticket, TicketService, WaitEstimate } from '@muster/matchmaker'
import { createHeardWaits, createStoredKind, type HeardWaits, type StoredKind } from '@muster/matchmaker/internal'
import { LRUCache } from 'lru-cache'
import type { StoredTicket } from '../store/index.js'
import type { RpcClient } from './rpc-client.js'

/** A ticket that searches. Its kind is read when somebody wants to know. */
interface Noted {
  readonly stored: Pick<StoredTicket, 'id' | 'createdAt' | 'body'>
  kind?: { readonly read: StoredKind | undefined }
}

export interface FollowerWaitsOptions {
  readonly ask: RpcClient['ask']
  readonly locate: Parameters<typeof createStoredKind>[0]
  readonly clock: Pick<Clock, 'now'>
}

/** Milliseconds for which the leader's answer is cached (our choice). */
const FRESH_MS = 2000
/** Milliseconds after which nothing is said of what was heard: the leader may be gone (our choice). */
const GOOD_MS = 60_000
/** Tickets noted at once, and the length of their texts: what is answered is answered with at once. */
const NOTED = 5000
const NOTED_LENGTH = 8 * 1024 * 1024

/** Wait-time estimates in a follower. It fetches them from the leader now and then. */
export function createFollowerWaits({ ask, locate, clock }: FollowerWaitsOptions) {
  const kindOf = createStoredKind(locate)
  const noted = new LRUCache<string, Noted>({
    maxSize: NOTED_LENGTH,
    // No more than `NOTED` of them, and no memory for those that there are not.
    sizeCalculation: ({ stored }) => Math.max(stored.body.length, Math.ceil(NOTED_LENGTH / NOTED)),
  })
  let heard: { readonly waits: HeardWaits; readonly at: number } | undefined
  let asking: Promise<HeardWaits> | undefined

  const askLeader = async (): Promise<HeardWaits> => {
    const at = clock.now()
    try {
      heard = { waits: createHeardWaits(await ask('learnedWaits')), at }
      return heard.waits
    } finally {
      asking = undefined
    }
  }
  const isFresh = () => heard !== undefined && clock.now() - heard.at < FRESH_MS

  return {
    /** A ticket that is about to be answered with. */
    note: (stored: StoredTicket, { status }: Ticket): void => {
      const { id, createdAt, body } = stored
      if (status !== 'SEARCHING') return void noted.delete(id)
      if (noted.get(id)?.stored.createdAt !== createdAt) noted.set(id, { stored: { id, createdAt, body } })
    },

    /** At once, from what was heard last. Undefined also for a ticket that was not noted lately. */
    estimateWait: (ticketId: string): WaitEstimate | undefined => {
      // Without a leader there is no answer, and nobody waits for it here.
      if (!isFresh()) (asking ??= askLeader()).catch(() => {})
      const one = noted.get(ticketId)
      const now = clock.now()
      if (one === undefined || heard === undefined || now - heard.at > GOOD_MS) return undefined
      const { read: kind } = (one.kind ??= { read: kindOf(one.stored) })
      return kind && heard.waits.estimate(kind, now - one.stored.createdAt)
    },

    estimateQueueWaits: async (...[place]: Parameters<TicketService['estimateQueueWaits']>) => {
      const waits = heard !== undefined && isFresh() ? heard.waits : await (asking ??= askLeader())
      return waits.estimateQueueWaits(place)
    },
  }
}

/** Callers of this process that wait for a ticket to change. */
export function createWaits() {
  const changes = new EventEmitter().setMaxListeners(0)
  // The emitter has events of its own, whose names have no such beginning.
  const nameOf = (ticketId: string) => `ticket ${ticketId}`
  return {
    /** The next change of a ticket: begun before the ticket is read, no change is missed. */
    begin: (ticketId: string) => {
      let tell = () => {}
      const changed = new Promise<void>((resolve) => {
        tell = resolve
      })
      changes.once(nameOf(ticketId), tell)
      return {
        /** Resolves at the next change. Rejects with the signal's reason. */
        changed: (signal: AbortSignal | undefined) => unlessAborted(changed, signal),
        end: () => void changes.off(nameOf(ticketId), tell),
      }
    },
    /** These tickets have changed. */
    wake: (ticketIds: Iterable<string>) => {
      for (const ticketId of ticketIds) changes.emit(nameOf(ticketId))
    },
    /** Any ticket may have changed. */
    wakeAll: () => {
      for (const name of changes.eventNames()) changes.emit(name)
    },
    size: () => changes.eventNames().length,
  }
}
