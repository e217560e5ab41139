import type { Random } from '@muster/core/clock'
import { backoffMs } from './backoff.js'
import type { Match } from './match.js'

/** What may be spent. */
export interface SpendBound {
  /** Deployments that exist or may exist, at most. */
  readonly maxServers: number
  /** Of these, those that are not READY yet, at most. */
  readonly maxStarting: number
}

/** Says how many deployments may be created now: the bound, and a pause while the service takes none. */
export interface Governor {
  /** @param matches all whose deployment exists or may exist. */
  room(matches: Iterable<Match>, now: number): number
  /** A create was answered. */
  succeeded(): void
  /** A create failed for no fault of its match. */
  failed(now: number): void
  /** Epoch milliseconds; in the past, or 0, when there is no pause. */
  readonly pausedUntil: number
}

/** One or two failures may be bad luck, and the others should not wait for it. */
const FAILURES_BEFORE_PAUSE = 3
const PAUSE = { baseMs: 500, capMs: 30_000 }

export function createGovernor({ maxServers, maxStarting }: SpendBound, random: Random): Governor {
  let failures = 0
  let pausedUntil = 0
  return {
    room: (matches, now) => {
      if (now < pausedUntil) return 0
      let alive = 0
      let starting = 0
      for (const { phase } of matches) {
        alive += 1
        if (phase !== 'running' && phase !== 'stopping') starting += 1
      }
      return Math.max(0, Math.min(maxServers - alive, maxStarting - starting))
    },
    succeeded: () => {
      failures = 0
      pausedUntil = 0
    },
    failed: (now) => {
      // Those that were under way together fail together: they make one pause, not one for each.
      if (now < pausedUntil) return
      failures += 1
      const excess = failures - FAILURES_BEFORE_PAUSE + 1
      if (excess > 0) pausedUntil = now + backoffMs(excess, random(), PAUSE)
    },
    get pausedUntil() {
      return pausedUntil
    },
  }
}
