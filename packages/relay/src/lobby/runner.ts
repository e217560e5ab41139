import { InvalidInput, NotFound } from '@muster/core'
import type { Clock } from '@muster/core/clock'
import { createAttempts } from '@muster/core/internal'
import { LobbyRefused, RelayNotAuthorized, RelayNotReady, RelayNotRevoked } from '../errors.js'
import type { RelaySessions, ReadySession } from '../sessions/index.js'
import { checkReport, type SystemCommand } from './command.js'
import type { LobbyMatchmaker, MatchReport } from './lobby-options.js'
import { type Lobby, presentMembers } from './lobby.js'
import type { Work } from './run.js'

/** Executes the tasks of a lobby's run. Each result is a command to the lobby. */
export interface Runner {
  readonly outcome: Lobby['outcome']
  /** Rejects if the task failed and may be retried. */
  perform(work: Work, lobby: Lobby, worker: string, signal: AbortSignal): Promise<SystemCommand>
  /** Ends a retired session or ticket. */
  end(id: string): Promise<void>
  /** Releases the resources of `perform`: from now on the lobby's store decides about them. */
  settled(result: SystemCommand): void
}

/**
 * Returns the key of a start. It labels the start's sessions, so that they can be found if the process that opened them
 * is gone.
 */
const runKey = (lobby: Pick<Lobby, 'id'>, term: number): string => `${lobby.id}-${term}`

/** Returns the key of a start whose players were handed over, or have a match; empty without one. */
export const matchKeyOf = (lobby: Lobby | undefined): readonly string[] =>
  lobby?.run?.status === 'handed-over' || lobby?.run?.status === 'assigned' ? [runKey(lobby, lobby.run.term)] : []

/** Reads the lobby's id, and the number of its start (`term`), from a session's label; undefined for other labels. */
export function parseRunKey(
  label: string | undefined,
): { readonly lobbyId: string; readonly term: number } | undefined {
  const [, lobbyId, term] = /^([A-Za-z0-9]{22})-(\d{1,15})$/.exec(label ?? '') ?? []
  return lobbyId === undefined ? undefined : { lobbyId, term: Number(term) }
}

/**
 * Returns the runner of relay sessions, or of a matchmaker's matches. @param relay required if `matchmaker` is
 * undefined.
 */
export function runnerOf(
  relay: RelaySessions | undefined,
  matchmaker: LobbyMatchmaker | undefined,
  clock: Clock,
): Runner {
  if (relay !== undefined) return relayRunner(relay, clock)
  if (matchmaker !== undefined) return matchRunner(matchmaker)
  throw new TypeError('relay or matchmaker is required: lobbies start one of them')
}

/** Limits the starts of a host whose members are authorized one by one: each may cost 128 requests (our choice). */
const SEPARATE_STARTS = { limit: 3, windowMs: 600_000 }

