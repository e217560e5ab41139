import { backoffMs } from '@muster/core/internal'
import type { StopReason } from '../records/index.js'

/**
 * Limits how many warm servers of a pool are created while its servers fail before they register, e.g. because of a
 * broken build. Each of them costs money.
 */
export type BootBackoff = ReturnType<typeof createBootBackoff>

/** Number of consecutive failures from which warm servers are created one by one. One or two may be chance. */
const FAILURES_BEFORE_PAUSE = 3
/** Milliseconds between two of these servers (our choice). A broken build then causes about 70 servers in an hour. */
const GAP = { baseMs: 2000, capMs: 60_000, jitter: 0 }
const FAILURES: ReadonlySet<StopReason> = new Set<StopReason>([
  'refused',
  'failed',
  'too-slow',
  'not-listening',
  'crashed',
])

export function createBootBackoff() {
  let failures = 0
  /** Number of warm servers that were created since the third failure. */
  let probes = 0
  let nextAt = 0
  const isPaused = () => failures >= FAILURES_BEFORE_PAUSE
  return {
    /** Returns how many warm servers may be created now. */
    room: (now: number) => (isPaused() ? (now < nextAt ? 0 : 1) : Infinity),
    /** Records that a warm server is being created. */
    created: (now: number) => {
      if (!isPaused()) return
      probes += 1
      nextAt = now + backoffMs(probes, 0, GAP)
    },
    /** Records that a server has registered. */
    booted: () => {
      failures = 0
      probes = 0
    },
    /** Records that a server is gone that has never registered. */
    gone: (reason: StopReason | undefined) => {
      if (reason !== undefined && FAILURES.has(reason)) failures += 1
    },
  }
}
