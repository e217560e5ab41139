/** Milliseconds above which a pause of this process is an outage. Others could not report meanwhile. */
const OWN_PAUSE_MS = 5000

/** Detects that this process was suspended, e.g. by SIGSTOP or with its machine. */
export interface OwnPauses {
  /**
   * Call in each tick. Returns true if this process was suspended since the last call, i.e. if the last call was more
   * than 5 s ago. If ticks are regularly further apart, the gap must also be more than twice as long as the last gaps.
   */
  ticked(now: number): boolean
  /** True if this process was suspended since the last tick. Requests may be read before the next tick. */
  isOver(now: number): boolean
}

/** @param leastMs milliseconds above which a gap may be a pause. Default 5,000, or more if ticks are further apart */
export function createOwnPauses(startedAt: number, leastMs = OWN_PAUSE_MS): OwnPauses {
  let lookedAt = startedAt
  let [earlierMs, lastMs] = [0, 0]
  const isOver = (now: number) => now - lookedAt > Math.max(OWN_PAUSE_MS, leastMs, 2 * Math.min(earlierMs, lastMs))
  return {
    ticked: (now) => {
      const isPause = isOver(now)
      ;[earlierMs, lastMs] = [lastMs, now - lookedAt]
      lookedAt = now
      return isPause
    },
    isOver,
  }
}
