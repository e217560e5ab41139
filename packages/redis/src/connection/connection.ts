import { InvalidInput } from '@muster/core'
import { type Clock, systemClock } from '@muster/core/clock'
import { type Events, having, type ListenerProblem, within, validate } from '@muster/core/internal'
import { z } from 'zod'
import { type RedisClient, send } from './client.js'
import { failureOf, RedisError, RedisTimedOut } from './connection-errors.js'
import { keySpace, type KeySpace, type Reply, type Script } from './script.js'

/**
 * Rejects commands that get no reply in time. @param onSilence called when a command has timed out while no other
 * command ended.
 */
function createDeadlines(clock: Clock, onSilence: () => void) {
  let ended = 0
  /** Settles like the command, or rejects after `ms` milliseconds. */
  return async <T>(command: Promise<T>, what: string, ms: number): Promise<T> => {
    const endedBefore = ended
    const answered = command.then((answer) => ({ answer })).finally(() => (ended += 1))
    const found = await within(answered, ms, clock)
    if (found !== undefined) return found.answer
    if (endedBefore === ended) onSilence()
    const message = `${what}: Redis did not answer within ${ms} ms; whether the command ran is not known`
    throw new RedisTimedOut(message, { code: 'TIMEOUT', outcome: 'unknown' })
  }
}

/** Connects a client. Resolves with false if that fails; the client has emitted why as an error event. */
const connected = (client: RedisClient): Promise<boolean> =>
  client.connect().then(
    () => true,
    () => false,
  )

/** Milliseconds between two attempts to connect. */
const PAUSE_MS = 200

/**
 * Replaces a connection that has stopped responding. `begin` starts the replacement, unless it is running or the
 * connection was closed.
 *
 * Each attempt uses a new client. A client that is destroyed and opened again while it connects may connect twice, and
 * give the replies of one connection to the commands of the other.
 *
 * If a host disappears silently (a power failure, a cut cable), TCP itself gives up after about 15 minutes. This
 * function drops the connection once a command has timed out while no other command got a reply.
 * @param next destroys the client and returns a new one. Sent commands are rejected; their outcome is unknown.
 * @param timeoutMs milliseconds for one attempt.
 * @param closing aborts once the connection is closed.
 */
function createRevival(next: () => RedisClient, timeoutMs: number, clock: Clock, closing: AbortSignal) {
  let isUnderWay = false

  const run = async () => {
    while (!closing.aborted) {
      if ((await within(connected(next()), timeoutMs, clock, closing)) === true) return
      await clock.sleep(PAUSE_MS, closing)
    }
  }

  return {
    begin: () => {
      if (isUnderWay || closing.aborted) return
      isUnderWay = true
      void run()
        .catch(() => {}) // The connection was closed.
        .finally(() => {
          isUnderWay = false
        })
    },
    isUnderWay: () => isUnderWay,
  }
}

/** Minimum milliseconds between two reconnects because of a replica (our choice). Reads work on a replica. */
const REROUTE_MS = 5000

/**
 * A connection and its duplicates. They reconnect together if one of them leads to a replica: after a failover, the
 * address may lead to the new primary, while the former primary keeps its connections.
 */
export class ConnectionFamily {
  readonly #reroutes = new Set<() => void>()
  #reroutedAt = -Infinity

