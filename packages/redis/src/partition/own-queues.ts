import { createHash, timingSafeEqual } from 'node:crypto'
import type { Clock } from '@muster/core/clock'
import type { MatchmakerOptions } from '@muster/matchmaker'
import { definePools, defineQueues } from '@muster/matchmaker/internal'
import { RETRY_MS } from '../connection/index.js'
import type { Lease } from './lease.js'
import { ConfigurationDiffers, LeaseLost, PartitionUnavailable } from './partition-errors.js'
import {
  fingerprintOf,
  fingerprintsOf,
  inForceText,
  type JoinAlgorithm,
  hasResults,
  joinAlgorithmIn,
  type LeaderOptions,
  type QueuesInForce,
  readInForce,
  POOLS,
  RESULTS,
  SERVER_BROWSER,
  SERVER_SECRET,
} from './partition-options.js'
import type { PartitionStore } from './store/index.js'

type Definitions = Pick<MatchmakerOptions, 'queues' | 'pools'>

interface OwnQueuesOptions {
  readonly store: Pick<PartitionStore, 'getInForce' | 'setInForce'>
  readonly clock: Clock
  /** Name of this process for people. */
  readonly title: string
  /** Called if the leader's queues differ from this process's, once for each of the leader's sets of queues. */
  readonly differ: (event: { readonly inForce: QueuesInForce; readonly fingerprint: string }) => void
  readonly problem: (error: unknown) => void
}

/** Milliseconds for which a comparison is used for join tokens (our choice). */
const FRESH_MS = 1000

/**
 * This process's own queues, and those by which the leader (possibly this process) matches. Also compares the other
 * options by which the leader decides.
 */
export class OwnQueues {
  readonly #options: OwnQueuesOptions
  #own: Definitions
  /** Names of this process's queues. */
  #names: ReadonlySet<string>
  /** The options of this process that no reload changes. */
  readonly #fixed: Omit<LeaderOptions, 'pools'>
  /** The token of the current lease epoch; undefined while another process leads. */
  #token: string | undefined
  #presenceInForce: ReadonlyMap<string, number> = new Map()
  /** Names of the leader's queues, as of the last comparison. Undefined before the first leader. */
  #namesInForce: ReadonlySet<string> | undefined
  /** Fingerprint of the last reported current queues. */
  #reported: string | undefined
  #hasOtherSecret = false
  #joinAlgorithm: JoinAlgorithm | undefined
  /** When the last comparison, `#comparing`, began. */
  #comparedAt = -Infinity
  #comparing: Promise<void> | undefined
  /** The last reported sentence about other differences. */
  #told: string | undefined

  constructor({ queues, pools, ...fixed }: Definitions & LeaderOptions, options: OwnQueuesOptions) {
    this.#options = options
    this.#own = { queues, pools }
    this.#names = namesOf(queues)
    this.#fixed = fixed
  }

  own(): Definitions {
    return this.#own
  }

  /** Returns the maximum duration of a match of these queues and pools, in milliseconds. */
  longestMatchMs(): number {
    const { queues, pools = [] } = this.#own
    return Math.max(...defineQueues(queues, definePools(pools)).map(({ deploy }) => deploy.maxDurationMs))
  }

