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
  return [
    '',
    `  players          ${result.players}: ${[`${result.assigned} playing`, `${result.expired} without a match in time`, ...others].join(', ')}`,
    `  matches          ${result.matches}, on ${result.deployments} deployments`,
    `  wait             p50 ${seconds(waitMs.p50)}   p95 ${seconds(waitMs.p95)}   p99 ${seconds(waitMs.p99)}   (servers started ${result.speed}× faster than life)`,
    `  to the server    p50 ${distanceKm.p50} km   p95 ${distanceKm.p95} km`,
    '',
    ...queueTable(result.queues),
    '',
    ...cities.slice(0, CITIES).map(({ city, servers }) => `  ${city.padEnd(16)} ${'▇'.repeat(Math.ceil((servers / most) * WIDTH))} ${servers}`),
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
    isGood(result) ? '  Everybody is accounted for, every match keeps its rules, and no server is left running.' : '  This is not as it should be.',
    '',
  ].join('\n')
}

/** One line for each queue; skill is that of the middle match. */
function queueTable(queues: readonly QueueResult[]): string[] {
  const line = (title: string, playing: string, matches: string, wait: string, parties: string, spread: string, gap: string) =>
    `  ${title.padEnd(16)} ${playing.padEnd(13)}${matches.padStart(7)}   ${wait.padEnd(14)}${parties.padStart(8)}${spread.padStart(14)}${gap.padStart(11)}`
  return [
    line('', 'playing', 'matches', 'wait p50, p95', 'parties', 'skill spread', 'team gap'),
    ...queues.map(({ title, assigned, players, matches, waitMs, parties, skillSpread, teamGap }) =>
      line(title, `${assigned} of ${players}`, String(matches), `${seconds(waitMs.p50)}, ${seconds(waitMs.p95)}`, String(parties), String(skillSpread), String(teamGap)),
    ),
    ...queues
      .filter(({ joinedLater }) => joinedLater > 0)
      .map(({ title, joinedLater, left }) => `  ${title}: ${joinedLater} players joined a match that was running, ${left} left one`),
  ]
}

function countsOf(statuses: Readonly<Record<string, number>>): string {
  return Object.entries(statuses)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')
}
