import type { ContainerLogs } from '@muster/core/api'
import { seededRandom } from '@muster/core/clock'
import { formatB } from '../timestamps.js'
import { hasBeen, seedOf, timeOf, type DeploymentRecord } from './deployment-record.js'

/**
 * Milliseconds between two periodic lines of a simulated server’s log, and the number of such lines that are kept.
 */
const BEAT_MS = 10_000
const BEATS_KEPT = 100

/** The output of the real container, or simulated output that depends only on the deployment and the time. */
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

function simulated(record: DeploymentRecord, now: number): readonly string[] {
  const line = (at: number, text: string) => `${formatB(at)} ${text}`
  const startedAt = timeOf(record, 'DEPLOYING')
  if (startedAt === undefined) return []
  const lines = [line(startedAt, `starting ${record.version.app.name} ${record.version.name}`)]
  const readyAt = timeOf(record, 'READY')
  if (readyAt !== undefined) {
    const ports = record.site?.ports ?? []
    lines.push(
      ...ports.map(({ name, internal, protocol }) => line(readyAt, `listening on ${internal}/${protocol} (${name})`)),
    )
    lines.push(
      line(readyAt, 'ready'),
      ...beats(record, readyAt, timeOf(record, 'TERMINATING') ?? timeOf(record, 'ERROR') ?? now, line),
    )
  }
  const brokenAt = timeOf(record, 'ERROR')
  if (brokenAt !== undefined) lines.push(line(brokenAt, `fatal: ${record.life.error}`))
  const endingAt = timeOf(record, 'TERMINATING')
  if (endingAt !== undefined) lines.push(line(endingAt, 'SIGTERM received, shutting down'))
  return lines
}

function beats(
  record: DeploymentRecord,
  from: number,
  until: number,
  line: (at: number, text: string) => string,
): readonly string[] {
  const count = Math.floor((until - from) / BEAT_MS)
  const first = Math.max(1, count - BEATS_KEPT + 1)
  return Array.from({ length: count - first + 1 }, (_, index) => {
    const beat = first + index
    // The random source is seeded by the beat, so that a line never changes once it has been read.
    const random = seededRandom(seedOf(record) + beat)
    return line(from + beat * BEAT_MS, `frame ${beat * BEAT_MS * 0.06} tick ${(8 + 6 * random()).toFixed(2)} ms`)
  })
}
