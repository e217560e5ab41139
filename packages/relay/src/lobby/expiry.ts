// pure: what time does to a lobby
import { withEvent } from './history.js'
import { type Applicant, isPresent, type Lobby } from './lobby.js'
import type { ClosedReason } from './event.js'
import { goAway, remove } from './membership.js'
import type { LobbyRules } from './rules.js'
import { endable, endRun, workOf } from './run.js'

export function close(lobby: Lobby, now: number, reason: ClosedReason): Lobby {
  if (lobby.phase === 'closed') return lobby
  const ended: Lobby = { ...endRun(lobby, now), phase: 'closed', closedAt: now, applicants: [] }
  return withEvent(ended, now, { type: 'lobby.closed', reason })
}

/** Applies everything that is due at `now`. */
export function expire(lobby: Lobby, now: number, rules: LobbyRules): Lobby {
  if (lobby.phase === 'closed') return lobby
  let next = lobby
  for (const member of lobby.members)
    if (isPresent(member) && now >= member.lastSeenAt + rules.awayAfterMs) next = goAway(next, now, member)
  for (const member of next.members)
    if (now >= (member.awaySince ?? now) + rules.holdSlotMs) next = remove(next, now, member, 'timed out', rules)
  for (const applicant of next.applicants)
    if (now >= applicant.since + rules.applicantMs) next = withoutApplicant(next, now, applicant)
  const reason = closedBy(next, now, rules)
  return reason === undefined ? next : close(next, now, reason)
}

/** An applicant whom the host did not answer in time is denied; a denied one is forgotten. */
function withoutApplicant(lobby: Lobby, now: number, applicant: Applicant): Lobby {
  const rest = { ...lobby, applicants: lobby.applicants.filter((other) => other !== applicant) }
  return applicant.denied ? rest : withEvent(rest, now, { type: 'applicant.decided', approved: false }, applicant.id)
}

function closedBy(
  { createdAt, emptySince, activeAt, phase }: Lobby,
  now: number,
  rules: LobbyRules,
): ClosedReason | undefined {
  if (now >= createdAt + rules.maxLifetimeMs) return 'too old'
  if (emptySince !== undefined && now >= emptySince + rules.emptyMs) return 'empty'
  // A running game's traffic goes through the relay, where the lobby cannot see whether players are active.
  return phase !== 'running' && now >= activeAt + rules.idleMs ? 'idle' : undefined
}

/** Whether nothing is left to do or to announce, so that the record can be deleted. */
export const isOver = (lobby: Lobby, now: number, rules: LobbyRules): boolean =>
  lobby.closedAt !== undefined && now >= lobby.closedAt + rules.lingerMs && lobby.retired.length === 0

/** Epoch milliseconds of the next time at which a tick has something to do. Makes no lists: every change asks. */
export function dueAt(lobby: Lobby, now: number, rules: LobbyRules): number {
  const ending = endable(lobby).length > 0 ? now : Infinity
  if (lobby.closedAt !== undefined) return Math.min(ending, lobby.closedAt + rules.lingerMs)
  let earliest = Math.min(
    ending,
    workOf(lobby).length > 0 ? (lobby.lease?.until ?? now) : Infinity,
    lobby.createdAt + rules.maxLifetimeMs,
    lobby.phase === 'running' ? Infinity : lobby.activeAt + rules.idleMs,
    lobby.emptySince === undefined ? Infinity : lobby.emptySince + rules.emptyMs,
  )
  for (const { awaySince, lastSeenAt } of lobby.members)
    earliest = Math.min(
      earliest,
      awaySince === undefined ? lastSeenAt + rules.awayAfterMs : awaySince + rules.holdSlotMs,
    )
  for (const { since } of lobby.applicants) earliest = Math.min(earliest, since + rules.applicantMs)
  return earliest
}
