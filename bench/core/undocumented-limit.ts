import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@muster/core'
import { systemClock } from '@muster/core/clock'
import { atMost, type Figures } from '../figure.js'
import { runsOf } from '../runs.js'

const RUNS = 3
const STOPS = 400
const ALLOWED = 20
const WINDOW_MS = 1000
/** Milliseconds in which the service answers. */
const THINK_MS = 15

/**
 * Sends 400 stops at once to a service with an undocumented limit of 20 per second and no Retry-After. Measures how
 * many it refuses in the first second and later, how many calls fail, and how long all of them take.
 */
export async function undocumentedLimitFigures(): Promise<Figures> {
  const runs = await runsOf(RUNS, stopAll)
  const later = runs.map((run) => (100 * run.later) / STOPS)
  const failed = runs.map((run) => run.failed)
  return {
    figures: [
      atMost(`undocumented limit: of ${STOPS} stops, refused after the first second`, later, 5, '%'),
      atMost(`undocumented limit: of ${STOPS} stops, failed`, failed, 0, 'stops'),
    ],
    peers: {
      'undocumented limit': runs.map(({ seconds, sooner }) => ({
        seconds: Number(seconds.toFixed(1)),
        refusedInTheFirstSecond: sooner,
      })),
    },
  }
}

async function stopAll() {
  const service = await startService()
  const client = createClient({ baseUrl: service.url, token: 'bench' })
  const began = systemClock.now()
  const outcomes = await Promise.allSettled(
    Array.from({ length: STOPS }, (_, nth) => client.deployments.stop({ request_id: `id${nth}` })),
  )
  const seconds = (systemClock.now() - began) / 1000
  await client.close()
  service.close()

  const failed = outcomes.filter(({ status }) => status === 'rejected').length
  const later = service.refused.filter((at) => at - service.firstAt() > WINDOW_MS).length
  return { later, failed, seconds, sooner: service.refused.length - later }
}

async function startService() {
  const passed: number[] = []
  const refused: number[] = []
  const server = createServer((request, response) => {
    request.resume()
    const now = systemClock.now()
    const oldest = passed.at(-ALLOWED)
    const accepted = passed.length < ALLOWED || oldest === undefined || oldest + WINDOW_MS <= now
    ;(accepted ? passed : refused).push(now)
    setTimeout(() => {
      response.writeHead(accepted ? 200 : 429, { 'content-type': 'application/json' })
      response.end('{"message":"so"}')
    }, THINK_MS)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    refused,
    firstAt: () => passed[0] ?? 0,
    close: () => server.close(),
  }
}
