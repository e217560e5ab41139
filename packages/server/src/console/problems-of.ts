import { Conflict, InvalidInput, NotFound } from '@muster/core'
import { Problem } from '@muster/core/http'
import { MatchmakerClosed, TooLate, Unavailable } from '@muster/matchmaker'

/** The problem for an error of the matchmaker; undefined for an unexpected error. */
export function problemOf(error: unknown): Problem | undefined {
  if (error instanceof TooLate) {
    const message = 'the players of this ticket were sent to their server already: stop the match instead'
    return new Problem(409, 'too-late', message, { members: { match_id: error.matchId } })
  }
  if (error instanceof MatchmakerClosed)
    return new Problem(503, 'closed', 'the program is ending', { retryAfterMs: 1000 })
  if (error instanceof Unavailable) {
    const { retryAfterMs } = error
    return new Problem(503, 'unavailable', 'tickets cannot be reached at the moment: try again', { retryAfterMs })
  }
  if (error instanceof NotFound) return new Problem(404, 'not-found', error.message)
  if (error instanceof Conflict) return new Problem(409, 'conflict', error.message)
  if (error instanceof InvalidInput) return new Problem(400, 'invalid-input', error.message, { field: error.field })
  return undefined
}
