import { InvalidInput } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { MatchmakerClosed } from '../errors.js'
import { type Allocator, viewOf } from '@muster/servers'
import type { TicketLog } from '../ticket-log/ticket-log.js'
import type { Matchmaker } from './matchmaker.js'
import type { MatchLifecycle } from '../matches/match-lifecycle.js'
import type { Tickets } from '../tickets/tickets.js'

export interface Closing {
  readonly tickets: Tickets
  readonly lifecycle: MatchLifecycle
  readonly allocator: Allocator
  readonly ticketLog: TicketLog | undefined
  readonly problem: (error: unknown) => void
  readonly clock: Clock
}

const TIMEOUT_MS = 60_000
/** Milliseconds between two checks whether what was asked is confirmed. */
const STEP_MS = 100

/** Ends what is under way, once no more matches are made. */
export function createClosing(closing: Closing): Matchmaker['close'] {
  const { tickets, lifecycle, allocator, ticketLog, problem, clock } = closing

  const advanceWhile = async (isGoingOn: () => boolean, deadline: number) => {
    while (isGoingOn() && clock.now() < deadline) {
      allocator.advance(clock.now())
      await clock.sleep(STEP_MS)
    }
  }

  /** Leaves everything as it is to the next process, except for creates, of which it should know what became. */
  const leave = async (deadline: number) => {
    allocator.creates.sendNoMore()
    await advanceWhile(() => allocator.creates.inFlight() > 0, deadline)
    tickets.endWaits(new MatchmakerClosed('the matchmaker is closed'))
    await allocator.close()
    return []
  }

  /** Cancels waiting tickets, and stops the servers that do not run yet. */
  const endAll = async (stopServers: boolean, deadline: number) => {
    const now = clock.now()
    for (const record of tickets.all()) if (record.status === 'SEARCHING') tickets.cancel(record, 'closed', now)
    const dropped = Array.from(allocator.matches()).filter(
      (allocation) => stopServers || allocation.phase !== 'running',
    )
    for (const allocation of dropped) allocator.drop(allocation, 'closed')
    for (const match of lifecycle.all()) if (stopServers || match.phase !== 'running') lifecycle.close(match, now)
    allocator.giveUpSooner()
    const left = () => dropped.filter((allocation) => allocator.find(allocation.matchId) === allocation)
    await advanceWhile(() => left().length > 0 || allocator.stopsPending() > 0, deadline)
    await allocator.close()
    return left().map(viewOf)
  }

  return async ({ stopServers = false, handOver = !stopServers && ticketLog !== undefined, timeoutMs } = {}) => {
    const deadline = clock.now() + (timeoutMs ?? TIMEOUT_MS)
    const left = handOver ? await leave(deadline) : await endAll(stopServers, deadline)
    await ticketLog?.close().catch(problem)
    return left
  }
}

/** @throws {InvalidInput} */
export function refuseHandOver(handOver: boolean | undefined, ticketLog: TicketLog | undefined): void {
  if (handOver !== true || ticketLog !== undefined) return
  throw new InvalidInput('option handOver: needs a ticketLog, from which the next process goes on', {
    field: 'handOver',
  })
}
