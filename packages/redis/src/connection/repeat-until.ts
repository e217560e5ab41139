import type { Clock } from '@muster/core/clock'

interface RepeatOptions {
  /** Aborting the signal ends the repetition. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Called after a failure, before the next attempt. */
  readonly failed: (error: unknown) => void
}

/** Milliseconds after a failure until the next attempt. */
export const RETRY_MS = 200

/** Repeats the work until the signal is aborted. Failures caused by the abort are ignored. */
export async function repeatUntil(work: () => Promise<void>, { signal, clock, failed }: RepeatOptions): Promise<void> {
  while (!signal.aborted) {
    try {
      await work()
    } catch (error) {
      if (signal.aborted) return
      failed(error)
      await clock.sleep(RETRY_MS, signal).catch(() => {})
    }
  }
}
