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
  /** Name of the queue whose game servers are played. */
  readonly queue: string
  readonly clock: Clock
  readonly random: Random
  /** Ends it. */
  readonly signal: AbortSignal
  /** These players have left their match. */
  readonly left: (playerIds: readonly string[]) => void
}

/** Milliseconds after which those leave who do not stay, and their share. */
const LEAVE_AFTER_MS = 1500
const LEAVING = 0.12
/** What a game server is answered that need not ask again. */
const NOBODY_MORE = [BackfillExists, InvalidBackfill, MatchNotRunning, Unavailable, UnknownMatch]

/** Plays the game servers of a queue: reports players who leave, and asks for others while there is room. */
export function liveSocially({ service, onAssigned, queue: name, clock, random, signal, left }: SocialLife): void {
  /** The last backfill of each match. */
  const backfills = new Map<string, string>()

  const askForMore = async (matchId: string) => {
    const last = await service.getBackfill(backfills.get(matchId) ?? '')
    if (last?.status === 'OPEN') return
    backfills.set(matchId, (await service.createBackfill({ matchId })).id)
  }
  /** Repeats the report while no process can take it: it may have arrived, which does no harm. */
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
    // They have left, whether or not the report of it arrives at once.
    left(playerIds)
    await reported(matchId, playerIds)
    await askForMore(matchId)
  }
  /** A match that is full or over, or for which others are looked for already, needs nobody more. */
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
