import { boundOf } from './bound.js'
import { faultSection } from './fault-report.js'
import { PAPER, row, wrap, type Size } from './layout.js'
import { unmatchedText } from './unmatched.js'
import { type DemoResult, type PlacedResult, type QueueResult, isGood } from './result.js'

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const CITIES = 6
const BEACONS = 4
const WIDTH = 24
const BROKEN_SHOWN = 5

/** Returns the result as text. */
export function summary(result: DemoResult, { columns }: Pick<Size, 'columns'> = PAPER): string {
  const { waitMs, distanceKm, cities, broken, interrupted } = result
  const most = cities[0]?.servers ?? 1
  const others = Object.entries(result.cancelled).map(([reason, players]) => `${players} cancelled (${reason})`)
  const early =
    interrupted === undefined ? [] : [`${interrupted.waiting} still waiting`, `${interrupted.notCome} not there yet`]
  const playing = [`${result.assigned} playing`, `${result.expired} without a match in time`, ...others, ...early]
  const waits = [`p50 ${seconds(waitMs.p50)}`, `p95 ${seconds(waitMs.p95)}`, `p99 ${seconds(waitMs.p99)}`]
  const bar = (servers: number) => '▇'.repeat(Math.ceil((servers / most) * WIDTH))
  const say = (name: string, text: string) => row(name, text, columns)
  return [
    '',
    ...say('players', `${result.players}: ${playing.join(', ')}`),
    ...(result.expired === 0 ? [] : say('why', unmatchedText(result.unmatched))),
    ...say('matches', `${result.matches}, on ${result.deployments} deployments`),
    ...boundLines(result, columns),
    ...say(
      'wait',
      `${waits.map(unbroken).join(' \u00a0 ')} \u00a0 ${`(servers started ${result.speed}× faster than life)`}`,
    ),
    ...say('to the server', `p50 ${distanceKm.p50} km   p95 ${distanceKm.p95} km`),
    '',
    ...queueTable(result.queues, columns),
    '',
    ...cities.slice(0, CITIES).map(({ city, servers }) => `  ${city.padEnd(16)} ${bar(servers)} ${servers}`),
    cities.length > CITIES ? `  and ${cities.length - CITIES} more cities` : '',
    '',
    `  requests, as the service counted them`,
    ...Object.entries(result.requests).flatMap(([operation, statuses]) =>
      row(`  ${operation}`, countsOf(statuses), columns, 24),
    ),
    '',
    ...faultSection(result.faults, columns),
    ...result.limits.flatMap(({ name, limit, peak }) =>
      say('limit', `${name}: at most ${peak} of ${limit} in any second`),
    ),
    ...say('over a limit', String(result.rejected429)),
    ...say('rules broken', String(broken.length)),
    ...broken.slice(0, BROKEN_SHOWN).flatMap((what) => wrap(what, columns - 5).map((line) => `    ${line}`)),
    ...say('servers left', String(result.serversLeft)),
    ...say('players lost', String(result.lost)),
    ...say('took', `${result.seconds} s`),
    '',
    ...wrap(verdict(result), columns - 3).map((line) => `  ${line}`),
    '',
  ]
    .map((line) => line.replaceAll('\u00a0', ' '))
    .join('\n')
}

const unbroken = (text: string) => text.replaceAll(' ', '\u00a0')

function verdict(result: DemoResult): string {
  const { interrupted, serversLeft } = result
  if (interrupted !== undefined) {
    const servers = interrupted.servers === 1 ? 'server' : 'servers'
    const then = `${interrupted.servers} ${servers} ran or started when you stopped the demo.`
    return serversLeft === 0
      ? `${then} All have been stopped, and none is left.`
      : `${then} ${serversLeft} could not be stopped in time.`
  }
  if (!isGood(result)) return 'This is not as it should be.'
  return 'Everybody is accounted for, every match keeps its rules, and no server is left running.'
}

/** Returns the lines about what prevented matches, if that was measured. */
function boundLines(result: DemoResult, columns: number): readonly string[] {
  const bound = boundOf(result)
  return bound === undefined ? [] : row('bounded by', bound, columns)
}

const columnsOf = [
  { title: '', of: ({ title }: QueueResult) => title.padEnd(15) },
  { title: 'playing', of: ({ assigned, players }: QueueResult) => `${assigned} of ${players}` },
  { title: 'matches', of: ({ matches }: QueueResult) => String(matches) },
  { title: 'wait p50, p95', of: ({ waitMs }: QueueResult) => `${seconds(waitMs.p50)}, ${seconds(waitMs.p95)}` },
  { title: 'parties', of: ({ parties }: QueueResult) => String(parties) },
  { title: 'skill spread', of: ({ skillSpread }: QueueResult) => String(skillSpread) },
  { title: 'team gap', of: ({ teamGap }: QueueResult) => String(teamGap) },
] as const

/** Returns one line for each queue, with medians of skill. Further results are in a table below. */
function queueTable(queues: readonly QueueResult[], columns: number): string[] {
  const rows = [columnsOf.map(({ title }) => title), ...queues.map((queue) => columnsOf.map(({ of }) => of(queue)))]
  const widths = columnsOf.map((_, column) => Math.max(...rows.map((cells) => cells[column]?.length ?? 0)))
  const traffic = queues.filter(({ joinedLater }) => joinedLater > 0)
  const tables: number[][] = []
  let room = 0
  for (const column of columnsOf.keys()) {
    if (column === 0) continue
    const width = 3 + (widths[column] ?? 0)
    if (tables.length === 0 || width > room) {
      tables.push([0])
      room = columns - 3 - (widths[0] ?? 0)
    }
    tables.at(-1)?.push(column)
    room -= width
  }
  const lines = tables.map((shown) =>
    rows.map((cells) => `  ${shown.map((column) => (cells[column] ?? '').padStart(widths[column] ?? 0)).join('   ')}`),
  )
  return [
    ...lines.flatMap((table, index) => (index === 0 ? table : ['', ...table])),
    ...queues.flatMap(({ title, placed }) => {
      if (placed === undefined) return []
      return wrap(`${title}: ${placedSentence(placed)}`, columns - 3).map((line) => `  ${line}`)
    }),
    ...traffic.flatMap((queue) => {
      const text = `${queue.title}: ${queue.joinedLater} joined a match that was running, ${queue.left} left one`
      return wrap(text, columns - 3).map((line) => `  ${line}`)
    }),
  ]
}

/** Returns a sentence about the beacons of the servers, the promised latency, and the actual one. */
function placedSentence({ beacons, limitMs, worstMs, offKm }: PlacedResult): string {
  const most = beacons.slice(0, BEACONS).map(({ beacon, servers }) => `${beacon} ${servers}`)
  const others = beacons.length > BEACONS ? ` and ${beacons.length - BEACONS} more` : ''
  const kept = `the longest round trip of a match p50 ${worstMs.p50} ms, p95 ${worstMs.p95} ms`
  const placed = `servers at the best common beacon: ${most.join(', ')}${others}`
  return `${placed}; promised at most ${limitMs} ms, ${kept}; p95 ${offKm.p95} km from it`
}

function countsOf(statuses: Readonly<Record<string, number>>): string {
  return Object.entries(statuses)
    .map(([status, count]) => `${count} × ${status}`.replaceAll(' ', '\u00a0'))
    .join(', ')
}
