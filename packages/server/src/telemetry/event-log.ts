import type { Matchmaker } from '@muster/matchmaker'
import { failureText } from './failure-text.js'
import type { Log } from './log.js'
import type { ProblemLog } from './problem-log.js'

/**
 * Writes what the matchmaker tells: problems, as `problems` bounds them, and single matches at the level `debug`.
 * Nothing of a player but how many.
 */
export function logEvents(on: Matchmaker['on'], log: Log, problems: ProblemLog): void {
  on('problem', ({ during, matchId, requestId, error }) => problems.report(during, error, { matchId, requestId }))
  on('deploymentFailed', ({ reason, detail, matchId, requestId }) =>
    problems.report('server', failureText(reason, detail), { matchId, requestId }),
  )
  on('deploymentReaped', ({ requestId }) =>
    problems.report('reap', 'A server that belonged to no match was stopped.', { requestId }),
  )
  const detail = <Event>(text: string, fieldsOf: (event: Event) => Parameters<Log['debug']>[1]) => {
    return (event: Event) => {
      if (log.writes('debug')) log.debug(text, fieldsOf(event))
    }
  }
  on(
    'matchFound',
    detail('match found', ({ matchId, queue, tickets }) => ({ matchId, queue, tickets: tickets.length })),
  )
  on(
    'deploymentCreated',
    detail('server requested', ({ matchId, requestId }) => ({ matchId, requestId })),
  )
  on(
    'assigned',
    detail('players were sent', ({ matchId, queue, requestId }) => ({ matchId, queue, requestId })),
  )
  on(
    'deploymentStopped',
    detail('server stopped', ({ matchId, requestId, reason }) => ({ matchId, requestId, reason })),
  )
}
