import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/internal'
import type { Lease } from '../lease.js'
import { LeaseLost } from '../partition-errors.js'
import { repeatUntil } from '../../connection/index.js'
import type { Changes, PartitionStore, TicketChange } from '../store/index.js'
import type { Replica } from './replica.js'

export type Standby = ReturnType<typeof createStandby>

interface StandbyOptions {
  readonly store: Pick<PartitionStore, 'inbox'>
  readonly replica: Replica
  readonly clock: Clock
  readonly problem: (error: unknown) => void
}

/** Maximum milliseconds that a call for the inbox waits. */
const BLOCK_MS = 1000
/** Milliseconds between two removals of matches that are over. */
const PRUNE_MS = 60_000

/**
 * Creates a hot standby and starts it: it keeps a replica up to date until its process leads. All tickets are then in
 * memory already.
 */
export function createStandby({ store, replica, clock, problem }: StandbyOptions) {
  const ending = new AbortController()
  const { signal } = ending
  let cursor = ''
  let isBroken = false
  let isClosed = false
  let prunedAt = clock.now()
  const breakOff = () => {
    isBroken = true
    ending.abort(
      new Error('the hot standby missed a change or failed to apply one, so its copy of the tickets cannot be used'),
    )
  }

  /** Operations on the replica, one after another. */
  let work: Promise<void> = Promise.resolve()
  const then = (step: () => Promise<unknown>): Promise<void> => {
    work = work.then(async () => {
      if (isBroken) return
      try {
        await step()
      } catch (error) {
        breakOff()
        if (!isClosed) problem(error)
      }
    })
    return work
  }

  const readInbox = async (): Promise<void> => {
    const inbox = await store.inbox(cursor, { blockMs: BLOCK_MS, signal })
    if (inbox.gap) return breakOff()
    cursor = inbox.cursor
    if (inbox.entries.length > 0) await then(() => replica.applyInbox(inbox.entries))
    if (clock.now() - prunedAt < PRUNE_MS) return
    prunedAt = clock.now()
    await then(() => replica.prune())
  }
  // Takes the inbox cursor before it loads: each later change comes by `receive` or is in the inbox after the cursor.
  const loaded = then(async () => {
    ;({ cursor } = await store.inbox(undefined, { blockMs: 0 }))
    await replica.load()
  })
  const following = loaded.then(() => repeatUntil(readInbox, { signal, clock, failed: problem }))

  /** Changes that were not applied yet: only the newest of each ticket, to limit their number. */
  let waiting = new Map<string, TicketChange>()
  const takeWaiting = () => {
    const all = [...waiting.values()]
    waiting = new Map()
    return replica.changed(all)
  }

  return {
    replica,
    /** Receives the changes that this process has read as a follower. */
    receive: (tickets: readonly TicketChange[]) => {
      if (isBroken || tickets.length === 0) return
      const isUnderWay = waiting.size > 0
      for (const change of tickets) waiting.set(change.ticketId, change)
      if (!isUnderWay) void then(takeWaiting)
    },
    /** Changes were missed, so the replica is unusable. */
    missed: breakOff,
    /**
     * Stops following once everything received so far is applied, and returns the position at which to continue reading
     * the inbox.
     * @throws if the replica is unusable
     */
    end: async () => {
      await loaded
      ending.abort(new Error('the hot standby stops following the leader, because its own process leads now'))
      await following
      await work
      if (isBroken)
        throw new Error(
          'the hot standby missed a change or failed to apply one, so its copy of the tickets cannot be used',
        )
      return cursor
    },
    /** True if the replica is unusable. */
    isBroken: () => isBroken,
    /** Stops following and abandons the replica. */
    close: () => {
      isClosed = true
      breakOff()
      replica.abandon()
    },
  }
}

interface SyncOptions {
  readonly store: Pick<PartitionStore, 'commit'>
  /** Name of this follower: it sends itself a mark, which arrives after all earlier writes. */
  readonly follower: string
  readonly newId: () => string
  readonly clock: Clock
  readonly problem: (error: unknown) => void
}

/** Milliseconds until a mark that did not come back is sent again. */
const REPEAT_MS = 200

/** Notifies a new leader once it has received everything that the previous leader wrote. */
export function createSync({ store, follower, newId, clock, problem }: SyncOptions) {
  const waiting = new Map<string, () => void>()
  /** Marks that arrived while further changes were still to be read. Those changes may be older than the marks. */
  const early = new Set<string>()

  const send = async (token: string, id: string): Promise<void> => {
    try {
      await store.commit(token, { replies: [{ follower, text: id }] })
    } catch (error) {
      if (error instanceof LeaseLost) throw error
      problem(error)
    }
  }

  return {
    /**
     * Resolves once this process has received everything that was written before the call. Rejects with the reason of
     * the lease's signal. @throws {LeaseLost}
     */
    reached: async ({ token, signal }: Pick<Lease, 'token' | 'signal'>) => {
      const id = `sync:${newId()}`
      const received = new Promise<true>((resolve) => {
        waiting.set(id, () => resolve(true))
      })
      try {
        do {
          signal.throwIfAborted()
          await send(token, id)
        } while ((await within(received, REPEAT_MS, clock, signal)) === undefined)
      } finally {
        waiting.delete(id)
        early.delete(id)
      }
    },
    receive: ({ replies, isBehind }: Pick<Changes, 'replies' | 'isBehind'>) => {
      for (const reply of replies) if (waiting.has(reply)) early.add(reply)
      if (isBehind) return
      for (const id of early) waiting.get(id)?.()
      early.clear()
    },
  }
}
