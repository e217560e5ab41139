import type { Clock } from './clock.js'

/** A clock that advances only when the test moves it. */
export function manualClock(): Clock & { readonly advance: (ms: number) => void; readonly waiting: () => number } {
  let now = 0
  const timers = new Set<{ readonly at: number; readonly call: () => void }>()
  return {
    now: () => now,
    after: (ms, call) => {
      const timer = { at: now + ms, call }
      timers.add(timer)
      return () => timers.delete(timer)
    },
    waiting: () => timers.size,
    advance: (ms) => {
      const end = now + ms
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).toSorted((one, other) => one.at - other.at)
        if (next === undefined) break
        timers.delete(next)
        now = next.at
        next.call()
      }
      now = end
    },
  }
}
