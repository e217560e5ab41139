import type { Clock } from '@muster/core/clock'

/** Milliseconds between two checks (our choice). */
const LOOK_MS = 1000

/** Reported if the wall clock of the machine was set (NTP), or the machine slept. Waiting times are not affected. */
export class ClockStepped extends Error {
  override readonly name = 'ClockStepped'

  /** @param byMs milliseconds by which the clock was set; negative if it was set back. */
  constructor(byMs: number) {
    const seconds = (Math.abs(byMs) / 1000).toFixed(1)
    super(
      `The clock of this machine was set ${byMs < 0 ? 'back' : 'forward'} by ${seconds} s. ` +
        'Waits are not affected. Tokens, schedules and timestamps follow the new time.',
    )
  }
}

/** Reports each step of the wall clock, until the watch is closed. */
export function watchClock(clock: Clock, stepped: (error: ClockStepped) => void): { close(): void } {
  const ending = new AbortController()
  const stepMs = () => clock.wallStepMs?.() ?? 0
  const watch = async () => {
    for (let seen = stepMs(); ;) {
      await clock.sleep(LOOK_MS, ending.signal)
      const now = stepMs()
      if (now !== seen) stepped(new ClockStepped(now - seen))
      seen = now
    }
  }
  void watch().catch(() => {})
  return { close: () => ending.abort() }
}
