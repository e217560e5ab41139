import type { Clock, Random } from '@muster/core/clock'
import { chance } from './random-faults.fixture.js'

/**
 * How a process ends at a write: before it, after it, or after a part of it (`torn`). `power`: a power failure, which
 * may also lose earlier data that was not synced. `deposed`: another process takes over while this one still runs.
 */
export type Death = 'before' | 'after' | 'torn' | 'power' | 'deposed'

/** The lifetime of a Muster process. After its end, no promise of `alive` or `clock` settles. */
export interface Life {
  readonly clock: Clock
  readonly random: Random
  isDead(): boolean
  /** Ends the process at once. */
  kill(how: Death): void
  /** Lets another process take over, while this one still runs and does not know it. */
  depose(): void
  /** Cancels the planned end of the process. */
  spare(): void
  /** Called before each write. Returns how the process ends at this write. Undefined if it survives the write. */
  writes(): Death | undefined
  /** Suspends the process, like SIGSTOP, until `resume`. */
  suspend(): void
  resume(): void
  isSuspended(): boolean
  /**
   * Settles like the promise, but not while the process is suspended. If the process has ended by then, never settles.
   */
  alive<T>(promise: Promise<T>): Promise<T>
}

interface LifeOptions {
  readonly clock: Clock
  readonly random: Random
  /** The number of the write at which the process ends, from 1, and how. Undefined if it does not end at a write. */
  readonly death: { readonly at: number; readonly how: Death } | undefined
  readonly died: (how: Death) => void
  readonly deposed?: () => void
}

const never = <T>() => new Promise<T>(() => {})

export function createLife({ clock, random, death, died, deposed }: LifeOptions): Life {
  let isDead = false
  let isSpared = false
  let writes = 0
  let held: Promise<void> | undefined
  let release = () => {}
  const settled = async <T>(outcome: () => T): Promise<T> => {
    while (held !== undefined) await held
    return isDead ? never<T>() : outcome()
  }
  const alive = <T>(promise: Promise<T>): Promise<T> =>
    promise.then(
      (value) => (held === undefined && !isDead ? value : settled(() => value)),
      (error: unknown) =>
        settled(() => {
          throw error as Error
        }),
    )
  return {
    clock: { now: () => clock.now(), sleep: (ms, signal) => alive(clock.sleep(ms, signal)) },
    random,
    isDead: () => isDead,
    kill: (how) => {
      if (isDead) return
      isDead = true
      died(how)
    },
    depose: () => void (isDead || deposed?.()),
    spare: () => {
      isSpared = true
    },
    writes: () => {
      writes += 1
      return !isSpared && death?.at === writes ? death.how : undefined
    },
    suspend: () => {
      held ??= new Promise((resolve) => {
        release = resolve
      })
    },
    resume: () => {
      held = undefined
      release()
    },
    isSuspended: () => held !== undefined,
    alive,
  }
}

/** Returns the milliseconds that a write or a response takes. A share `slow` of them takes longer. */
export const delayMs = (random: Random, slow: number, usual: number): number =>
  chance(random, slow) ? 200 + random() * 2800 : random() * usual
