import { MinuteCount } from './minute-count.js'
import { WaitHistogram } from './wait-histogram.js'

/** What happens in a queue: counted as it happens. */
export interface QueueActivity {
  readonly arrivals: MinuteCount
  readonly matches: MinuteCount
  /** Waits of the tickets matched within the last hour. */
  readonly lastHour: WaitHistogram
  /** Counts a ticket that was matched. */
  waited(waitMs: number): void
  arrived(now: number): void
  matched(now: number): void
  /** Ends a step, and returns what happened in it. */
  endStep(): StepActivity
}

export interface StepActivity {
  readonly arrivals: number
  readonly matches: number
  readonly waits: WaitHistogram | undefined
}

/** @param steps number of steps in the hour. */
export function createQueueActivity(steps: number): QueueActivity {
  const arrivals = new MinuteCount()
  const matches = new MinuteCount()
  const lastHour = new WaitHistogram()
  /** Waits of each step; most have none, and cost nothing. */
  const past: (WaitHistogram | undefined)[] = []
  let step = { arrivals: 0, matches: 0, waits: undefined as WaitHistogram | undefined }

  return {
    arrivals,
    matches,
    lastHour,
    arrived: (now) => {
      arrivals.add(now)
      step.arrivals += 1
    },
    matched: (now) => {
      matches.add(now)
      step.matches += 1
    },
    waited: (waitMs) => {
      lastHour.add(waitMs)
      step.waits ??= new WaitHistogram()
      step.waits.add(waitMs)
    },
    endStep: () => {
      const ended = step
      step = { arrivals: 0, matches: 0, waits: undefined }
      past.push(ended.waits)
      const oldest = past.length > steps ? past.shift() : undefined
      if (oldest !== undefined) lastHour.merge(oldest, -1)
      return ended
    },
  }
}
