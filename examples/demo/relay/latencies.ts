import { percentiles } from '../percentiles.js'

/** Measured times. `add` takes milliseconds; the results are microseconds. */
export interface Latencies {
  add(milliseconds: number): void
  /** Returns the spread of the latest times. */
  recent(): Spread
  all(): Spread
}

/** Percentiles in whole microseconds. */
export interface Spread {
  readonly p50: number
  readonly p99: number
}

const RECENT = 2000

export function createLatencies(): Latencies {
  const microseconds: number[] = []
  const spread = (values: readonly number[]): Spread => {
    const { p50, p99 } = percentiles(values)
    return { p50, p99 }
  }
  return {
    add: (milliseconds) => void microseconds.push(milliseconds * 1000),
    recent: () => spread(microseconds.slice(-RECENT)),
    all: () => spread(microseconds),
  }
}
