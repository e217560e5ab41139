import type { Clock } from '@muster/core/clock'
import type { Allocator } from './allocation/allocator.js'
import { viewOf } from './allocation/match.js'
import type { Matchmaker } from './matchmaker.js'
import type { MatchLives } from './rosters/match-lives.js'
import type { Tickets } from './tickets/tickets.js'

export interface Closing {
  readonly tickets: Tickets
  readonly lives: MatchLives
  readonly allocator: Allocator
  readonly clock: Clock
}

const TIMEOUT_MS = 60_000
/** Milliseconds between two looks at what is left. */
const STEP_MS = 100

/** Ends everything that is not running, once no more matches are made. */
export const createClosing =
  ({ tickets, lives, allocator, clock }: Closing): Matchmaker['close'] =>
  async ({ stopServers = false, timeoutMs = TIMEOUT_MS } = {}) => {
    const now = clock.now()
    const deadline = now + timeoutMs
    for (const record of tickets.all()) if (record.status === 'SEARCHING') tickets.cancel(record, 'closed', now)
    const dropped = Array.from(allocator.matches()).filter((match) => stopServers || match.phase !== 'running')
    for (const match of dropped) allocator.drop(match, 'closed')
    for (const roster of lives.all()) if (stopServers || roster.phase !== 'running') lives.close(roster, now)
    allocator.giveUpSooner()
    const left = () => dropped.filter((match) => allocator.find(match.matchId) === match)
    while ((left().length > 0 || allocator.stopsPending() > 0) && clock.now() < deadline) {
      allocator.advance(clock.now())
      await clock.sleep(STEP_MS)
    }
    await allocator.close()
    return left().map(viewOf)
  }
