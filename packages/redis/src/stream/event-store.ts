import type { Clock } from '@muster/core/clock'
import { z } from 'zod'
import {
  checkOptions,
  clockSchema,
  connectionSchema,
  cut,
  nameSchema,
  type RedisConnection,
  repeatUntil,
} from '../connection/index.js'
import { BEGIN, MOST_ENTRIES, StreamTail } from './follow-stream.js'

export interface RedisEventStoreOptions {
  readonly redis: RedisConnection
  /** Name of the store: processes with the same name share their events. Default `main`. */
  readonly name?: string | undefined
  /** Milliseconds for which strings are kept. Default 86,400,000, a day. */
  readonly keepMs?: number | undefined
  /**
   * Maximum total size of the strings in bytes, at least 65,536 (our choice). Default 67,108,864; Redis needs some 10 %
   * more.
   */
  readonly mostBytes?: number | undefined
  readonly clock?: Clock | undefined
}

/** A list of strings that several processes append to and read, e.g. ticket events. */
export interface RedisEventStore {
  readonly isShared: true
  /**
   * Calls `take` with all stored strings, the oldest first, and then with later ones as they are appended, including by
   * this process. While Redis does not respond, strings are delayed, and the connection reports a `problem` once.
   * Resolves once all strings that existed at the call were passed, or when the store is closed. Call it once.
   */
  follow(take: (texts: readonly string[]) => void): Promise<void>
  /** Appends strings without line feeds. @throws {RedisError}; then some of them may have been appended */
  append(texts: readonly string[]): Promise<void>
  close(): Promise<void>
}

/** Maximum characters of one entry of the stream, including line ends, except for a single longer string. */
const ENTRY_LENGTH = 32 * 1024
/** Milliseconds that one read waits for entries. */
const BLOCK_MS = 1000

/**
 * Stores strings in a stream of Redis. Each process that follows it counts its bytes, and every append trims what is
 * too old or too much. After Redis has lost its data, the history is empty.
 * @throws {InvalidInput} naming the option and the value
 */
export function createRedisEventStore(options: RedisEventStoreOptions): RedisEventStore {
  const { redis, name, keepMs, mostBytes, clock } = checkOptions('createRedisEventStore', schema, options)
  const key = redis.keys(`events.${name}`)('stream')
  const tail = new StreamTail(redis)
  const closing = new AbortController()
  /**
   * Batches of entries that were read and may still exist, the oldest first. `cursor`: id of the batch's last entry.
   */
  let read: { readonly cursor: string; readonly bytes: number }[] = []
  let bytes = 0

  const note = (cursor: string, size: number) => {
    read.push({ cursor, bytes: size })
    bytes += size
  }
  /** Returns the id of the first entry to keep, as far as is known. */
  const first = (): string => {
    const since = Number(read.at(-1)?.cursor.split('-')[0] ?? 0) - keepMs
    let dropped = 0
    let cursor = BEGIN
    for (const one of read) {
      const isOld = Number(one.cursor.split('-')[0]) < since
      if (!isOld && bytes <= mostBytes) break
      cursor = following(one.cursor)
      bytes -= one.bytes
      dropped += 1
    }
    read = read.slice(dropped)
    return cursor
  }

  const follow = async (take: (texts: readonly string[]) => void, caughtUp: () => void): Promise<void> => {
    let after = BEGIN
    let isFailing = false
    const work = async () => {
      const { streams, gap } = await tail.read([key], [after], { blockMs: BLOCK_MS })
      const [{ entries, cursor }] = streams as [(typeof streams)[number]]
      if (closing.signal.aborted) return
      if (gap && entries.length === 0 && isBefore(await tail.end(key), after)) {
        // Redis has lost its data, and its clock is behind the lost entries. What it has now is new.
        read = []
        bytes = 0
        after = BEGIN
        return
      }
      for (const [, text] of entries) take(text.split('\n'))
      const size = entries.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0)
      if (entries.length > 0) note(cursor, size)
      after = cursor
      isFailing = false
      if (entries.length < MOST_ENTRIES) caughtUp()
    }
    const failed = (error: unknown) => {
      if (!isFailing) redis.report({ during: 'stream', error })
      isFailing = true
    }
    await repeatUntil(work, { signal: closing.signal, clock, failed })
    caughtUp()
  }

  return {
    isShared: true,
    follow: (take) => new Promise((resolve) => void follow(take, resolve)),
    append: async (texts) => {
      for (const entry of cut(texts, ({ length }) => length + 1, ENTRY_LENGTH)) {
        const from = first()
        const text = entry.join('\n')
        await redis.command(key, ['XADD', key, ...(from === BEGIN ? [] : ['MINID', '~', from]), '*', 'e', text])
      }
    },
    close: async () => {
      closing.abort()
      await tail.close()
    },
  }
}

/** Returns the id that directly follows the id of an entry. */
function following(id: string): string {
  const [ms, sequence] = partsOf(id)
  return `${ms}-${sequence + 1}`
}

/** True if an entry of the first id comes before one of the second id. */
function isBefore(first: string, second: string): boolean {
  const [[ms, sequence], [otherMs, otherSequence]] = [partsOf(first), partsOf(second)]
  return ms < otherMs || (ms === otherMs && sequence < otherSequence)
}

const partsOf = (id: string) => id.split('-').map(Number) as [ms: number, sequence: number]

const schema = z.strictObject({
  redis: connectionSchema,
  name: nameSchema.default('main'),
  keepMs: z.number().min(1).max(31_536_000_000).default(86_400_000),
  mostBytes: z
    .int()
    .min(65_536)
    .default(64 * 1024 * 1024),
  clock: clockSchema,
})
