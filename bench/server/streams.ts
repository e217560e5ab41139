import { atMost, type Figures } from '../figure.js'
import { setUp } from '../matchmaker/load-fleet.js'
import type { ServerState } from '../matchmaker/ticket-api-messages.js'
import { configuration, environment } from './configuration.js'
import { startService } from './service.js'

/**
 * Number of waiting players. On the machine of the benchmark, a process may have 20,000 files open, and needs some
 * itself. The memory for `PROMISED_WAITERS` is computed from theirs.
 */
const WAITERS = 19_800
const PROMISED_WAITERS = 20_000

/** Measures the memory of the program while this many players follow their tickets by event streams. */
export async function streamFigures(): Promise<Figures> {
  const service = await startService()
  const args = [configuration({ serviceUrl: service.url })]
  const fleet = await setUp<ServerState>(new URL('./program-process.js', import.meta.url), 2, args, environment)
  const empty = await fleet.state()
  const each = WAITERS / 2
  const wait = { kind: 'wait', credentials: 'tokens', way: 'events', port: empty.port, waiters: each } as const
  // Each order resolves once its players have their streams.
  await Promise.all([0, 1].map((child) => fleet.order(child, { ...wait, from: child * each })))
  const full = await fleet.state()
  fleet.close()
  await service.close()
  const perWaiter = (full.residentBytes - empty.residentBytes) / WAITERS
  const megabytes = (empty.residentBytes + perWaiter * PROMISED_WAITERS) / 1e6
  return {
    figures: [atMost(`program: memory with ${PROMISED_WAITERS} event streams`, megabytes, 900, 'MB')],
    peers: { 'program: memory at the start, MB': Math.round(empty.residentBytes / 1e6) },
  }
}
