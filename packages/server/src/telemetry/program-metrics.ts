import type { Meter } from '@opentelemetry/api'

/** What is measured of the program itself. Counts are totals since the start, unless they are said to be of now. */
export interface ObservedProgram {
  readonly connections: () => {
    /** Now. */
    readonly open: number
    readonly idleEnded: number
    readonly busyEnded: number
    readonly refused: number
  }
  readonly load: () => {
    /** Requests by urgency. */
    readonly refused: Readonly<Record<string, number>>
    /** Milliseconds, now. */
    readonly lateMs: number
  }
}

/** Measures the program's connections and load, as docs/telemetry.md lists them. */
export function observeProgram(meter: Meter, { connections, load }: ObservedProgram): void {
  const open = meter.createObservableUpDownCounter('muster.connections.open', {
    unit: '{connection}',
    description: 'Connections that are open',
  })
  const ended = meter.createObservableCounter('muster.connections.ended', {
    unit: '{connection}',
    description: 'Connections that were ended or refused because there were too many, by which',
  })
  const refused = meter.createObservableCounter('muster.requests.refused', {
    unit: '{request}',
    description: 'Requests that were refused because answers came late, by urgency',
  })
  const delay = meter.createObservableGauge('muster.requests.delay', {
    unit: 's',
    description: 'How late requests are taken up',
  })
  meter.addBatchObservableCallback(
    (result) => {
      const counts = connections()
      result.observe(open, counts.open)
      result.observe(ended, counts.idleEnded, { 'muster.reason': 'idle' })
      result.observe(ended, counts.busyEnded, { 'muster.reason': 'busy' })
      result.observe(ended, counts.refused, { 'muster.reason': 'refused' })
      const { refused: shed, lateMs } = load()
      for (const [urgency, count] of Object.entries(shed)) result.observe(refused, count, { 'muster.urgency': urgency })
      result.observe(delay, lateMs / 1000)
    },
    [open, ended, refused, delay],
  )
}
