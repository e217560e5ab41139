import type { Clock } from '@muster/core/clock'
import type { Allocator } from '../servers/allocator.js'
import { viewOf } from '../servers/records/allocation.js'
import type { Matchmaker } from './matchmaker.js'
import type { MatchLifecycle } from '../matches/match-lifecycle.js'
import type { Tickets } from '../tickets/tickets.js'

export interface Closing {
  readonly tickets: Tickets
  readonly lifecycle: MatchLifecycle
  readonly allocator: Allocator
  readonly clock: Clock
}

const TIMEOUT_MS = 60_000
/** Milliseconds between two checks whether all stops are confirmed. */
const STEP_MS = 100

/** Cancels waiting tickets and stops the servers that do not run yet, once no more matches are made. */
export const createClosing =
  ({ tickets, lifecycle, allocator, clock }: Closing): Matchmaker['close'] =>
  async ({ stopServers = false, timeoutMs = TIMEOUT_MS } = {}) => {
    const now = clock.now()
    const deadline = now + timeoutMs
    for (const record of tickets.all()) if (record.status === 'SEARCHING') tickets.cancel(record, 'closed', now)
    const dropped = Array.from(allocator.matches()).filter(
      (allocation) => stopServers || allocation.phase !== 'running',
    )
    for (const allocation of dropped) allocator.drop(allocation, 'closed')
    for (const match of lifecycle.all()) if (stopServers || match.phase !== 'running') lifecycle.close(match, now)
    allocator.giveUpSooner()
    const left = () => dropped.filter((allocation) => allocator.find(allocation.matchId) === allocation)
    while ((left().length > 0 || allocator.stopsPending() > 0) && clock.now() < deadline) {
      allocator.advance(clock.now())
      await clock.sleep(STEP_MS)
    }
    await allocator.close()
    return left().map(viewOf)
  }
