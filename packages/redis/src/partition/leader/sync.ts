import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/runtime'
import type { Lease } from '../election.js'
import { Deposed } from '../store/deposed.js'
import type { Changes, PartitionStore } from '../store/store.js'

/** Tells a new leader when it has heard of everything that the leader before it wrote. */
export interface Sync {
  /**
   * Resolves once everything that was written before has been heard here. Rejects with the reason of the lease's
   * signal. @throws {Deposed}
   */
  reached(lease: Pick<Lease, 'token' | 'signal'>): Promise<void>
  heard(changes: Pick<Changes, 'replies' | 'isBehind'>): void
}

export interface SyncOptions {
  readonly store: Pick<PartitionStore, 'answer'>
  /** Name of this front: it sends itself a mark, which comes after all that was written before. */
  readonly front: string
  readonly newId: () => string
  readonly clock: Clock
  readonly problem: (error: unknown) => void
}

/** Milliseconds until a mark that was not heard is sent again. */
const REPEAT_MS = 200

export function createSync({ store, front, newId, clock, problem }: SyncOptions): Sync {
  const waiting = new Map<string, () => void>()
  /** Marks that were heard while there were more changes to come, which may be older than the marks. */
  const early = new Set<string>()

  const send = async (token: string, id: string): Promise<void> => {
    try {
      await store.answer(token, front, [id])
    } catch (error) {
      if (error instanceof Deposed) throw error
      problem(error)
    }
  }

  return {
    reached: async ({ token, signal }) => {
      const id = `sync:${newId()}`
      const heard = new Promise<true>((resolve) => {
        waiting.set(id, () => resolve(true))
      })
      try {
        do {
          signal.throwIfAborted()
          await send(token, id)
        } while ((await within(heard, REPEAT_MS, clock, signal)) === undefined)
      } finally {
        waiting.delete(id)
        early.delete(id)
      }
    },
    heard: ({ replies, isBehind }) => {
      for (const reply of replies) if (waiting.has(reply)) early.add(reply)
      if (isBehind) return
      for (const id of early) waiting.get(id)?.()
      early.clear()
    },
  }
}
