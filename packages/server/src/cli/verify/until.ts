import { systemClock } from '@muster/core/clock'

const LOOK_MS = 20

/** Whether something becomes so within so many milliseconds. */
export async function until(holds: () => unknown, withinMs: number): Promise<boolean> {
  const end = systemClock.now() + withinMs
  while (!holds()) {
    if (systemClock.now() >= end) return false
    await systemClock.sleep(LOOK_MS)
  }
  return true
}
