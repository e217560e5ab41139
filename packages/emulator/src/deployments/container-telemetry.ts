import type { ContainerLogs, Metrics, MetricSeries } from '@muster/core/api'
import type { ReadMetrics } from '@muster/core/internal'
import { seededRandom } from '@muster/core/clock'
import { formatA, formatB, parseA } from '../timestamps.js'
import { type DeploymentRecord, hasBeen, seedOf, timeOf } from './deployment-record.js'
import { isProblem, type RequestProblem } from './filters.js'

/**
 * Milliseconds between two periodic lines of a simulated server’s log, and the number of such lines that are kept.
 */
const BEAT_MS = 10_000
const BEATS_KEPT = 100

/**
 * Returns the output of the real container. Without one, returns simulated output that depends only on the deployment
 * and the time.
 */
export function containerLogs(record: DeploymentRecord, now: number): ContainerLogs {
  const { crash, container, life } = record
  const crashed = crash !== undefined || (life.error !== undefined && hasBeen(record, 'DEPLOYING'))
  return {
    logs: container?.logs() ?? simulated(record, now).join('\n'),
    encoding: 'utf-8',
    crash_logs: crash?.logs ?? (crashed ? `fatal: ${life.error}` : null),
    crash_data: crashed ? { exit_code: crash?.exitCode ?? 1, message: life.error ?? null, restart_count: 0 } : null,
    logs_link: null,
  }
}

const line = (at: number, text: string) => `${formatB(at)} ${text}`

function simulated(record: DeploymentRecord, now: number): readonly string[] {
  const startedAt = timeOf(record, 'DEPLOYING')
  if (startedAt === undefined) return []
  const lines = [line(startedAt, `starting ${record.version.app.name} ${record.version.name}`)]
  const readyAt = timeOf(record, 'READY')
  if (readyAt !== undefined) {
    const until = timeOf(record, 'TERMINATING') ?? timeOf(record, 'ERROR') ?? now
    for (const { name, internal, protocol } of record.site?.ports ?? [])
      lines.push(line(readyAt, `listening on ${internal}/${protocol} (${name})`))
    lines.push(line(readyAt, 'ready'), ...beats(record, readyAt, until))
  }
  const brokenAt = timeOf(record, 'ERROR')
  if (brokenAt !== undefined) lines.push(line(brokenAt, `fatal: ${record.life.error}`))
  const endingAt = timeOf(record, 'TERMINATING')
  if (endingAt !== undefined) lines.push(line(endingAt, 'SIGTERM received, shutting down'))
  return lines
}

function beats(record: DeploymentRecord, from: number, until: number): readonly string[] {
  const count = Math.floor((until - from) / BEAT_MS)
  const first = Math.max(1, count - BEATS_KEPT + 1)
  return Array.from({ length: count - first + 1 }, (_, index) => {
    const beat = first + index
    // The random source is seeded by the beat, so that a line never changes once it has been read.
    const random = seededRandom(seedOf(record) + beat)
    return line(from + beat * BEAT_MS, `frame ${beat * BEAT_MS * 0.06} tick ${(8 + 6 * random()).toFixed(2)} ms`)
  })
}

/** Maximum number of points in a response; a request for more is refused. */
const MOST_POINTS = 11_000
const DEFAULT_STEP_MS = 60_000
const units: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000 }

/** A simulated metric that varies between 1 − `sway` and 1 + `sway` times its level. */
interface SimulatedMetric {
  readonly label: string
  readonly level: number
  readonly sway: number
}

/** Levels of a small game server, with units that are our choice, because the specification has none. */
const cpu: SimulatedMetric = { label: 'vCPU', level: 0.35, sway: 0.6 }
const mem: SimulatedMetric = { label: 'MB', level: 180, sway: 0.15 }
const receive: SimulatedMetric = { label: 'B/s', level: 24_000, sway: 0.5 }
const transmit: SimulatedMetric = { label: 'B/s', level: 61_000, sway: 0.5 }
const diskRead: SimulatedMetric = { label: 'B/s', level: 900, sway: 0.9 }
const diskWrite: SimulatedMetric = { label: 'B/s', level: 2_400, sway: 0.9 }

/**
 * Returns simulated metrics within the requested range, from the container's start to its end. There is one point at
 * the end of each step. The values depend only on the deployment and the time. With `raw`, values are not rounded.
 */
export function metricsOf(record: DeploymentRecord, wanted: ReadMetrics, now: number): Metrics | RequestProblem {
  const range = rangeOf(record, wanted, now)
  if (isProblem(range)) return range
  const startedAt = timeOf(record, 'DEPLOYING') ?? Infinity
  const endedAt = timeOf(record, 'TERMINATED') ?? Infinity
  const instants: number[] = []
  for (let at = range.from; at <= range.until; at += range.stepMs)
    if (at >= startedAt && at <= endedAt) instants.push(at)

  // Seeds of different metrics are far apart, because a metric uses the following seed for each further minute.
  const seedFor = (salt: number) => seedOf(record) + salt * 0x9e3779b1
  const series = (
    gauge: SimulatedMetric,
    salt: number,
    value = (at: number) => gauge.level * (1 + gauge.sway * wave(seedFor(salt), at)),
  ): MetricSeries => ({
    labels: [gauge.label],
    datasets: instants.map((at) => String(wanted.raw === true ? value(at) : Number(value(at).toPrecision(4)))),
    timestamps: instants.map((at) => formatA(at).slice(0, 23)),
  })
  /** Returns the total of a rate since the container's start. */
  const total = ({ level }: SimulatedMetric, salt: number) =>
    series({ label: 'B', level, sway: 0 }, salt, (at) => (level * (at - startedAt)) / 1000)
  return {
    total: {
      receive_total: total(receive, 3),
      transmit_total: total(transmit, 4),
      disk_read_total: total(diskRead, 5),
      disk_write_total: total(diskWrite, 6),
    },
    cpu: series(cpu, 1),
    mem: series(mem, 2),
    network: { receive: series(receive, 3), transmit: series(transmit, 4) },
  }
}

/**
 * Returns the times of the first and the last point, and the step, in epoch milliseconds. The first point is one step
 * after the start of the range.
 */
function rangeOf(record: DeploymentRecord, { start_time, end_time, steps }: ReadMetrics, now: number) {
  // The times are valid, because the operation's schema accepts no others.
  const from = start_time === undefined ? record.createdAt : (parseA(start_time) as number)
  const until = end_time === undefined ? now : (parseA(end_time) as number)
  if (until <= from) return { problem: 'end_time: must be later than start_time' }
  const stepMs = steps === undefined ? DEFAULT_STEP_MS : Number(steps.slice(0, -1)) * (units[steps.slice(-1)] as number)
  const problem = `steps: at most ${MOST_POINTS} points in one answer, so the steps must be longer or the time shorter`
  return (until - from) / stepMs > MOST_POINTS ? { problem } : { from: from + stepMs, until, stepMs }
}

/** Returns a smooth curve between −1 and 1, interpolated between one random value per minute. */
function wave(seed: number, at: number): number {
  const minute = Math.floor(at / 60_000)
  const part = at / 60_000 - minute
  const value = (index: number) => 2 * seededRandom(seed + index)() - 1
  const smooth = part * part * (3 - 2 * part)
  return value(minute) * (1 - smooth) + value(minute + 1) * smooth
}
