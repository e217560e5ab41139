import type { Clock } from '@muster/core/clock'

interface RepeatOptions {
  /** Ends it. */
  readonly signal: AbortSignal
  readonly clock: Clock
  /** Something failed; it is tried again in a moment. */
  readonly failed: (error: unknown) => void
}

/** Milliseconds until what has failed is tried again. */
export const RETRY_MS = 200

/** Does something again and again, until the signal is aborted; what fails by the abort itself has not failed. */
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
