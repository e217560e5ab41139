import type { Clock } from './clock.js'
import type { Send } from './connection.js'
import { fits } from './shapes.js'

/** A host near possible server locations, to which round trips are measured. */
export interface Beacon {
  readonly city: string
  readonly host: string
  readonly tcpPort: number | null
  readonly udpPort: number | null
}

/** Measures the round trip to a beacon in milliseconds. Undefined if it cannot be measured. */
export type Ping = (beacon: Beacon, signal: AbortSignal) => Promise<number | undefined>

interface WireBeacons {
  readonly beacons: readonly {
    readonly fqdn?: string | null
    readonly public_ip: string
    readonly udp_port?: number | null
    readonly tcp_port?: number | null
    readonly location: { readonly city?: string | null }
  }[]
}

/** Milliseconds for which measurements are reused. */
const GOOD_MS = 600_000
/** Timeout of a ping in milliseconds. */
const PING_MS = 2000
const MOST_AT_ONCE = 6

/**
 * Creates the measurement of round trips to the beacons, in milliseconds by city. The result is `{}` if there are no
 * beacons, or if none can be measured.
 */
export function createLatencies(send: Send, ping: Ping, clock: Clock) {
  let known: { readonly until: number; readonly result: Promise<Readonly<Record<string, number>>> } | undefined

  const one = async (beacon: Beacon): Promise<number | undefined> => {
    const ending = new AbortController()
    const timer = new AbortController()
    const late = clock.sleep(PING_MS, timer.signal).then(
      () => ending.abort(),
      () => {},
    )
    try {
      return await Promise.race([ping(beacon, ending.signal), late.then(() => undefined)])
    } catch {
      return undefined
    } finally {
      timer.abort()
    }
  }

  const measure = async () => {
    const { status, body } = await send({ method: 'GET', path: '/locations/beacons' })
    if (status !== 200 || !fits('beacons', body)) return {}
    const waiting = (body as WireBeacons).beacons.flatMap((each) => {
      const { city } = each.location
      const { tcp_port: tcpPort = null, udp_port: udpPort = null } = each
      return city ? [{ city, host: each.fqdn ?? each.public_ip, tcpPort, udpPort }] : []
    })
    const measured: Record<string, number> = {}
    const work = async () => {
      for (let beacon = waiting.shift(); beacon !== undefined; beacon = waiting.shift()) {
        const ms = (await one(beacon)) ?? NaN
        if (Number.isFinite(ms) && ms >= 0) measured[beacon.city] = Math.round(ms * 10) / 10
      }
    }
    await Promise.all(Array.from({ length: MOST_AT_ONCE }, work))
    return measured
  }

  return (): Promise<Readonly<Record<string, number>>> => {
    const now = clock.now()
    if (known === undefined || now >= known.until) {
      const result = measure()
      known = { until: now + GOOD_MS, result }
      // An empty result is not cached, so the next call measures again.
      void result.then((given) => {
        if (Object.keys(given).length === 0 && known?.result === result) known = undefined
      })
    }
    return known.result
  }
}

/**
 * Measures by HTTP requests to a beacon's TCP port. The best of three counts. Any response will do, even an error,
 * because it has made a round trip. The first request also opens the connection.
 */
export const pingByFetch =
  (fetch: typeof globalThis.fetch, clock: Clock, isSecure: boolean): Ping =>
  async ({ host, tcpPort }, signal) => {
    if (tcpPort === null) return undefined
    let best: number | undefined
    for (let nth = 0; nth < 3; nth += 1) {
      const at = clock.now()
      try {
        await fetch(`${isSecure ? 'https' : 'http'}://${host}:${tcpPort}/`, {
          mode: 'no-cors',
          cache: 'no-store',
          signal,
        })
      } catch {
        return best
      }
      const took = clock.now() - at
      best = best === undefined ? took : Math.min(best, took)
    }
    return best
  }
