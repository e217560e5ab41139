import { systemClock, type Clock } from '@muster/core/clock'
import type { RedisConnection } from '../connection/index.js'
import { BEGIN, StreamTail, type Entries } from './stream-tail.js'

export interface FollowStream {
  readonly redis: RedisConnection
  readonly key: string
  /** Called with new entries, in order. */
  readonly onEntries: (entries: Entries) => void
  /**
   * Called where entries may have been missed: at the beginning, after a time without connection in which the stream
   * was cut, and if Redis has lost entries. State that is kept up to date by the stream must be read anew.
   */
  readonly onGap: () => void
  readonly clock?: Clock | undefined
}

export interface StreamFollower {
  /** Ends at once. Nothing is called afterwards. */
  close(): void
}

/** Milliseconds that one read waits for entries; then it is checked whether Redis has lost any. */
const BLOCK_MS = 1000
/** Milliseconds until the next attempt after a failure. */
const PAUSE_MS = 200

/**
 * Follows a stream from now on, on a connection of its own. After a failure it continues from the entry that it saw
 * last; the failure is reported as a `problem` once, until the stream can be read again.
 */
export function followStream({ redis, key, onEntries, onGap, clock = systemClock }: FollowStream): StreamFollower {
  const closing = new AbortController()
  const isOpen = () => !closing.signal.aborted
  const tail = new StreamTail(redis)
  /** Id of the entry that was seen last; undefined where the next read begins at the end, with a gap. */
  let last: string | undefined
  let isFailing = false

  const begin = async () => {
    last = await tail.end(key)
    if (isOpen()) onGap()
  }
  const read = async (after: string) => {
    const { streams, gap } = await tail.read([key], [after], { blockMs: BLOCK_MS })
    if (gap) return begin()
    const [{ entries, cursor }] = streams as [(typeof streams)[number]]
    last = cursor
    if (isOpen() && entries.length > 0) onEntries(entries)
  }

  const run = async () => {
    while (isOpen()) {
      try {
        await (last === undefined ? begin() : read(last))
        isFailing = false
      } catch (error) {
        if (isOpen() && !isFailing) redis.report({ during: 'stream', error })
        isFailing = true
        // A stream that was and is empty does not tell whether it is the same.
        if (last === BEGIN) last = undefined
        await clock.sleep(PAUSE_MS, closing.signal).catch(() => {}) // closed
      }
    }
  }
  void run()

  return {
    close: () => {
      closing.abort()
      void tail.close()
    },
  }
}
