/** Milliseconds above which a pause of this process is an outage. Others could not report meanwhile. */
const OWN_PAUSE_MS = 5000

/** Detects that this process was suspended, e.g. by SIGSTOP or with its machine. */
export interface OwnPauses {
  /**
   * Call in each tick. Returns true if this process was suspended since the last call, i.e. if the last call was more
   * than 5 s ago. If ticks are regularly further apart, the gap must also be more than twice as long as the last gaps.
   */
  ticked(now: number): boolean
  /**
   * Call when a request is read, because that may happen before the next tick. Returns true if this process was
   * suspended since the last tick and the last call. If only a tick takes long, e.g. because it waits for a store, the
   * requests that arrive meanwhile show that the process runs.
   */
  called(now: number): boolean
}

/** @param leastMs milliseconds above which a gap may be a pause. Default 5,000, or more if ticks are further apart */
export function createOwnPauses(startedAt: number, leastMs = OWN_PAUSE_MS): OwnPauses {
  let tickedAt = startedAt
  let calledAt = startedAt
  let [earlierMs, lastMs] = [0, 0]
  const isPause = (ms: number) => ms > Math.max(OWN_PAUSE_MS, leastMs, 2 * Math.min(earlierMs, lastMs))
  return {
    ticked: (now) => {
      const wasPaused = isPause(now - tickedAt)
      ;[earlierMs, lastMs] = [lastMs, now - tickedAt]
      tickedAt = now
      return wasPaused
    },
    called: (now) => {
      const wasPaused = isPause(now - Math.max(tickedAt, calledAt))
      calledAt = now
      return wasPaused
    },
  }
}
