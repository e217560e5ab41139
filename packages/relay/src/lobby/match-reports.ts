import { LobbyRefused } from '../errors.js'
import { checkReport } from './command-schemas.js'
import type { SystemCommand } from './command.js'
import type { Lobby } from './lobby.js'
import type { MatchReport } from './matchmaker.js'
import { parseRunKey } from './runner.js'

/** Passes a matchmaker's report to the lobby it concerns. */
export function createReportMatch(change: (lobbyId: string, command: SystemCommand) => Promise<Lobby>) {
  return async (report: MatchReport): Promise<boolean> => {
    const told = checkReport(report)
    const run = parseRunKey(told.key)
    if (run === undefined) return false
    const { lobbyId, term } = run
    try {
      const lobby = await change(
        lobbyId,
        told.status === 'assigned'
          ? { kind: 'matchAssigned', term, assignment: told.assignment }
          : { kind: 'matchEnded', term, reason: told.reason },
      )
      return told.status === 'ended' || (lobby.run?.status === 'assigned' && lobby.run.term === term)
    } catch (error) {
      if (error instanceof LobbyRefused && error.code === 'no-such-lobby') return false
      throw error
    }
  }
}
