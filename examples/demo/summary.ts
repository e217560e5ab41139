import { isGood, type DemoResult, type QueueResult } from './result.js'

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const CITIES = 6
const WIDTH = 24
const BROKEN_SHOWN = 5

/** The result as a person reads it. */
export function summary(result: DemoResult): string {
  const { waitMs, distanceKm, cities, broken } = result
  const most = cities[0]?.servers ?? 1
  const others = Object.entries(result.cancelled).map(([reason, players]) => `${players} cancelled (${reason})`)
  const playing = [`${result.assigned} playing`, `${result.expired} without a match in time`, ...others]
  const waits = [`p50 ${seconds(waitMs.p50)}`, `p95 ${seconds(waitMs.p95)}`, `p99 ${seconds(waitMs.p99)}`]
  const bar = (servers: number) => '▇'.repeat(Math.ceil((servers / most) * WIDTH))
  return [
    '',
    `  players          ${result.players}: ${playing.join(', ')}`,
    `  matches          ${result.matches}, on ${result.deployments} deployments`,
    `  wait             ${waits.join('   ')}   (servers started ${result.speed}× faster than life)`,
    `  to the server    p50 ${distanceKm.p50} km   p95 ${distanceKm.p95} km`,
    '',
    ...queueTable(result.queues),
    '',
    ...cities.slice(0, CITIES).map(({ city, servers }) => `  ${city.padEnd(16)} ${bar(servers)} ${servers}`),
    cities.length > CITIES ? `  and ${cities.length - CITIES} more cities` : '',
    '',
    `  requests, as the service counted them`,
    ...Object.entries(result.requests).map(([operation, statuses]) => `    ${operation.padEnd(22)} ${countsOf(statuses)}`),
    '',
    ...result.limits.map(({ name, limit, peak }) => `  limit            ${name}: at most ${peak} of ${limit} in any second`),
    `  over a limit     ${result.rejected429}`,
    `  rules broken     ${broken.length}`,
    ...broken.slice(0, BROKEN_SHOWN).map((what) => `    ${what}`),
    `  servers left     ${result.serversLeft}`,
    `  players lost     ${result.lost}`,
    `  took             ${result.seconds} s`,
    '',
    isGood(result)
      ? '  Everybody is accounted for, every match keeps its rules, and no server is left running.'
      : '  This is not as it should be.',
    '',
  ].join('\n')
}

const columns = [
  { title: '', of: ({ title }: QueueResult) => title.padEnd(15) },
  { title: 'playing', of: ({ assigned, players }: QueueResult) => `${assigned} of ${players}` },
  { title: 'matches', of: ({ matches }: QueueResult) => String(matches) },
  { title: 'wait p50, p95', of: ({ waitMs }: QueueResult) => `${seconds(waitMs.p50)}, ${seconds(waitMs.p95)}` },
  { title: 'parties', of: ({ parties }: QueueResult) => String(parties) },
  { title: 'skill spread', of: ({ skillSpread }: QueueResult) => String(skillSpread) },
  { title: 'team gap', of: ({ teamGap }: QueueResult) => String(teamGap) },
] as const

/** One line for each queue; skill is that of the middle match. */
function queueTable(queues: readonly QueueResult[]): string[] {
  const rows = [columns.map(({ title }) => title), ...queues.map((queue) => columns.map(({ of }) => of(queue)))]
  const widths = columns.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)))
  const traffic = queues.filter(({ joinedLater }) => joinedLater > 0)
  return [
    ...rows.map((row) => `  ${row.map((cell, column) => cell.padStart(widths[column] ?? 0)).join('   ')}`),
    ...traffic.map((queue) => `  ${queue.title}: ${queue.joinedLater} joined a match that was running, ${queue.left} left one`),
  ]
}

function countsOf(statuses: Readonly<Record<string, number>>): string {
  return Object.entries(statuses)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')
}
