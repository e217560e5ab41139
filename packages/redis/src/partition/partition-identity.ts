import type { Clock } from '@muster/core/clock'
import { IDENTITY_KEY } from './notes.js'
import { RecordsVanished } from './partition-errors.js'
import type { PartitionStore } from './store/index.js'

interface PartitionIdentityOptions {
  readonly store: Pick<PartitionStore, 'readPartitionRecords'>
  readonly clock: Pick<Clock, 'now'>
  /** Name of the partition for people. */
  readonly name: string
  readonly longestMatchMs: () => number
  readonly problem: (error: unknown) => void
}

/**
 * The random identity of a partition, created by its first leader (see `IDENTITY_KEY`). If it changes, Redis was
 * emptied.
 */
export class PartitionIdentity {
  readonly #options: PartitionIdentityOptions
  /** The identity at the last check. */
  #known: string | undefined
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

  /** Checks whether Redis was emptied while this process ran. */
  async compare(): Promise<void> {
    const { store, clock, name, longestMatchMs, problem } = this.#options
    const known = this.#known
    const [found] = await store.readPartitionRecords([IDENTITY_KEY])
    // If this process has learned the identity meanwhile, that is newer than what it read.
    if (this.#known !== known) return
    if (known !== undefined && found !== known) {
      this.#timesVanished += 1
      this.#sparedUntil = clock.now() + longestMatchMs()
      this.#known = undefined
      problem(new RecordsVanished(name))
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
