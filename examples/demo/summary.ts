import { isGood, type DemoResult } from './result.js'

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
const CITIES = 8
const WIDTH = 24

/** The result as a person reads it. */
export function summary(result: DemoResult): string {
  const { waitMs, distanceKm, cities } = result
  const most = cities[0]?.servers ?? 1
  const others = Object.entries(result.cancelled).map(([reason, players]) => `${players} cancelled (${reason})`)
  return [
    '',
    `  players          ${result.players}: ${[`${result.assigned} playing`, `${result.expired} without a match in time`, ...others].join(', ')}`,
    `  matches          ${result.matches}, on ${result.deployments} deployments`,
    `  wait             p50 ${seconds(waitMs.p50)}   p95 ${seconds(waitMs.p95)}   p99 ${seconds(waitMs.p99)}   (servers started ${result.speed}× faster than life)`,
    `  to the server    p50 ${distanceKm.p50} km   p95 ${distanceKm.p95} km`,
    '',
    ...cities.slice(0, CITIES).map(({ city, servers }) => `  ${city.padEnd(16)} ${'▇'.repeat(Math.ceil((servers / most) * WIDTH))} ${servers}`),
    cities.length > CITIES ? `  and ${cities.length - CITIES} more cities` : '',
    '',
    `  requests, as the service counted them`,
    ...Object.entries(result.requests).map(([operation, statuses]) => `    ${operation.padEnd(22)} ${countsOf(statuses)}`),
    '',
    ...result.limits.map(({ name, limit, peak }) => `  limit            ${name}: at most ${peak} of ${limit} in any second`),
    `  over a limit     ${result.rejected429}`,
    `  servers left     ${result.serversLeft}`,
    `  players lost     ${result.lost}`,
    `  took             ${result.seconds} s`,
    '',
    isGood(result) ? '  Everybody is accounted for, and no server is left running.' : '  This is not as it should be.',
    '',
  ].join('\n')
}

function countsOf(statuses: Readonly<Record<string, number>>): string {
  return Object.entries(statuses)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ')
}
