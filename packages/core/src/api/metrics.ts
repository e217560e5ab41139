import { z } from 'zod'
import { answer, maybe, type Maybe, named, segment, text, textOrNumber, type TimestampA } from './fields.js'
import type { DeploymentId } from './deployment.js'

/** The metrics to read. */
export interface ReadMetrics extends DeploymentId {
  /**
   * Start of the measurements in format A, like a deployment's `start_time`, with 1 to 6 digits of the second's
   * fraction. Default: the deployment's start.
   */
  readonly start_time?: TimestampA | undefined
  /** End of the measurements in format A, later than `start_time`. Default: now. */
  readonly end_time?: TimestampA | undefined
  /** Interval between measurements: a whole number of seconds, minutes or hours, such as 30s, 5m, 1h. */
  readonly steps?: string | undefined
  /** True requests raw data. Default false. */
  readonly raw?: boolean | undefined
}

/** One measurement over time. Units are not documented. */
export interface MetricSeries {
  /** The meaning of labels is not documented. */
  readonly labels?: Maybe<readonly string[]>
  /**
   * The measured values, documented as strings. A public deployment sends numbers (public fact), which are read as
   * strings too. `metricValues` returns numbers.
   */
  readonly datasets?: Maybe<readonly string[]>
  /** The times of measurement, each 'YYYY-MM-DD HH:MM:SS.mmm'. */
  readonly timestamps?: Maybe<readonly string[]>
}

/** Measurements over time (service-api, Metrics). */
export interface Metrics {
  /** Total amounts of data. */
  readonly total?: Maybe<{
    /** Data received over the network. */
    readonly receive_total?: Maybe<MetricSeries>
    /** Data sent over the network. */
    readonly transmit_total?: Maybe<MetricSeries>
    /** Data read from disk. */
    readonly disk_read_total?: Maybe<MetricSeries>
    /** Data written to disk. */
    readonly disk_write_total?: Maybe<MetricSeries>
  }>
  /** Processor use. */
  readonly cpu?: Maybe<MetricSeries>
  /** Share of time in which the processor was throttled (public fact). */
  readonly cpu_throttle_rate?: Maybe<MetricSeries>
  /** Total throttling of the processor (public fact). */
  readonly cpu_throttle_total?: Maybe<MetricSeries>
  /** Memory use. */
  readonly mem?: Maybe<MetricSeries>
  /** Rates of network traffic. */
  readonly network?: Maybe<{
    /** Rate of received data. */
    readonly receive?: Maybe<MetricSeries>
    /** Rate of sent data. */
    readonly transmit?: Maybe<MetricSeries>
  }>
}

/**
 * Returns the values of a series as numbers, whether the service sent numbers or strings. Returns NaN for a value that
 * is not numeric, and an empty list without a series.
 */
export function metricValues(series: Maybe<MetricSeries>): readonly number[] {
  return (series?.datasets ?? []).map((value) => (value.trim() === '' ? Number.NaN : Number(value)))
}

const timePattern = /^(\d{4}-\d{2}-\d{2}) (\d{2}:\d{2}:\d{2})\.\d{1,6}$/
/** True if the calendar has the day and the day has the time. `Date` alone would read 30 February as 2 March. */
function isReal(time: string): boolean {
  const [, day, seconds] = timePattern.exec(time) ?? []
  const parsed = new Date(`${day}T${seconds}Z`)
  return !Number.isNaN(parsed.getTime()) && parsed.toISOString() === `${day}T${seconds}.000Z`
}
const metricsTime = z
  .string()
  .regex(timePattern, { error: 'must look like 2026-01-31 08:15:30.250000', abort: true })
  .refine(isReal, { error: 'must be a time that exists' })
  .meta({ examples: ['2026-01-31 08:15:30.250000'] }) as z.ZodType<string> as z.ZodType<TimestampA>
/** Pads the fraction of the second, so that times of this fixed-width format can be compared as strings. */
const sortable = (time: string) => time.padEnd(26, '0')

export const ReadMetrics = named<ReadMetrics>(
  'ReadMetrics',
  z
    .strictObject({
      request_id: segment,
      start_time: metricsTime.optional(),
      end_time: metricsTime.optional(),
      steps: z
        .string()
        .regex(/^[1-9]\d*[smh]$/, 'must be a whole number of seconds, minutes or hours such as 30s, 5m, 1h')
        .optional(),
      raw: z.boolean().optional(),
    })
    .refine(
      ({ start_time, end_time }) =>
        start_time === undefined || end_time === undefined || sortable(end_time) > sortable(start_time),
      { path: ['end_time'], error: 'must be later than start_time' },
    ),
)

const MetricSeries = answer<MetricSeries>('MetricSeries', {
  labels: maybe(z.array(text)),
  datasets: maybe(z.array(textOrNumber)),
  timestamps: maybe(z.array(text)),
})
const series = maybe(MetricSeries)
export const Metrics = answer<Metrics>('Metrics', {
  total: maybe(
    z.looseObject({
      receive_total: series,
      transmit_total: series,
      disk_read_total: series,
      disk_write_total: series,
    }),
  ),
  cpu: series,
  cpu_throttle_rate: series,
  cpu_throttle_total: series,
  mem: series,
  network: maybe(z.looseObject({ receive: series, transmit: series })),
})
