import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { seededRandom, systemClock } from '@muster/core/clock'

export const LIMIT = 40
const WINDOW_MS = 1000
/** Milliseconds in which the service answers. */
const THINK_MS = { from: 5, to: 35 }

/** Starts a service that accepts 40 requests in any second, by the strictest count, and records when they arrived. */
export async function startLimitedService() {
  const random = seededRandom(1)
  let passed: number[] = []
  let refused = 0
  const server = createServer((request, response) => {
    request.resume()
    const now = systemClock.now()
    const oldest = passed.at(-LIMIT)
    const accepted = oldest === undefined || oldest + WINDOW_MS <= now
    if (accepted) passed.push(now)
    else refused += 1
    const status = accepted ? 200 : 429
    setTimeout(
      () => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end('{"request_id":"x","current_status":"Status.READY"}')
      },
      THINK_MS.from + random() * (THINK_MS.to - THINK_MS.from),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    passed: () => passed.length,
    /** Forgets all earlier requests, except for the count of the last second. */
    begin: () => {
      passed = passed.slice(-LIMIT)
      refused = 0
    },
    /**
     * Returns the number of requests beyond the limit, and the used share of the limit, computed from the mean time in
     * which `limit` requests arrived.
     */
    result: () => {
      const times = passed.slice(LIMIT).map((at, n) => at - (passed[n] as number))
      const mean = times.reduce((sum, time) => sum + time, 0) / times.length
      return { over: refused, part: WINDOW_MS / mean, requests: times.length }
    },
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
