// pure: whether the clients of a ticket's players are there
import type { TicketRecord } from './ticket-record.js'

/** That a client is there: it reads the ticket now, or waits for its changes. */
export interface PresenceReport {
  readonly ticketId: string
  /** The player whose client it is. Default: each player of the ticket. */
  readonly playerId?: string | undefined
}

/** Milliseconds for which the clients of a ticket may be away; Infinity if none of its queues has `presence`. */
function longestAbsence({ runtimes }: TicketRecord): number {
  let longest = Infinity
  for (const { queue } of runtimes)
    if (queue.presence !== undefined) longest = Math.min(longest, queue.presence.withinMs)
  return longest
}

/**
 * When the ticket counts as absent unless all of its players are seen again, in epoch milliseconds; Infinity without
 * `presence`. A due timer computes the time again, so that a report need not move the timer.
 * @param isSuspended whether reports are noted elsewhere; then nobody counts as absent.
 */
export function absentAt(record: TicketRecord, isSuspended: boolean, now: number): number {
  const longest = longestAbsence(record)
  if (longest === Infinity || isSuspended) {
    record.seenAt = undefined
    return now + longest
  }
  record.seenAt ??= record.players.map(() => now)
  return Math.min(...record.seenAt) + longest
}

/** Notes that the client of a player is there, or those of all players of the ticket. */
export function noteSighting({ players, seenAt }: TicketRecord, playerId: string | undefined, now: number): void {
  if (seenAt === undefined) return
  for (let index = 0; index < players.length; index += 1) {
    if (playerId === undefined || players[index]?.id === playerId) seenAt[index] = now
  }
}
