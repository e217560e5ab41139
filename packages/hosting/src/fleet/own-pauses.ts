/** Milliseconds above which a pause of this process is an outage. Others could not report meanwhile. */
const OWN_PAUSE_MS = 5000

/**
 * Returns a function to call in each tick. It returns true if this process was suspended since the last call, i.e. if
 * the last call was more than 5 s ago. If ticks are regularly further apart, the gap must also be more than twice as
 * long as the last gaps.
 */
export function createOwnPauses(startedAt: number): (now: number) => boolean {
  let lookedAt = startedAt
  let [earlierMs, lastMs] = [0, 0]
  return (now) => {
    const passedMs = now - lookedAt
    const isPause = passedMs > Math.max(OWN_PAUSE_MS, 2 * Math.min(earlierMs, lastMs))
    lookedAt = now
    ;[earlierMs, lastMs] = [lastMs, passedMs]
    return isPause
  }
}
