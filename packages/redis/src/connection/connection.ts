import type { Clock } from '@muster/core/clock'
import type { Events, ListenerProblem } from '@muster/core/runtime'
import { send, type RedisClient } from './client.js'
import { createDeadlines } from './deadlines.js'
import { RedisError } from './errors.js'
import { failureOf } from './failure.js'
import { keySpace, type KeySpace } from './keys.js'
import { createRevival } from './revival.js'
import type { Reply, Script } from './script.js'

/**
 * Something is wrong: the connection broke and is made again, a stream of changes or the limits could not be reached,
 * or a listener failed.
 */
export type RedisProblem =
  | ListenerProblem
  | { readonly during: 'connection' | 'stream' | 'limits'; readonly error: unknown }

export interface RedisEvents {
  problem: (problem: RedisProblem) => void
}

/** A connection to Redis, for as many stores, limits and partitions as there are. */
export interface RedisConnection {
  readonly events: Events<RedisEvents>['emitter']
  /** Version of the server, e.g. `7.2.4`. */
  readonly version: string
  /** Names of keys that are in one slot together. */
  keys(tag: string): KeySpace
  /**
   * Runs a script as one atomic step.
   * @throws {RedisError}
   */
  run<T>(script: Script<T>, keys: readonly string[], words: readonly (string | number)[]): Promise<T>
  /**
   * Sends a command about the key.
   * @param timeoutMs for one that blocks.
   * @throws {RedisError}
   */
  command(key: string, words: readonly (string | number)[], timeoutMs?: number): Promise<Reply>
  /**
   * Another connection of the same kind, for commands that block; whoever opened it closes it. Its problems are events
   * of this one.
   */
  duplicate(): Promise<RedisConnection>
  /** Emits the event `problem`. */
  report(problem: RedisProblem): void
  /** Closes the connection, unless the client was open when it was given. Commands under way may finish. */
  close(): Promise<void>
  /** Closes it at once; commands under way fail. */
  destroy(): void
}

export interface ConnectionOptions {
  readonly client: RedisClient
  /** Whether `close` closes the client. */
  readonly isOurs: boolean
  readonly prefix: string
  readonly timeoutMs: number
  readonly clock: Clock
  readonly version: string
  readonly events: Events<RedisEvents>
}

export function createConnection(options: ConnectionOptions): RedisConnection {
  const { client, isOurs, prefix, timeoutMs, clock, version, events } = options
  const revival = createRevival({ client, timeoutMs, clock })
  const onSilence = () => {
    if (isOurs) revival.begin()
  }
  const deadlines = createDeadlines({ everyMs: timeoutMs / 4, clock, onSilence })
  const heard = (error: Error) => events.emit('problem', { during: 'connection', error })
  client.on('error', heard)
  let closed: Promise<void> | undefined

  const ask = async (key: string, words: string[], what: string, limitMs = timeoutMs): Promise<Reply> => {
    try {
      return (await deadlines.limit(send(client, key, words), what, limitMs)) as Reply
    } catch (error) {
      throw failureOf(error, what)
    }
  }
  /** Listens no more; an error must have some listener, or it ends the process. */
  const turnAway = () => {
    revival.close()
    client.on('error', () => {})
    client.off('error', heard)
    return deadlines.close()
  }

  return {
    events: events.emitter,
    version,
    keys: (tag) => keySpace(prefix, tag),
    run: async ({ name, sha, text, read }, keys, words) => {
      const rest = [`${keys.length}`, ...keys, ...strings(words)]
      const key = keys[0] ?? ''
      const reply = await ask(key, ['EVALSHA', sha, ...rest], name).catch((error: unknown) => {
        // EVAL takes the script along, so it cannot be missing again.
        if (error instanceof RedisError && error.code === 'NOSCRIPT') return ask(key, ['EVAL', text, ...rest], name)
        throw error
      })
      return read(reply)
    },
    command: (key, words, limitMs) => ask(key, strings(words), String(words[0]), limitMs),
    duplicate: async () => {
      const copy = client.duplicate()
      const connection = createConnection({ ...options, client: copy, isOurs: true })
      try {
        await deadlines.limit(copy.connect(), 'duplicate', timeoutMs)
        return connection
      } catch (error) {
        connection.destroy()
        throw failureOf(error, 'duplicate')
      }
    },
    report: (problem) => events.emit('problem', problem),
    close: () =>
      (closed ??= (async () => {
        revival.close()
        if (isOurs && client.isOpen)
          await deadlines.limit(client.close(), 'close', timeoutMs).catch(() => client.destroy())
        await turnAway()
      })()),
    destroy: () => {
      closed ??= turnAway()
      if (isOurs) client.destroy()
    },
  }
}

/** The client takes nothing but strings. */
const strings = (words: readonly (string | number)[]): string[] =>
  words.map((word) => (typeof word === 'string' ? word : `${word}`))
