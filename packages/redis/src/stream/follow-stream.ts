import { systemClock } from '@muster/core/clock'
import { linkedSignal, manyWaitOn, unlessAborted } from '@muster/core/internal'
import { type RedisConnection, RedisError, repeatUntil, type Reply } from '../connection/index.js'

/** Entries of a stream: two words each, a kind and a string. */
export type Entries = readonly (readonly [kind: string, text: string])[]

interface StreamRead {
  readonly entries: Entries
  /** Id of the newest of the entries; the given cursor if there are none. */
  readonly cursor: string
}

/** The cursor before the first entry of a stream. */
export const BEGIN = '0-0'

/** Maximum number of entries in one reply, for each stream. */
export const MOST_ENTRIES = 256

/** How long a read waits for a first entry. */
export interface TailOptions {
  /** Milliseconds to wait for a first entry; 0 for no wait. */
  readonly blockMs: number
  /** Ends the wait: the call rejects with `signal.reason`. */
  readonly signal?: AbortSignal | undefined
}

type RawEntries = readonly (readonly [id: string, words: readonly [string, string]])[]

/**
 * Reads streams as they grow, over its own connection, because a waiting read blocks later commands. One call at a
 * time.
 */
export class StreamTail {
  readonly #redis: RedisConnection
  #own: Promise<RedisConnection> | undefined
  readonly #closing = manyWaitOn()

  constructor(redis: RedisConnection) {
    this.#redis = redis
  }

  /** Returns the id of the newest entry. */
  async end(key: string): Promise<string> {
    const newest = (await this.#redis.command(key, ['XREVRANGE', key, '+', '-', 'COUNT', 1])) as RawEntries
    return newest[0]?.[0] ?? BEGIN
  }

  /**
   * Reads the entries after the cursors, one cursor for each key. Also tells whether entries after the first cursor
   * were lost, i.e. the cursor's own entry is no longer in the stream. The check follows the read, so that trimming in
   * between is noticed.
   *
   * The other streams may expire. After that, a stream begins again, with lower ids if Redis' clock was set back. So
   * the next read of such a stream starts at its beginning.
   */
  async read(keys: readonly string[], cursors: readonly string[], wait: TailOptions) {
    const ending = linkedSignal(wait.signal, this.#closing.signal)
    try {
      ending.signal.throwIfAborted()
      return await this.#readUntil(keys, cursors, wait.blockMs, ending.signal)
    } finally {
      ending.unlink()
    }
  }

  async #readUntil(keys: readonly string[], cursors: readonly string[], blockMs: number, signal: AbortSignal) {
    const connection = await this.#connection()
    const [first, from] = [keys[0] as string, cursors[0] as string]
    const late = blockMs + LATEST_MS
    const check = from === BEGIN ? ['XINFO', 'STREAM', first] : ['XRANGE', first, from, from]
    const entryAt = (key: string, cursor: string) =>
      cursor === BEGIN ? [] : connection.command(key, ['XRANGE', key, cursor, cursor], late)
    const all = Promise.all([
      connection.command(first, readWords(keys, cursors, blockMs), late),
      connection.command(first, check, late).catch(nothingThere),
      ...keys.slice(1).map((key, index) => entryAt(key, cursors[index + 1] as string)),
    ])
    // A wait that continues would block the next call.
    const [found, there, ...others] = await unlessAborted(all, signal).catch((error: unknown) =>
      this.#drop(connection, signal, error),
    )
    const gap = from === BEGIN ? hasLost(there) : (there as RawEntries).length === 0
    const streams = keys.map((key, index) => {
      const read = entriesOf(found, key, cursors[index] as string)
      const isGone = index > 0 && (others[index - 1] as RawEntries).length === 0
      return isGone && read.entries.length === 0 ? { ...read, cursor: BEGIN } : read
    })
    return { streams, gap }
  }

  async close(): Promise<void> {
    this.#closing.abort(new Error('the store was closed'))
    const own = await this.#own?.catch(() => undefined)
    own?.destroy()
  }

  #drop(connection: RedisConnection, signal: AbortSignal, error: unknown): never {
    if (signal.aborted) {
      this.#own = undefined
      connection.destroy()
    }
    throw error
  }

  async #connection(): Promise<RedisConnection> {
    this.#own ??= this.#redis.duplicate()
    try {
      return await this.#own
    } catch (error) {
      this.#own = undefined
      throw error
    }
  }
}

/** For a missing stream Redis returns only an error. */
function nothingThere(error: unknown): Reply {
  if (error instanceof RedisError && error.code === 'ERR') return []
  throw error
}

/** True if entries of a stream were removed, from the reply of XINFO: names and values, in a list or an object. */
function hasLost(info: Reply): boolean {
  const list = Array.isArray(info) ? (info as readonly Reply[]) : Object.entries(info as object).flat()
  const fact = (name: string) => Number(list[list.indexOf(name) + 1])
  return list.length > 0 && fact('entries-added') > fact('length')
}

/** Milliseconds after the end of a wait within which a reply must come. */
const LATEST_MS = 5000

function readWords(keys: readonly string[], cursors: readonly string[], blockMs: number): (string | number)[] {
  const block = blockMs > 0 ? ['BLOCK', Math.ceil(blockMs)] : []
  return ['XREAD', 'COUNT', MOST_ENTRIES, ...block, 'STREAMS', ...keys, ...cursors]
}

/** Parses the reply of XREAD: nothing, or the streams with new entries, as a list or as an object by key. */
function entriesOf(found: Reply, key: string, cursor: string): StreamRead {
  const streams = (found ?? []) as unknown as
    | readonly (readonly [string, RawEntries])[]
    | Readonly<Record<string, RawEntries>>
  const raw =
    (Array.isArray(streams)
      ? streams.find(([name]) => name === key)?.[1]
      : (streams as Record<string, RawEntries>)[key]) ?? []
  return { entries: raw.map(([, words]: RawEntries[number]) => words), cursor: raw.at(-1)?.[0] ?? cursor }
}

interface FollowStream {
  readonly redis: RedisConnection
  readonly key: string
  /** Called with new entries, in order. */
  readonly onEntries: (entries: Entries) => void
  /**
   * Called if entries may have been missed: at the beginning, after the stream was trimmed during a lost connection,
   * and if Redis has lost entries. State that is derived from the stream must be read again.
   */
  readonly onGap: () => void
}

export interface StreamFollower {
  /** Ends immediately. Nothing is called afterwards. */
  close(): void
}

/** Milliseconds that one read waits for entries. After each read, it is checked whether Redis has lost entries. */
const BLOCK_MS = 1000

/**
 * Follows a stream from now on, over its own connection. After a failure it continues after the last received entry.
 * The failure is reported as a `problem` once, until the stream can be read again.
 */
export function followStream({ redis, key, onEntries, onGap }: FollowStream): StreamFollower {
  const closing = new AbortController()
  const isOpen = () => !closing.signal.aborted
  const tail = new StreamTail(redis)
  /** Id of the last received entry; undefined if the next read begins at the end, with a gap. */
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

  const work = async () => {
    await (last === undefined ? begin() : read(last))
    isFailing = false
  }
  const failed = (error: unknown) => {
    if (!isFailing) redis.report({ during: 'stream', error })
    isFailing = true
    // A stream that is empty again may be another one, so the next read begins with a gap.
    if (last === BEGIN) last = undefined
  }
  void repeatUntil(work, { signal: closing.signal, clock: systemClock, failed })

  return {
    close: () => {
      closing.abort()
      void tail.close()
    },
  }
}
