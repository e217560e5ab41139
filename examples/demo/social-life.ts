import type { Clock, Random } from '@muster/core/clock'
import { InvalidBackfill, NotRunning, UnknownMatch, type Matchmaker } from '@muster/matchmaker'

/** Milliseconds after which those leave who do not stay, and their share. */
const LEAVE_AFTER_MS = 1500
const LEAVING = 0.12

/**
 * Plays the game servers of a queue: reports players who leave, and asks for others while there is room. Returns the
 * list of players who have left, which grows.
 */
export function liveSocially(
  matchmaker: Matchmaker,
  name: string,
  clock: Clock,
  random: Random,
  signal: AbortSignal,
): ReadonlySet<string> {
  /** The last backfill of each match. */
  const backfills = new Map<string, string>()
  const left = new Set<string>()

  const askForMore = (matchId: string) => {
    const last = matchmaker.getBackfill(backfills.get(matchId) ?? '')
    if (last?.status === 'OPEN') return
    try {
      backfills.set(matchId, matchmaker.createBackfill({ matchId }).id)
    } catch (error) {
      // The match is full, or over.
      if (![InvalidBackfill, NotRunning, UnknownMatch].some((known) => error instanceof known)) throw error
    }
  }
  const leave = async (matchId: string, playerIds: readonly string[]) => {
    await clock.sleep(LEAVE_AFTER_MS)
    if (signal.aborted) return
    matchmaker.playersLeft(matchId, playerIds)
    for (const id of playerIds) left.add(id)
    askForMore(matchId)
  }

  matchmaker.on('assigned', ({ queue, matchId, tickets }) => {
    if (queue !== name || signal.aborted) return
    askForMore(matchId)
    const leavers = tickets.flatMap(({ players }) => players.map(({ id }) => id)).filter(() => random() < LEAVING)
    if (leavers.length > 0) void leave(matchId, leavers)
  })
  return left
}