  add(reroute: () => void): void {
    this.#reroutes.add(reroute)
  }
  remove(reroute: () => void): void {
    this.#reroutes.delete(reroute)
  }
  reroute(now: number): void {
    if (now < this.#reroutedAt + REROUTE_MS) return
    this.#reroutedAt = now
    for (const reroute of this.#reroutes) reroute()
  }
}

/**
 * A problem: the connection broke and is being restored, a stream of changes or the limits could not be reached, or a
 * listener failed.
 */
export type RedisProblem =
  | ListenerProblem
  | { readonly during: 'connection' | 'stream' | 'limits'; readonly error: unknown }

export interface RedisEvents {
  problem: (problem: RedisProblem) => void
}

/** A connection to Redis, for any number of stores, limits and partitions. */
export interface RedisConnection {
  readonly events: Events<RedisEvents>['emitter']
  /** Version of the server, e.g. `7.2.4`. */
  readonly version: string
  /** Creates names of keys that share a slot. */
  keys(tag: string): KeySpace
  /**
   * Runs a script as one atomic step.
   * @throws {RedisError}
   */
  run<T>(script: Script<T>, keys: readonly string[], words: readonly (string | number)[]): Promise<T>
  /**
   * Sends a command about the key.
   * @param timeoutMs for a blocking command.
   * @throws {RedisError}
   */
  command(key: string, words: readonly (string | number)[], timeoutMs?: number): Promise<Reply>
  /**
   * Opens another connection with the same options, for blocking commands. The caller closes it. Its problems are
   * reported as events of this connection.
   */
  duplicate(): Promise<RedisConnection>
  /** Emits the event `problem`. */
  report(problem: RedisProblem): void
  /** Closes the connection, unless it was created from an open client. Running commands may finish. */
  close(): Promise<void>
  /** Closes the connection immediately. Running commands fail. */
  destroy(): void
}

interface ConnectionOptions {
  readonly client: RedisClient
  /** True if `close` closes the client. */
  readonly isOurs: boolean
  readonly prefix: string
  readonly timeoutMs: number
  readonly clock: Clock
  readonly version: string
  readonly events: Events<RedisEvents>
  readonly family: ConnectionFamily
}

export function createConnection(options: ConnectionOptions): RedisConnection {
  const { isOurs, prefix, timeoutMs, clock, version, events, family } = options
  let { client } = options
  const next = () => {
    const former = client
    client = former.duplicate()
    client.on('error', heard)
    discard(former)
    return client
  }
  const closing = new AbortController()
  const revival = createRevival(next, timeoutMs, clock, closing.signal)
  const reconnect = () => {
    if (isOurs) revival.begin()
  }
  /** Replaces the client by a new one once that is connected. Until then, reads continue on the replica. */
  const reroute = async () => {
    // A revival reconnects anyway.
    if (!isOurs || revival.isUnderWay()) return
    const former = client
    const fresh = former.duplicate()
    fresh.on('error', heard)
    const isConnected = await within(connected(fresh), timeoutMs, clock, closing.signal).catch(() => false)
    if (isConnected !== true || client !== former || closing.signal.aborted) {
      discard(fresh)
      return
    }
    client = fresh
    silence(former)
    const isClosed = former.close().then(
      () => true,
      () => false,
    )
    if ((await within(isClosed, timeoutMs, clock)) !== true) discard(former)
  }
  const beginReroute = () => void reroute()
  family.add(beginReroute)
  const limited = createDeadlines(clock, reconnect)
  const heard = (error: Error) => events.emit('problem', { during: 'connection', error })
  /** Replaces the error listener by an empty one, because an error event without a listener ends the process. */
  const silence = (one: RedisClient) => {
    one.on('error', () => {})
    one.off('error', heard)
  }
  /** Destroys a client. */
  const discard = (one: RedisClient) => {
    silence(one)
    try {
      one.destroy()
    } catch {} // A client of version 5 throws if it is closed already.
  }
  client.on('error', heard)
  let closed: Promise<void> | undefined

  const ask = async (key: string, words: string[], what: string, limitMs = timeoutMs): Promise<Reply> => {
    try {
      return (await limited(send(client, key, words), what, limitMs)) as Reply
    } catch (error) {
      const failure = failureOf(error, what)
      if (failure.code === 'READONLY' || failure.code === 'MASTERDOWN') family.reroute(clock.now())
      throw failure
    }
  }
  /** Ends the attempts to connect. */
  const endAttempts = () => {
    family.remove(beginReroute)
    closing.abort()
  }

  return {
    events: events.emitter,
    version,
    keys: (tag) => keySpace(prefix, tag),
    run: async ({ name, sha, text, read }, keys, words) => {
      const rest = [`${keys.length}`, ...keys, ...strings(words)]
      const key = keys[0] ?? ''
      const reply = await ask(key, ['EVALSHA', sha, ...rest], name).catch((error: unknown) => {
        // EVAL sends the script itself, so it cannot be missing again.
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
        await limited(copy.connect(), 'duplicate', timeoutMs)
        return connection
      } catch (error) {
        connection.destroy()
        throw failureOf(error, 'duplicate')
      }
    },
    report: (problem) => events.emit('problem', problem),
    close: () =>
      (closed ??= (async () => {
        endAttempts()
        if (isOurs && client.isOpen) await limited(client.close(), 'close', timeoutMs).catch(() => discard(client))
        silence(client)
      })()),
    destroy: () => {
      endAttempts()
      closed ??= Promise.resolve()
      if (isOurs) discard(client)
      else silence(client)
    },
  }
}

/** Converts numbers, because the client accepts only strings. */
const strings = (words: readonly (string | number)[]): string[] =>
  words.map((word) => (typeof word === 'string' ? word : `${word}`))

/** Names of stores, limits and budgets. */
export const nameSchema = z
  .string()
  .regex(/^[A-Za-z0-9._-]{1,64}$/, "must be 1 to 64 letters, digits, '.', '_' and '-'")

export const connectionSchema = z.custom<RedisConnection>(
  (value) => typeof (value as RedisConnection | null | undefined)?.run === 'function',
  'must be a connection made by connectRedis',
)

export const clockSchema = having<Clock>('now', 'sleep').default(systemClock)

/**
 * Validates the options by the schema.
 * @param of name of the function that has the options.
 * @throws {InvalidInput} naming function, option and value
 */
export function checkOptions<T>(of: string, schema: z.ZodType<T>, options: unknown): T {
  const result = validate(schema, options)
  if (result.success) return result.data
  const { field, message } = result.fault
  throw new InvalidInput(`${of}: ${field === undefined ? 'options' : `option ${field}`} ${message}`, { field })
}
