import type { Clock } from '@muster/core/clock'
import { repeatUntil, RETRY_MS } from '../repeat-until.js'
import type { Changes, PartitionStore } from '../store/index.js'

/** Follows what changes in the partition, until it is closed. */
export interface Tail {
  start(): void
  close(): Promise<void>
}

export interface TailOptions {
  readonly store: Pick<PartitionStore, 'changes'>
  /** Name of this follower. */
  readonly follower: string
  readonly clock: Clock
  readonly heard: (changes: Changes) => void
  /** Some changes may not have been heard. */
  readonly missed: () => void
  readonly problem: (error: unknown) => void
}

/** Milliseconds that a call may wait for a change. */
const BLOCK_MS = 5000
/**
 * Pauses between looks after a failure: everything may have changed for some seconds, because the reader of the other
 * end may have been behind too. The first look comes as the reading begins again.
 */
const RECHECKS_MS = [RETRY_MS, 1000, 1000, 1000]

export function createTail({ store, follower, clock, heard, missed, problem }: TailOptions): Tail {
  const closing = new AbortController()
  const { signal } = closing
  let running: Promise<void> | undefined
  let cursor: string | undefined
  let isUnsure = false

  const recheck = async () => {
    if (isUnsure) return
    isUnsure = true
    for (const pauseMs of RECHECKS_MS) {
      await clock.sleep(pauseMs, signal).catch(() => {})
      if (signal.aborted) return
      missed()
    }
    isUnsure = false
  }

  const read = async () => {
    const changes: Changes = await store.changes(cursor, follower, { blockMs: BLOCK_MS, signal })
    const isFirst = cursor === undefined
    cursor = changes.cursor
    if (changes.gap || isFirst) missed()
    heard(changes)
  }
  const failed = (error: unknown) => {
    problem(error)
    void recheck()
  }

  return {
    start: () => void (running ??= repeatUntil(read, { signal, clock, failed })),
    close: async () => {
      closing.abort(new Error('The partition is closed.'))
      await running
    },
  }
}