function relayRunner(relay: RelaySessions, clock: Clock): Runner {
  const separateStarts = createAttempts({ ...SEPARATE_STARTS, clock })
  const open = async (
    lobby: Lobby,
    term: number,
    worker: string,
    isSecond: boolean,
    signal: AbortSignal,
  ): Promise<SystemCommand> => {
    const label = runKey(lobby, term)
    if (isSecond) await relay.deleteLabelled(label)
    const players = presentMembers(lobby).map(({ id, ip }) => ({ id, ip }))
    let some = players
    const openSession = () => relay.open({ players: some, hostId: lobby.hostId, label }, { signal })
    try {
      const session = await openSession().catch((error: unknown) => {
        // The service may refuse one member's address, and does not say whose. So the others are authorized one by one.
        const mayRetry = error instanceof InvalidInput && players.length > 1
        if (!mayRetry || separateStarts.take(String(lobby.hostId)) > 0) throw error
        some = players.filter(({ id }) => id === lobby.hostId)
        return openSession()
      })
      return { kind: 'opened', worker, term, session }
    } catch (error) {
      if (signal.aborted) throw error
      return { kind: 'failed', worker, term, reason: reasonOf(error, some.length === 1 ? 'the host' : 'a member') }
    }
  }

  /**
   * Adopts a session for the duration of one task only, because the lobby's store decides about the session. So the
   * session is never too old here: it ends with its lobby.
   */
  const borrow = async (session: ReadySession, use: () => Promise<SystemCommand>): Promise<SystemCommand> => {
    relay.adopt({ ...session, openedAt: Infinity })
    try {
      return await use()
    } catch (error) {
      const isLost =
        error instanceof RelayNotAuthorized || error instanceof RelayNotRevoked || error instanceof NotFound
      if (!isLost) throw error
      return { kind: 'lost', sessionId: session.id }
    } finally {
      relay.release(session.id)
    }
  }

  return {
    outcome: 'relay',
    perform: (work, lobby, worker, signal) => {
      switch (work.kind) {
        case 'open':
          return open(lobby, work.term, worker, work.startedBy !== undefined && work.startedBy !== worker, signal)
        case 'revoke':
          return borrow(work.session, async () => {
            await relay.revokeSpent(work.session.id)
            return { kind: 'revoked', sessionId: work.session.id, tokens: work.session.spent }
          })
        case 'authorize':
          return borrow(work.session, async () => {
            const { seats } = await relay.authorize(work.session.id, work.player)
            const seat = seats.find(({ id }) => id === work.player.id)
            if (seat === undefined)
              throw new RelayNotAuthorized(`Relay session ${work.session.id} has no seat for this player.`, {
                sessionId: work.session.id,
              })
            return { kind: 'authorized', sessionId: work.session.id, seat }
          })
      }
    },
    end: (sessionId) => relay.delete(sessionId),
    settled: (result) => {
      if (result.kind === 'opened') relay.release(result.session.id)
    },
  }
}

function matchRunner(matchmaker: LobbyMatchmaker): Runner {
  return {
    outcome: 'match',
    perform: async (work, lobby, worker, signal) => {
      if (work.kind !== 'open') throw new Error(`the lobby became a match, which has no relay session to ${work.kind}`)
      const { id: lobbyId, data, hostId } = lobby
      const players = presentMembers(lobby)
        .toSorted((a, b) => Number(b.id === hostId) - Number(a.id === hostId))
        .map(({ id, ip, data: own }) => ({ id, ip, data: own }))
      try {
        const { reference } = await matchmaker.handOver(
          { key: runKey(lobby, work.term), lobbyId, players, data },
          { signal },
        )
        return { kind: 'handedOver', worker, term: work.term, reference }
      } catch (error) {
        if (signal.aborted) throw error
        // The players can mend an invalid input, e.g. a party that is too large.
        const reason = error instanceof InvalidInput ? `${error.name}: ${error.message}` : nameOf(error)
        return { kind: 'failed', worker, term: work.term, reason: reason.slice(0, LONGEST_REASON) }
      }
    },
    end: (reference) => matchmaker.withdraw(reference),
    settled: () => {},
  }
}

/** Maximum length of a reason, as in a report of the matchmaker. */
const LONGEST_REASON = 256

/** Returns why a session could not be opened. Contains no address. */
function reasonOf(error: unknown, refused: string): string {
  if (error instanceof RelayNotReady) return error.reason
  return error instanceof InvalidInput ? `${error.name}: the relay service refuses ${refused}` : nameOf(error)
}

const nameOf = (error: unknown) => (error instanceof Error ? error.name : 'Error')

/** Passes a matchmaker's report to its lobby. */
export function createReportMatch(change: (lobbyId: string, command: SystemCommand) => Promise<Lobby>) {
  return async (report: MatchReport): Promise<boolean> => {
    const checked = checkReport(report)
    const run = parseRunKey(checked.key)
    if (run === undefined) return false
    const { lobbyId, term } = run
    try {
      const lobby = await change(
        lobbyId,
        checked.status === 'assigned'
          ? { kind: 'matchAssigned', term, assignment: checked.assignment }
          : { kind: 'matchEnded', term, reason: checked.reason },
      )
      return checked.status === 'ended' || (lobby.run?.status === 'assigned' && lobby.run.term === term)
    } catch (error) {
      if (error instanceof LobbyRefused && error.code === 'no-such-lobby') return false
      throw error
    }
  }
}
