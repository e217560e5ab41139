import { systemClock, type Clock } from '@muster/core/clock'
import type { RedisConnection } from '../connection/connection.js'
import { BEGINNING, compareIds, entriesOfRange, entriesOfRead, type StreamEntry } from './entries.js'

export interface FollowStream {
  readonly redis: RedisConnection
  readonly key: string
  /** Called with new entries, in order. */
  readonly onEntries: (entries: readonly StreamEntry[]) => void
  /**
   * Called where entries may have been missed: at the beginning, after a time without connection in which the stream
   * was cut, and if Redis has lost entries. Whoever keeps something up to date by the stream reads it anew.
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
/** Most entries of one read. */
const MOST_ENTRIES = 1000

/**
 * Follows a stream from now on, on a connection of its own. After a failure it goes on from the entry that it saw last;
 * the failure is reported as a `problem` once, until the stream can be read again.
 */
export function followStream({ redis, key, onEntries, onGap, clock = systemClock }: FollowStream): StreamFollower {
  const closing = new AbortController()
  const isOpen = () => !closing.signal.aborted
  let connection: RedisConnection | undefined
  let last: string | undefined
  let isFailing = false

  /** Id of the first or the last entry. */
  const edge = async (from: RedisConnection, command: 'XRANGE' | 'XREVRANGE'): Promise<string | undefined> => {
    const ends = command === 'XRANGE' ? ['-', '+'] : ['+', '-']
    return entriesOfRange(await from.command(key, [command, key, ...ends, 'COUNT', 1]))[0]?.id
  }

  /** Finds where to go on. @param isBack whether there was a failure before. */
  const resume = async (from: RedisConnection, isBack: boolean) => {
    const [oldest, newest = BEGINNING] = await Promise.all([edge(from, 'XRANGE'), edge(from, 'XREVRANGE')])
    const wasCut = last !== undefined && oldest !== undefined && compareIds(oldest, last) > 0
    const wentBack = last !== undefined && compareIds(newest, last) < 0
    // A stream that was and is empty does not tell whether it is the same.
    const mayBeAnother = isBack && last === BEGINNING
    if (last !== undefined && !wasCut && !wentBack && !mayBeAnother) return
    last = newest
    if (isOpen()) onGap()
  }

  const read = async (from: RedisConnection) => {
    const words = ['XREAD', 'COUNT', MOST_ENTRIES, 'BLOCK', BLOCK_MS, 'STREAMS', key, last ?? BEGINNING]
    const entries = entriesOfRead(await from.command(key, words, BLOCK_MS + PAUSE_MS + 5000))
    if (entries.length === 0) return resume(from, false)
    last = entries.at(-1)?.id
    if (isOpen()) onEntries(entries)
  }

  const run = async () => {
    while (isOpen()) {
      try {
        connection ??= await redis.duplicate()
        await resume(connection, isFailing)
        isFailing = false
        while (isOpen()) await read(connection)
      } catch (error) {
        if (isOpen() && !isFailing) redis.report({ during: 'stream', error })
        isFailing = true
        await clock.sleep(PAUSE_MS, closing.signal).catch(() => {}) // closed
      }
    }
    connection?.destroy()
  }
  void run()

  return {
    close: () => {
      closing.abort()
      connection?.destroy()
    },
  }
}
