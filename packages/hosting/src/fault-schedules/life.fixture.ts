import type { Clock, Random } from '@muster/core/clock'
import { chance } from './random-faults.fixture.js'

/**
 * How a process ends at a write: before it, after it, with a part of it written, or by a power failure, which may lose
 * unsynced data. `deposed`: another process takes over while this one continues.
 */
export type Death = 'before' | 'after' | 'torn' | 'power' | 'deposed'

/** A Muster process. Nothing that it awaits happens after its end. */
export interface Life {
  readonly clock: Clock
  readonly random: Random
  isDead(): boolean
  /** Ends the process now, not at a write. */
  kill(how: Death): void
  /** Another process is about to take over. This one continues until it finds out. */
  depose(): void
  /** Prevents the process from ending by itself. */
  spare(): void
  /** Called before each write. Returns how the process ends with it. Undefined: it does not. */
  writes(): Death | undefined
  /** Settles like the promise while the process lives. */
  alive<T>(promise: Promise<T>): Promise<T>
}

interface LifeOptions {
  readonly clock: Clock
  readonly random: Random
  /** The write at which the process ends, and how. Undefined: at none. */
  readonly death: { readonly at: number; readonly how: Death } | undefined
  readonly died: (how: Death) => void
  readonly deposed?: () => void
}

const never = <T>() => new Promise<T>(() => {})

export function createLife({ clock, random, death, died, deposed }: LifeOptions): Life {
  let isDead = false
  let isSpared = false
  let writes = 0
  const alive = <T>(promise: Promise<T>): Promise<T> =>
    promise.then(
      (value) => (isDead ? never<T>() : value),
      (error: unknown) => (isDead ? never<T>() : Promise.reject(error as Error)),
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
    alive,
  }
}

/** Duration in milliseconds of a write or a response that is sometimes slow. */
export const delayMs = (random: Random, slow: number, usual: number): number =>
  chance(random, slow) ? 200 + random() * 2800 : random() * usual
