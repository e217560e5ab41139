import type { Clock } from '@muster/core/clock'
import { unlessAborted } from '@muster/core/internal'
import type { QueueWait, Ticket, TicketService, WaitEstimate } from '@muster/matchmaker'
import { createHeardWaits, createStoredKind, type HeardWaits, type StoredKind } from '@muster/matchmaker/internal'
import { LRUCache } from 'lru-cache'
import type { StoredTicket } from '../store/index.js'
import type { RpcClient } from './rpc-client.js'

/** A ticket that searches. Its kind is read when somebody wants to know. */
interface Noted {
  readonly stored: Pick<StoredTicket, 'id' | 'createdAt' | 'body'>
  kind?: { readonly read: StoredKind | undefined }
}

/** Wait-time estimates in a follower. It fetches them from the leader now and then. */
interface FollowerWaits {
  /** A ticket that is about to be answered with. */
  note(stored: StoredTicket, ticket: Ticket): void
  /** At once, from what was heard last. Undefined also for a ticket that was not noted lately. */
  estimateWait: TicketService['estimateWait']
  estimateQueueWaits(...input: Parameters<TicketService['estimateQueueWaits']>): Promise<readonly QueueWait[]>
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

export function createFollowerWaits({ ask, locate, clock }: FollowerWaitsOptions): FollowerWaits {
  const kindOf = createStoredKind(locate)
  const noted = new LRUCache<string, Noted>({
    max: NOTED,
    maxSize: NOTED_LENGTH,
    sizeCalculation: ({ stored }) => stored.body.length + 1,
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
    note: (stored, { status }) => {
      const { id, createdAt, body } = stored
      if (status !== 'SEARCHING') return void noted.delete(id)
      if (noted.get(id)?.stored.createdAt !== createdAt) noted.set(id, { stored: { id, createdAt, body } })
    },

    estimateWait: (ticketId): WaitEstimate | undefined => {
      // Without a leader there is no answer, and nobody waits for it here.
      if (!isFresh()) (asking ??= askLeader()).catch(() => {})
      const one = noted.get(ticketId)
      const now = clock.now()
      if (one === undefined || heard === undefined || now - heard.at > GOOD_MS) return undefined
      const { read: kind } = (one.kind ??= { read: kindOf(one.stored) })
      return kind && heard.waits.estimate(kind, now - one.stored.createdAt)
    },

    estimateQueueWaits: async (place) => {
      const waits = heard !== undefined && isFresh() ? heard.waits : await (asking ??= askLeader())
      return waits.estimateQueueWaits(place)
    },
  }
}

/** Callers of this process that wait for a ticket to change. */
interface Waits {
  /** The next change of a ticket: begun before the ticket is read, no change is missed. */
  begin(ticketId: string): Wait
  /** These tickets have changed. */
  wake(ticketIds: Iterable<string>): void
  /** Any ticket may have changed. */
  wakeAll(): void
  size(): number
}

interface Wait {
  /** Resolves at the next change. Rejects with the signal's reason. */
  changed(signal: AbortSignal | undefined): Promise<void>
  end(): void
}

export function createWaits(): Waits {
  const waiting = new Map<string, Set<() => void>>()

  const wake = (ticketId: string) => {
    const waiters = waiting.get(ticketId)
    waiting.delete(ticketId)
    for (const tell of waiters ?? []) tell()
  }

  return {
    begin: (ticketId) => {
      let tell = () => {}
      const changed = new Promise<void>((resolve) => {
        tell = resolve
      })
      const waiters = waiting.get(ticketId) ?? new Set()
      waiting.set(ticketId, waiters)
      waiters.add(tell)
      return {
        changed: (signal) => (signal === undefined ? changed : unlessAborted(changed, signal)),
        end: () => {
          waiters.delete(tell)
          if (waiters.size === 0 && waiting.get(ticketId) === waiters) waiting.delete(ticketId)
        },
      }
    },
    wake: (ticketIds) => {
      for (const ticketId of ticketIds) if (waiting.has(ticketId)) wake(ticketId)
    },
    wakeAll: () => {
      for (const ticketId of waiting.keys()) wake(ticketId)
    },
    size: () => waiting.size,
  }
}
