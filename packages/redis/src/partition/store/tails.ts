import { linkedSignal, manyWaitOn, unlessAborted } from '@muster/core/runtime'
import type { RedisConnection } from '../../connection/connection.js'
import type { Reply } from '../../connection/script.js'
import type { TailOptions } from './store.js'

/** Entries of a stream: their two words, a kind and a text. */
export type Entries = readonly (readonly [kind: string, text: string])[]

export interface StreamRead {
  readonly entries: Entries
  /** Id of the newest of them; the one given where there is none. */
  readonly cursor: string
}

/** Before the first entry of a stream. */
export const BEGIN = '0-0'

/** Entries of one answer at most, of each stream. */
export const MOST_ENTRIES = 256

type RawEntries = readonly (readonly [id: string, words: readonly [string, string]])[]

/**
 * Reads streams as they grow, over a connection of its own, because a read that waits holds up what comes after it.
 * One call at a time.
 */
export class StreamTail {
  readonly #redis: RedisConnection
  #own: Promise<RedisConnection> | undefined
  readonly #closing = manyWaitOn()

  constructor(redis: RedisConnection) {
    this.#redis = redis
  }

  /** Id of the newest entry. */
  async end(key: string): Promise<string> {
    const newest = (await this.#redis.command(key, ['XREVRANGE', key, '+', '-', 'COUNT', 1])) as RawEntries
    return newest[0]?.[0] ?? BEGIN
  }

  /**
   * Entries after the cursors, one for each key, and whether entries after the first cursor were lost: the entry there
   * is no longer in its stream. It is looked for after the read, so that what is trimmed in between is noticed.
   * @param most about how many entries the first stream keeps.
   */
  async read(keys: readonly string[], cursors: readonly string[], most: number, options: TailOptions) {
    const ending = linkedSignal(options.signal, this.#closing.signal)
    try {
      ending.signal.throwIfAborted()
      return await this.#readUntil(keys, cursors, most, options.blockMs, ending.signal)
    } finally {
      ending.unlink()
    }
  }

  async #readUntil(
    keys: readonly string[],
    cursors: readonly string[],
    most: number,
    blockMs: number,
    signal: AbortSignal,
  ) {
    const connection = await this.#connection()
    const [first, from] = [keys[0] as string, cursors[0] as string]
    const late = blockMs + LATEST_MS
    const read = connection.command(first, readWords(keys, cursors, blockMs), late)
    const check = from === BEGIN ? ['XLEN', first] : ['XRANGE', first, from, from]
    const both = Promise.all([read, connection.command(first, check, late)])
    // A wait that goes on would hold up the next call.
    const [found, there] = await unlessAborted(both, signal).catch((error: unknown) =>
      this.#drop(connection, signal, error),
    )
    const gap = from === BEGIN ? (there as number) >= most : (there as RawEntries).length === 0
    return { streams: keys.map((key, index) => entriesOf(found, key, cursors[index] as string)), gap }
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

/** Milliseconds after the end of a wait at which there must be an answer. */
const LATEST_MS = 5000

function readWords(keys: readonly string[], cursors: readonly string[], blockMs: number): (string | number)[] {
  const block = blockMs > 0 ? ['BLOCK', Math.ceil(blockMs)] : []
  return ['XREAD', 'COUNT', MOST_ENTRIES, ...block, 'STREAMS', ...keys, ...cursors]
}

/** What XREAD answers: a list of streams with news, in some versions of the protocol an object by key; or nothing. */
function entriesOf(found: Reply, key: string, cursor: string): StreamRead {
  const streams = (found ?? []) as unknown as
    readonly (readonly [string, RawEntries])[] | Readonly<Record<string, RawEntries>>
  const raw =
    (Array.isArray(streams)
      ? streams.find(([name]) => name === key)?.[1]
      : (streams as Record<string, RawEntries>)[key]) ?? []
  return { entries: raw.map(([, words]: RawEntries[number]) => words), cursor: raw.at(-1)?.[0] ?? cursor }
}