  /** True if a pool of this process has this enrolment key. */
  hasEnrolmentKey(key: string): boolean {
    const wanted = digestOf(key)
    // All keys are compared by their digests, so that the time reveals nothing about a key.
    const keys = (this.#own.pools ?? []).flatMap(({ enrol = [] }) => enrol.map((one) => digestOf(one.key)))
    return keys.filter((digest) => timingSafeEqual(digest, wanted)).length > 0
  }

  /** Replaces the queues of this process. @param pools default: the previous ones */
  replace(queues: Definitions['queues'], pools = this.#own.pools): void {
    this.#own = { queues, pools }
    this.#names = namesOf(queues)
  }

  /** Stores that this process leads with its queues, with as many attempts as needed. */
  async lead({ token, signal }: Lease): Promise<void> {
    const { clock, problem } = this.#options
    this.#token = token
    for (;;) {
      signal.throwIfAborted()
      try {
        // It is unknown if its text is damaged, which this process replaces.
        const before = await this.inForce().catch(() => undefined)
        await this.say()
        if (before !== undefined && this.#fixed.results === undefined && hasResults(before.others))
          problem(
            new Error(
              `This process leads without \`results\`, but the leader before, ${before.by}, had it. ` +
                'Results of matches that end now are lost. Deploy the same configuration everywhere.',
            ),
          )
        return
      } catch (error) {
        if (error instanceof LeaseLost) throw error
        problem(error)
        await clock.sleep(RETRY_MS, signal)
      }
    }
  }
  follow(): void {
    this.#token = undefined
  }

  /** Stores the queues of this process if it leads. */
  async say(): Promise<void> {
    const { store, title } = this.#options
    if (this.#token !== undefined)
      await store.setInForce(this.#token, inForceText(this.#own.queues, this.#all(), title))
  }

  async inForce(): Promise<QueuesInForce | undefined> {
    const found = await this.#options.store.getInForce()
    return found && readInForce(found.text, found.since)
  }

  /** Returns the leader's `presence.withinMs` of a queue, in milliseconds, as of the last comparison. */
  presenceInForce(queue: string): number | undefined {
    return this.#presenceInForce.get(queue)
  }

  /**
   * Checks that this process and the leader both have the queue, or neither. The leader's queues are read again before
   * this rejects. @throws {PartitionUnavailable}
   */
  async assertAgreed(queue: string): Promise<void> {
    if (this.#isAgreed(queue)) return
    this.#namesInForce = new Set((await this.inForce())?.names)
    if (!this.#isAgreed(queue)) throw notEverywhere('queue')
  }
  /** Checks that this process has the queue, or that the leader lacks it too. @throws {PartitionUnavailable} */
  assertNotOnlyAtLeader(queue: string): void {
    if (!this.hasQueue(queue) && !this.#isAgreed(queue)) throw notEverywhere('queue')
  }
  hasQueue(queue: string): boolean {
    return this.#names.has(queue)
  }
  hasPool(pool: string): boolean {
    return this.#own.pools?.some(({ name }) => name === pool) ?? false
  }
  /** Resolves with true if the leader has other pools or another server browser. */
  async hasOtherPools(): Promise<boolean> {
    const others = this.#othersThan(await this.inForce())
    return this.#token === undefined && (others.includes(POOLS) || others.includes(SERVER_BROWSER))
  }
  #isAgreed(queue: string): boolean {
    const names = this.#token === undefined ? this.#namesInForce : undefined
    return names === undefined || names.has(queue) === this.hasQueue(queue)
  }

  /** True if the leader derives tokens of game servers from another secret, as of the last comparison. */
  hasOtherSecret(): boolean {
    return this.#hasOtherSecret
  }

  /** Returns the leader's algorithm of join tokens, as of the last comparison. */
  joinAlgorithm(): JoinAlgorithm {
    return this.#joinAlgorithm ?? this.#fixed.joinTokens?.alg ?? 'HS256'
  }

  /** Compares, unless the last comparison began less than `FRESH_MS` ago. */
  async compared(): Promise<void> {
    if (this.#options.clock.now() - this.#comparedAt < FRESH_MS) return this.#comparing
    return this.compare()
  }

  compare(): Promise<void> {
    this.#comparedAt = this.#options.clock.now()
    this.#comparing = this.#compare()
    return this.#comparing
  }
  async #compare(): Promise<void> {
    const inForce = await this.inForce()
    this.#presenceInForce = new Map(Object.entries(inForce?.presence ?? {}))
    this.#namesInForce = inForce && new Set(inForce.names)
    const fingerprint = fingerprintOf(this.#own.queues)
    const isOther = inForce !== undefined && inForce.fingerprint !== fingerprint
    const others = this.#othersThan(inForce)
    this.#hasOtherSecret = this.#token === undefined && others.includes(SERVER_SECRET)
    this.#joinAlgorithm = this.#token === undefined ? joinAlgorithmIn(inForce?.others) : undefined
    // This process leads, but its replaced queues or pools could not be stored, so store them again.
    if ((isOther || others.length > 0) && this.#token !== undefined) return this.say()
    if (isOther && this.#reported !== inForce.fingerprint) this.#options.differ({ inForce, fingerprint })
    this.#reported = isOther ? inForce.fingerprint : undefined
    const differs = others.length === 0 ? undefined : new ConfigurationDiffers(others, inForce?.by ?? '')
    if (differs !== undefined && differs.message !== this.#told) this.#options.problem(differs)
    this.#told = differs?.message
  }

  #all(): LeaderOptions {
    return { ...this.#fixed, pools: this.#own.pools }
  }

  /** Returns what the leader has configured differently, besides its queues. */
  #othersThan(inForce: QueuesInForce | undefined): readonly string[] {
    if (inForce?.others === undefined) return []
    const { others } = inForce
    // A leader of another version may not name each part.
    return Object.entries(fingerprintsOf(this.#all())).flatMap(([name, own]) => {
      if (others[name] === undefined || others[name] === own) return []
      const lost = name === RESULTS && !hasResults(others)
      return lost ? `${name} (it has none: results of matches that end now are lost)` : name
    })
  }
}

const namesOf = (queues: Definitions['queues']) => new Set(queues.map(({ name }) => name))

/** Returns the error for a queue or pool that this process or the leader lacks. */
export const notEverywhere = (what: 'queue' | 'pool') =>
  new PartitionUnavailable(`Not all processes have this ${what} yet. Retry later, or reload all processes.`)

const digestOf = (key: string) => createHash('sha256').update(key).digest()
