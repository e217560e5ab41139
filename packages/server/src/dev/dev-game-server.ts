import { randomUUID } from 'node:crypto'
import { systemClock } from '@muster/core/clock'
import type { ContainerSpec } from '@muster/emulator'

/** What a server hears, as far as it matters here. */
interface Orders {
  readonly version: number
  readonly want: 'run' | 'drain' | 'stop'
  readonly matches: readonly { readonly id: string }[]
}

/** A game server in the place of a container: `Container` of the emulator. */
interface DevGameServer {
  readonly exited: Promise<number>
  stop(graceMs: number): void
  logs(): string
}

const RETRY_MS = 1000
const WAIT_SECONDS = 10

/**
 * Plays a game server of a pool, in place of the container that there is not: it registers, takes every match, and
 * reports until it is stopped. Nothing listens at its port.
 * @returns undefined for a deployment that is of no pool.
 */
export function playGameServer({ env }: Pick<ContainerSpec, 'env'>): DevGameServer | undefined {
  const { MUSTER_URL: url, MUSTER_SERVER_TOKEN: token, MUSTER_POOL: pool } = env
  if (url === undefined || token === undefined || pool === undefined) return undefined
  const ending = new AbortController()
  const lines: string[] = []
  const exited = serve(url, token, ending.signal, (line) => lines.push(line)).then(() => 0)
  return { exited, stop: () => ending.abort(), logs: () => lines.join('\n') }
}

async function serve(url: string, token: string, signal: AbortSignal, log: (line: string) => void): Promise<void> {
  const instance = randomUUID()
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  /** The orders; undefined if they are not known. */
  const call = async (method: string, path: string, state: object): Promise<Orders | undefined> => {
    const body = JSON.stringify({ instance, ...state })
    const answer = await fetch(url + path, { method, headers, body, signal }).catch(() => undefined)
    if (answer?.ok === true) return (await answer.json()) as Orders
    await answer?.body?.cancel()
    return undefined
  }
  const playing = new Set<string>()
  let orders: Orders | undefined
  for (let seq = 1; !signal.aborted; seq += 1) {
    const matches = [...playing].map((id) => ({ id, status: 'open' }))
    orders =
      orders === undefined
        ? await call('POST', '/servers', {})
        : await call('PUT', `/servers/me?wait=${WAIT_SECONDS}&version=${orders.version}`, { seq, matches })
    // Muster has restarted, or is not there: it is told everything again.
    if (orders === undefined) await systemClock.sleep(RETRY_MS, signal).catch(() => {})
    else {
      const served = new Set(orders.matches.map(({ id }) => id))
      for (const id of playing) if (!served.has(id) && playing.delete(id)) log(`match ${id} is over`)
      for (const id of served) if (!playing.has(id) && playing.add(id)) log(`match ${id} begins`)
    }
  }
}
