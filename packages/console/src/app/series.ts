// pure: the last hour as columns for plots, with its gaps
import type { History, HistoryStep } from '../wire.js'

/** A value for each time; null if it is unknown. */
export type Values = readonly (number | null)[]

export interface QueueSeries {
  readonly players: Values
  /** Number per minute. */
  readonly arrivals: Values
  readonly matches: Values
  /** Waiting time in milliseconds. */
  readonly waitP50: Values
  readonly waitP95: Values
}

export interface Series {
  /** Milliseconds between two times. */
  readonly step: number
  /** The ends of the steps, in epoch milliseconds. */
  readonly times: readonly number[]
  readonly queues: ReadonlyMap<string, QueueSeries>
  readonly servers: Values
  readonly missing: readonly string[]
}

export const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000

/** Minimum milliseconds that plots show, even if less is known after the program's start. */
const SHORTEST_MS = 600_000

/** Returns the milliseconds that plots show: the last hour, or less while little of it is known. */
export const shownSpan = ({ times, step }: Series): number =>
  Math.min(HOUR_MS, Math.max(SHORTEST_MS, times.length * step))

export const noQueueSeries: QueueSeries = { players: [], arrivals: [], matches: [], waitP50: [], waitP95: [] }
const columns = ['players', 'arrivals', 'matches', 'waitP50', 'waitP95'] as const

const aMinute = (count: number | null, step: number) => (count === null ? null : (count * MINUTE_MS) / step)

/** Converts the history in the feed's first event to columns. */
export const seriesOf = ({ step, from, length, queues, servers, missing }: History): Series => ({
  step,
  times: Array.from({ length }, (_, at) => from + at * step),
  queues: new Map(
    queues.map(({ name, players, arrivals, matches, waitP50, waitP95 }) => [
      name,
      {
        players,
        waitP50,
        waitP95,
        arrivals: arrivals.map((count) => aMinute(count, step)),
        matches: matches.map((count) => aMinute(count, step)),
      },
    ]),
  ),
  servers,
  missing,
})

/** Returns the series with one more step. Missed steps become gaps, and steps older than an hour are dropped. */
export function withStep(series: Series, { at, servers, queues }: HistoryStep): Series {
  const { step, times } = series
  const last = times.at(-1)
  if (last !== undefined && at <= last) return series
  const missed = last === undefined ? 0 : Math.min(Math.round((at - last) / step) - 1, Math.ceil(HOUR_MS / step))
  const gap = Array.from({ length: Math.max(0, missed) }, (_, index) => at - (missed - index) * step)
  const added = [...gap, at]
  const old = Math.max(0, times.length + added.length - Math.ceil(HOUR_MS / step))
  const grown = (values: Values, value: number | null): Values => {
    // A queue that is new has no values for earlier steps.
    const before = values.length === times.length ? values : [...times.map(() => null), ...values].slice(-times.length)
    return [...before, ...gap.map(() => null), value].slice(old)
  }
  const news = new Map(
    queues.map(({ name, players, arrivals, matches, waitP50, waitP95 }) => [
      name,
      { players, waitP50, waitP95, arrivals: aMinute(arrivals, step), matches: aMinute(matches, step) },
    ]),
  )
  const names = new Set([...series.queues.keys(), ...news.keys()])
  const known = [...names].map((name) => {
    const [before, now] = [series.queues.get(name) ?? noQueueSeries, news.get(name)]
    const column = (key: (typeof columns)[number]) => grown(before[key], now?.[key] ?? null)
    const [players, arrivals, matches, waitP50, waitP95] = columns.map(column) as [
      Values,
      Values,
      Values,
      Values,
      Values,
    ]
    return [name, { players, arrivals, matches, waitP50, waitP95 }] as const
  })
  return {
    ...series,
    times: [...times, ...added].slice(old),
    queues: new Map(known.filter(([, { players }]) => players.some((value) => value !== null))),
    servers: grown(series.servers, servers),
  }
}
