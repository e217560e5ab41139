import type { Clock } from '@muster/core/clock'
import { IDENTITY_KEY } from './notes.js'
import { RecordsVanished } from './partition-errors.js'
import type { PartitionStore } from './store/index.js'

interface PartitionIdentityOptions {
  readonly store: Pick<PartitionStore, 'readPartitionRecords' | 'hasGoneBack'>
  readonly clock: Pick<Clock, 'now'>
  /** Name of the partition for people. */
  readonly name: string
  readonly longestMatchMs: () => number
  readonly problem: (error: unknown) => void
}

/**
 * The random identity of a partition, created by its first leader (see `IDENTITY_KEY`). If it changes, Redis was
 * emptied or has gone back to an earlier state.
 */
export class PartitionIdentity {
  readonly #options: PartitionIdentityOptions
  /** The identity at the last check. */
  #known: string | undefined
  /** The identity with which Redis has gone back. The next leader replaces it, so that every process learns of it. */
  #void: string | undefined
  #timesVanished = 0
  /** Time until which servers without a record are ordered to continue, because players may be on them. */
  #sparedUntil = -Infinity

  constructor(options: PartitionIdentityOptions) {
    this.#options = options
  }

  /** Records that this process leads the partition of this identity. */
  learn(identity: string): void {
    this.#known = identity
  }

  /** True if records of the partition of this identity were lost, so that a leader has to replace it. */
  isVoid(identity: string): boolean {
    return this.#void === identity
  }

  /** Checks whether Redis was emptied or has gone back to an earlier state while this process ran. */
  async compare(): Promise<void> {
    const { store, clock, name, longestMatchMs, problem } = this.#options
    const known = this.#known
    const [[found], hasGoneBack] = await Promise.all([store.readPartitionRecords([IDENTITY_KEY]), store.hasGoneBack()])
    // If this process has learned the identity meanwhile, that is newer than what it read.
    if (!hasGoneBack && this.#known !== known) return
    // This process has already reported the loss after which a leader replaces the identity.
    const isReported = known === this.#void && found !== undefined
    if (hasGoneBack || (known !== undefined && found !== known && !isReported)) {
      this.#timesVanished += 1
      this.#sparedUntil = clock.now() + longestMatchMs()
      this.#known = undefined
      this.#void = hasGoneBack ? found : undefined
      problem(new RecordsVanished(name, hasGoneBack))
    }
    this.#known = found ?? this.#known
  }

  timesVanished(): number {
    return this.#timesVanished
  }
  sparesUnknownServers(): boolean {
    return this.#options.clock.now() < this.#sparedUntil
  }
  /** Returns the milliseconds until unknown servers stop: after a loss of records, at least the longest match. */
  graceMs(orphanGraceMs: number): number {
    return this.#timesVanished === 0 ? orphanGraceMs : Math.max(orphanGraceMs, this.#options.longestMatchMs())
  }
}
