// pure: the live view of the relay demo
import { fitted, type Size } from '../layout.js'
import type { Table } from './board.js'
import type { RelayProgress } from './job.js'

/** Maximum number of lobbies in a row of the view. */
const COLUMNS = 8
/** Number of lines of the view that are neither empty nor lines of lobbies. */
const OTHER_LINES = 9
const LONGEST_SPARKLINE = 30
/** Number of characters before the sparkline. */
const BEFORE_SPARKLINE = 50
/** Maximum number of lobbies that are shown separately. Further ones are only counted. */
const MOST_SHOWN = 64
const BARS = '▁▂▃▄▅▆▇█'

const whole = (value: number) => value.toLocaleString('en-US')
const padded = (value: number) => String(value).padStart(4)
const milliseconds = (microseconds: number) => `${(microseconds / 1000).toFixed(2)} ms`

/** Shows the slots of a lobby. */
function seatsOf({ seats, hostId, over }: Table, isLinked: (playerId: string) => boolean): string {
  if (over) return '╌'.repeat(seats.length)
  return seats
    .map((id) => {
      if (id === undefined) return '·'
      if (id === hostId) return isLinked(id) ? '◆' : '◇'
      return isLinked(id) ? '●' : '○'
    })
    .join('')
}

/** Shows the last values as bars. The highest of all values has a full bar. */
export function sparkline(values: readonly number[], width: number): string {
  const highest = Math.max(1, ...values)
  return values
    .slice(-width)
    .map((value) => BARS[Math.ceil((value / highest) * (BARS.length - 1))])
    .join('')
}

/** Returns the live view. @param perSecond number of relayed packets per second over time, up to now. */
export function picture(progress: RelayProgress, perSecond: readonly number[], ms: number, size: Size): string {
  const { lobbies, tables, moves, isLinked, packetsRelayed, latency, sessions, phase } = progress
  const open = tables.filter(({ over }) => !over)
  const inside = open.flatMap(({ seats }) => seats.filter((id) => id !== undefined)).length
  const slots = tables[0]?.seats.length ?? 0
  const columns = Math.max(1, Math.min(COLUMNS, Math.floor((size.columns - 2) / (slots + 2))))
  // One row is reserved for the line that counts further lobbies, and one for the cursor.
  const most = Math.min(MOST_SHOWN, columns * Math.max(1, size.rows - OTHER_LINES - 3))
  const cells = tables.slice(0, most).map((table) => seatsOf(table, isLinked))
  const blank = ' '.repeat(slots)
  const rows = Array.from({ length: Math.ceil(Math.min(lobbies, most) / columns) }, (_, row) =>
    Array.from({ length: columns }, (__, column) => cells[row * columns + column] ?? blank)
      .join('  ')
      .trimEnd(),
  )
  const rate = perSecond.at(-1) ?? 0
  const perSecondText = `${whole(rate).padStart(6)} per s`
  const title = { playing: 'playing over the relay', closing: 'all have played; closing', done: 'done' }[phase]
  const sparks = Math.max(0, Math.min(LONGEST_SPARKLINE, size.columns - BEFORE_SPARKLINE))
  const lines = [
    '',
    `  ${(ms / 1000).toFixed(1).padStart(5)} s   ${title}`,
    '',
    ...rows.map((row) => `  ${row}`),
    lobbies > most ? `  and ${lobbies - most} more` : '',
    '  ◆ host   ● playing   ◇○ not yet   · free slot   ╌ over',
    '',
    `  lobbies    ${padded(open.length)} open    ${padded(tables.length - open.length)} over   of ${lobbies}`,
    `  players    ${padded(inside)} in      ${padded(moves.joins)} joins  ${padded(moves.cameBack)} came back`,
    `  changes    ${padded(moves.left)} left    ${padded(moves.kicked)} kicked ${padded(moves.newHosts)} new hosts`,
    `  sessions   ${padded(sessions.open)} open    ${padded(sessions.opened)} opened`,
    '',
    `  packets    ${whole(packetsRelayed).padStart(7)} relayed   ${perSecondText}   ${sparkline(perSecond, sparks)}`,
    `  one way    p50 ${milliseconds(latency.p50)}   p99 ${milliseconds(latency.p99)}   client → relay → host`,
    '',
  ]
  return fitted(
    lines.map((text) => text.slice(0, size.columns)),
    size.rows - 1,
  ).join('\n')
}

/** Returns the state of the demo in one line. */
export function line({ tables, moves, packetsRelayed, sessions, phase }: RelayProgress, ms: number): string {
  const open = tables.filter(({ over }) => !over).length
  const time = (ms / 1000).toFixed(0).padStart(3)
  const counts = `${open} lobbies open, ${moves.joins} joins, ${moves.newHosts} new hosts`
  return `${time} s  ${phase}: ${counts}, ${packetsRelayed} packets relayed, ${sessions.open} sessions open`
}
