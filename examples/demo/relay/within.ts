import { systemClock } from '@muster/core/clock'

const LOOK_EVERY_MS = 10

/** Resolves with true once the condition holds, or with false after `ms` milliseconds. */
export async function within(ms: number, isTrue: () => boolean): Promise<boolean> {
  for (const end = systemClock.now() + ms; systemClock.now() < end;) {
    if (isTrue()) return true
    await systemClock.sleep(LOOK_EVERY_MS)
  }
  return isTrue()
}
