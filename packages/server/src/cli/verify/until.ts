import { systemClock } from '@muster/core/clock'

const LOOK_MS = 20

/** Polls a condition. Resolves with true once it holds, or with false after `withinMs` milliseconds. */
export async function until(holds: () => unknown, withinMs: number): Promise<boolean> {
  const end = systemClock.now() + withinMs
  while (!holds()) {
    if (systemClock.now() >= end) return false
    await systemClock.sleep(LOOK_MS)
  }
  return true
}
