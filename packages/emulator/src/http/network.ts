import type { Clock, Random } from '@muster/core/clock'

/** The simulated network between the caller and the service. */
export interface Network {
  /** Waits for one direction: half of the latency, and up to half of the jitter. Rejects when the emulator closes. */
  travel(): Promise<void> | undefined
  /** Waits for any other delay. */
  delay(ms: number): Promise<void>
}

export function createNetwork(
  clock: Clock,
  random: Random,
  { latencyMs, jitterMs }: { readonly latencyMs: number; readonly jitterMs: number },
  closing: AbortSignal,
): Network {
  return {
    travel: () =>
      latencyMs === 0 && jitterMs === 0 ? undefined : clock.sleep((latencyMs + random() * jitterMs) / 2, closing),
    delay: (ms) => clock.sleep(ms, closing),
  }
}
