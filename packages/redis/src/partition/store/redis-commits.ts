import { type RedisConnection, RedisError } from '../../connection/index.js'
import type { createAssignments } from './assignments.js'
import { CommitNumbers } from './commit-numbers.js'
import { commitScript, commitWords, partsOf, repliesOf, type StoreBounds } from './commit-script.js'
import { runFenced } from './lease-scripts.js'
import type { PartitionKeys } from './partition-keys.js'
import type { Commit, CommitOutcome } from './store.js'

/** For `durable` commits: how many replicas must have the write, and the timeout in milliseconds. */
export interface Replicas {
  readonly atLeast: number
  readonly timeoutMs: number
}

interface RedisCommitsOptions {
  readonly redis: RedisConnection
  /** Name of the partition. */
  readonly name: string
  readonly keys: PartitionKeys
  readonly bounds: StoreBounds
  readonly assignments: Pick<ReturnType<typeof createAssignments>, 'whole'>
  /** Default: commits wait for no replicas. */
  readonly replicas: Replicas | undefined
}

/** Milliseconds after the end of a wait within which a reply must come. */
const LATEST_MS = 5000

/** Writes leaders' decisions to Redis. */
export class RedisCommits {
  readonly #options: RedisCommitsOptions
  readonly #keys: readonly string[]
  readonly numbers = new CommitNumbers()
  #own: Promise<RedisConnection> | undefined

  constructor(options: RedisCommitsOptions) {
    const { epoch, headers, bodies, players, hosting, locks, backfills, changes, ended } = options.keys
    const written = [headers, bodies, players, hosting, locks, backfills, changes, ended]
    this.#options = options
    this.#keys = [epoch, ...written, options.keys.assignments, options.keys.notes, options.keys.inForce]
  }

  /** Writes a commit; see `PartitionStore.commit`. */
  async commit(token: string, wanted: Commit): Promise<CommitOutcome> {
    const { name, keys, bounds, assignments } = this.#options
    const parts = partsOf(wanted)
    const redis = await this.#connection()
    const outcomes: CommitOutcome[] = []
    // One part after another: a script that Redis does not know yet is sent again, and a later part could overtake it.
    for (const part of parts) {
      const replies = repliesOf(part)
      const of = [...this.#keys, ...Array.from(replies.keys(), keys.repliesTo)]
      const number = this.numbers.next(token)
      const words = commitWords(token, part, replies, bounds, [this.numbers.done(token), number])
      outcomes.push(await runFenced(redis, name, commitScript, of, words))
      this.numbers.confirmed(token, number)
    }
    if (wanted.durable === true) await this.#assertReplicated(redis)
    const refused = outcomes.flatMap((outcome) => outcome.refused)
    const wholeRefused = async ({ ticketId, header }: (typeof refused)[number]) => ({
      ticketId,
      header: header === undefined ? undefined : await assignments.whole(header),
    })
    return {
      refused: await Promise.all(refused.map(wholeRefused)),
      unmet: outcomes.flatMap(({ unmet }) => unmet),
    }
  }

  async close(): Promise<void> {
    const own = await this.#own?.catch(() => undefined)
    own?.destroy()
  }

  /** Returns a separate connection if commits may wait for replicas, because a wait blocks later commands. */
  async #connection(): Promise<RedisConnection> {
    const { redis, replicas } = this.#options
    if (replicas === undefined) return redis
    this.#own ??= redis.duplicate()
    try {
      return await this.#own
    } catch (error) {
      this.#own = undefined
      throw error
    }
  }

  /** @throws {RedisError} if too few replicas have the commit in time */
  async #assertReplicated(redis: RedisConnection): Promise<void> {
    const { name, keys, replicas } = this.#options
    if (replicas === undefined) return
    const { atLeast, timeoutMs } = replicas
    const late = timeoutMs + LATEST_MS
    const has = (await redis.command(keys.epoch, ['WAIT', atLeast, Math.ceil(timeoutMs)], late)) as number
    if (has >= atLeast) return
    const message = `partition ${name}: ${has} of ${atLeast} replicas have the commit after ${timeoutMs} ms`
    throw new RedisError(message, { code: 'NOREPLICAS', outcome: 'unknown' })
  }
}
