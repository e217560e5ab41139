import { systemClock } from '@muster/core/clock'

const LOOK_MS = 20

/** Resolves with true once the condition holds, or with false after this many milliseconds. */
export async function until(holds: () => unknown, withinMs: number): Promise<boolean> {
  const end = systemClock.now() + withinMs
  while (!holds()) {
    if (systemClock.now() >= end) return false
    await systemClock.sleep(LOOK_MS)
  }
  return true
}
