import type { Clock } from '@muster/core/clock'
import type { Changes, PartitionStore } from '../store/store.js'

/** Follows what changes in the partition, until it is closed. */
export interface Tail {
  start(): void
  close(): Promise<void>
}

export interface TailOptions {
  readonly store: Pick<PartitionStore, 'changes'>
  /** Name of this front. */
  readonly front: string
  readonly clock: Clock
  readonly heard: (changes: Changes) => void
  /** Some changes may not have been heard. */
  readonly missed: () => void
  readonly problem: (error: unknown) => void
}

/** Milliseconds that a call may wait for a change. */
const BLOCK_MS = 5000
const RETRY_MS = 200
/** After a failure, everything may have changed for this long: the reader of the other end may have been behind too. */
const UNSURE_MS = 3000
const RECHECK_MS = 1000

export function createTail({ store, front, clock, heard, missed, problem }: TailOptions): Tail {
  const closing = new AbortController()
  const { signal } = closing
  let running: Promise<void> | undefined
  let cursor: string | undefined
  let isUnsure = false

  const recheck = async () => {
    if (isUnsure) return
    isUnsure = true
    for (let passed = 0; passed < UNSURE_MS && !signal.aborted; passed += RECHECK_MS) {
      await clock.sleep(RECHECK_MS, signal).catch(() => {})
      missed()
    }
    isUnsure = false
  }

  const run = async () => {
    while (!signal.aborted) {
      try {
        const changes: Changes = await store.changes(cursor, front, { blockMs: BLOCK_MS, signal })
        const isFirst = cursor === undefined
        cursor = changes.cursor
        if (changes.gap || isFirst) missed()
        heard(changes)
      } catch (error) {
        if (signal.aborted) return
        problem(error)
        await clock.sleep(RETRY_MS, signal).catch(() => {})
        missed()
        void recheck()
      }
    }
  }

  return {
    start: () => void (running ??= run()),
    close: async () => {
      closing.abort(new Error('the partition is closed'))
      await running
    },
  }
}
