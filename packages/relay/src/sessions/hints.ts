import type { Clock } from '@muster/core/clock'
import { within } from '@muster/core/runtime'

/** Wakes the callers that wait for a session when its webhook arrives. A hint that arrives early is kept for them. */
export interface Hints {
  /** Begins to accept hints for this URL. */
  expect(url: string): void
  forget(url: string): void
  isExpected(url: string): boolean
  /** Notes a hint. Returns false for a URL that is not expected. */
  arrived(url: string): boolean
  /** Waits `ms`, or until a hint arrives, but at least `leastMs`, however many hints arrive. */
  wait(url: string, ms: number, signal: AbortSignal): Promise<void>
}

interface Expected {
  pending: boolean
  wake: () => void
}

/** With this minimum (our choice), a flood of hints causes at most four reads per second. */
const LEAST_MS = 250

export function createHints(clock: Clock): Hints {
  const expected = new Map<string, Expected>()
  return {
    expect: (url) => {
      expected.set(url, { pending: false, wake: () => {} })
    },
    forget: (url) => {
      expected.delete(url)
    },
    isExpected: (url) => expected.has(url),
    arrived: (url) => {
      const one = expected.get(url)
      if (one === undefined) return false
      one.pending = true
      one.wake()
      return true
    },
    wait: async (url, ms, signal) => {
      const least = Math.min(ms, LEAST_MS)
      await clock.sleep(least, signal)
      const one = expected.get(url)
      if (one?.pending !== true) await hintOr(ms - least, signal, one)
      if (one !== undefined) one.pending = false
    },
  }

  async function hintOr(ms: number, signal: AbortSignal, one: Expected | undefined): Promise<void> {
    const hint = new Promise<void>((resolve) => {
      if (one !== undefined) one.wake = resolve
    })
    await within(hint, ms, clock, signal)
  }
}
