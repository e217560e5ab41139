import type { Clock, Random } from '@muster/core/clock'
import {
  BackfillExists,
  InvalidBackfill,
  MatchNotRunning,
  Unavailable,
  UnknownMatch,
  type MatchmakerEvents,
  type TicketService,
} from '@muster/matchmaker'

export interface SocialLife {
  readonly service: Pick<TicketService, 'getBackfill' | 'createBackfill' | 'playersLeft'>
  readonly onAssigned: (listener: (event: MatchmakerEvents['serverAssigned']) => void) => void
  /** Name of the queue whose game servers are simulated. */
  readonly queue: string
  readonly clock: Clock
  readonly random: Random
  /** Aborting this signal ends the simulation. */
  readonly signal: AbortSignal
  /** Called with players who have left their match. */
  readonly left: (playerIds: readonly string[]) => void
}

/** Milliseconds after which some players leave a match, and the share of players who leave. */
const LEAVE_AFTER_MS = 1500
const LEAVING = 0.12
/** Errors after which a game server need not request players again. */
const NOBODY_MORE = [BackfillExists, InvalidBackfill, MatchNotRunning, Unavailable, UnknownMatch]

/**
 * Simulates the game servers of a queue: they report players who leave, and request others while there are free places.
 */
export function liveSocially({ service, onAssigned, queue: name, clock, random, signal, left }: SocialLife): void {
  /** The latest backfill of each match, by match id. */
  const backfills = new Map<string, string>()

  const askForMore = async (matchId: string) => {
    const last = await service.getBackfill(backfills.get(matchId) ?? '')
    if (last?.status === 'OPEN') return
    backfills.set(matchId, (await service.createBackfill({ matchId })).id)
  }
  /** Repeats a report until a process accepts it. A report that has already arrived does no harm. */
  const reported = async (matchId: string, playerIds: readonly string[]): Promise<void> => {
    for (;;) {
      try {
        return await service.playersLeft(matchId, playerIds)
      } catch (error) {
        if (!(error instanceof Unavailable) || signal.aborted) throw error
        await clock.sleep(error.retryAfterMs)
      }
    }
  }
  const leave = async (matchId: string, playerIds: readonly string[]) => {
    await clock.sleep(LEAVE_AFTER_MS)
    if (signal.aborted) return
    // The players have left, whether or not the report arrives at once.
    left(playerIds)
    await reported(matchId, playerIds)
    await askForMore(matchId)
  }
  /** Ignores an error if the match is full or over, or if it has already requested players. */
  const ignoring = (done: Promise<void>) =>
    void done.catch((error: unknown) => {
      if (signal.aborted || NOBODY_MORE.some((known) => error instanceof known)) return
      throw error
    })

  onAssigned(({ queue, matchId, tickets }) => {
    if (queue !== name || signal.aborted) return
    ignoring(askForMore(matchId))
    const leavers = tickets.flatMap(({ players }) => players.map(({ id }) => id)).filter(() => random() < LEAVING)
    if (leavers.length > 0) ignoring(leave(matchId, leavers))
  })
}
