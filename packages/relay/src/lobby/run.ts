// pure: how a lobby's session or match starts, moves and ends
import { withoutSeat, type ReadySession, type RelaySeat } from '../sessions/index.js'
import { type Attributes, type Lobby, memberOf, presentMembers, sessionOf, withEvent } from './lobby.js'
import { type LobbyRefusal, refuse } from '../lobby-rules.js'

const retire = (lobby: Lobby, id: string, afterTerm?: number): Lobby =>
  lobby.retired.some((one) => one.id === id) ? lobby : { ...lobby, retired: [...lobby.retired, { id, afterTerm }] }

/** Retires sessions immediately that were kept until their successor is ready. */
const retireNow = (lobby: Lobby): Lobby =>
  lobby.retired.some(({ afterTerm }) => afterTerm !== undefined)
    ? { ...lobby, retired: lobby.retired.map(({ id }) => ({ id, afterTerm: undefined })) }
    : lobby

export function startRun(lobby: Lobby, now: number): Lobby {
  const term = lobby.term + 1
  return withEvent({ ...lobby, term, phase: 'starting', run: { status: 'allocating', term, worker: undefined } }, now, {
    type: 'lobby.starting',
    term,
  })
}

/**
 * Requests a new session for a lobby that has one.
 * @param keepOld true if peers use the old session until the new one is ready.
 */
export function moveRun(lobby: Lobby, now: number, keepOld: boolean): Lobby {
  const session = sessionOf(lobby)
  if (session === undefined) return lobby
  const term = lobby.term + 1
  const retired = retire(lobby, session.id, keepOld ? term : undefined)
  return withEvent({ ...retired, term, run: { status: 'allocating', term, worker: undefined } }, now, {
    type: 'relay.moving',
    term,
  })
}

/**
 * Returns the lobby to the open phase, in which nobody is ready. An assigned match belongs to the matchmaker and
 * continues.
 */
export function endRun(lobby: Lobby, now: number): Lobby {
  const { run } = lobby
  if (run === undefined) return lobby
  const id = run.status === 'handed-over' ? run.reference : sessionOf(lobby)?.id
  const retired = retireNow(id === undefined ? lobby : retire(lobby, id))
  const members = lobby.members.map((member) => ({ ...member, ready: false }))
  return withEvent({ ...retired, members, phase: 'open', run: undefined }, now, { type: 'run.ended', term: run.term })
}

/** Removes a player's token from every session of the lobby. */
export function unseat(lobby: Lobby, playerId: string): Lobby {
  const { run } = lobby
  const retired = retireNow(lobby)
  return run?.status === 'relayed'
    ? { ...retired, run: { ...run, session: withoutSeat(run.session, playerId) } }
    : retired
}

/**
 * Removes the player. A match without an assignment is cancelled, so that nobody waits or pays for a player who left.
 */
export function leaveRun(lobby: Lobby, now: number, playerId: string): Lobby {
  const unseated = unseat(lobby, playerId)
  return lobby.outcome === 'match' && lobby.run?.status !== 'assigned' ? endRun(unseated, now) : unseated
}

const awaits = ({ run, lease }: Lobby, term: number, worker: string) =>
  run?.status === 'allocating' && run.term === term && lease?.worker === worker

/** Takes over an opened session, or marks it for deletion if it is not the one that the lobby needs. */
export function runOpened(lobby: Lobby, now: number, worker: string, term: number, session: ReadySession): Lobby {
  if (sessionOf(lobby)?.id === session.id) return lobby
  if (!awaits(lobby, term, worker) || lobby.hostId === undefined) return retire(lobby, session.id)
  const leavers = session.seats.filter((seat) => !maySit(lobby, seat))
  const seated = leavers.reduce((left, { id }) => withoutSeat(left, id), { ...session, hostId: lobby.hostId })
  return withEvent({ ...retireNow(lobby), phase: 'running', run: { status: 'relayed', term, session: seated } }, now, {
    type: 'relay.ready',
    term,
  })
}

export function runHandedOver(lobby: Lobby, now: number, worker: string, term: number, reference: string): Lobby {
  const { run } = lobby
  if (run?.status === 'handed-over' && run.reference === reference) return lobby
  // The matchmaker's report arrived before its response to the hand-over.
  if (run?.status === 'assigned' && run.term === term) return lobby
  if (!awaits(lobby, term, worker)) return retire(lobby, reference)
  return withEvent({ ...lobby, phase: 'running', run: { status: 'handed-over', term, reference } }, now, {
    type: 'match.handed-over',
    term,
    reference,
  })
}

/**
 * True if the latest start has ended and its ticket is still to be withdrawn. If the ticket has a match by now, the
 * withdrawal came too late: the lobby's players are in that match, and cannot start another one.
 */
const isWithdrawing = ({ phase, run, term: latest, retired }: Lobby, term: number): boolean =>
  phase === 'open' && run === undefined && latest === term && retired.length > 0

/** Records the match of a run. Reports may arrive twice, late, or before the response to the hand-over. */
export function matchAssigned(lobby: Lobby, now: number, term: number, assignment: Attributes): Lobby {
  const { run, outcome } = lobby
  if (outcome !== 'match' || run?.status === 'assigned') return lobby
  const isLate = isWithdrawing(lobby, term)
  if (run?.term !== term && !isLate) return lobby
  const retired = isLate ? [] : lobby.retired
  const assigned: Lobby = { ...lobby, retired, phase: 'running', run: { status: 'assigned', term, assignment } }
  return withEvent(assigned, now, { type: 'match.assigned', term })
}

export function matchEnded(lobby: Lobby, now: number, term: number, reason: string): Lobby {
  const { run, outcome } = lobby
  if (outcome !== 'match' || run?.term !== term) return lobby
  return run.status === 'assigned' ? endRun(lobby, now) : failed(lobby, now, term, reason)
}

export function runFailed(lobby: Lobby, now: number, worker: string, term: number, reason: string): Lobby {
  return awaits(lobby, term, worker) ? failed(lobby, now, term, reason) : lobby
}

const failed = (lobby: Lobby, now: number, term: number, reason: string): Lobby =>
  withEvent({ ...retireNow(lobby), phase: 'open', run: undefined }, now, { type: 'run.failed', term, reason })

/** Adds the token of a player who joined late. If the player has left meanwhile, the token is marked for revocation. */
export function seatAuthorized(lobby: Lobby, now: number, sessionId: string, seat: RelaySeat): Lobby {
  const { run } = lobby
  // The session does not belong to the lobby any more; its tokens end with it.
  if (run?.status !== 'relayed' || run.session.id !== sessionId) return lobby
  const { seats, spent } = run.session
  if (seats.some(({ token }) => token === seat.token) || spent.includes(seat.token)) return lobby
  const fits = maySit(lobby, seat) && seats.every(({ id }) => id !== seat.id)
  const session = fits ? { ...run.session, seats: [...seats, seat] } : { ...run.session, spent: [...spent, seat.token] }
  const seated: Lobby = { ...lobby, run: { ...run, session } }
  return fits ? withEvent(seated, now, { type: 'relay.credentials', term: run.term }, seat.id) : seated
}

/** Tells the host that the service refuses a member. */
export function memberRefused(lobby: Lobby, now: number, sessionId: string, memberId: string): Lobby {
  const { run, hostId } = lobby
  const isCurrent = run?.status === 'relayed' && run.session.id === sessionId
  if (!isCurrent || hostId === undefined || memberOf(lobby, memberId) === undefined) return lobby
  return withEvent(lobby, now, { type: 'relay.refused', playerId: memberId }, hostId)
}

export function tokensRevoked(lobby: Lobby, sessionId: string, tokens: readonly number[]): Lobby {
  const { run } = lobby
  if (run?.status !== 'relayed' || run.session.id !== sessionId) return lobby
  return {
    ...lobby,
    run: { ...run, session: { ...run.session, spent: run.session.spent.filter((token) => !tokens.includes(token)) } },
  }
}

const maySit = (lobby: Lobby, { id, ip }: Pick<RelaySeat, 'id' | 'ip'>): boolean => {
  const member = memberOf(lobby, id)
  return member !== undefined && member.awaySince === undefined && member.ip === ip
}

/** Leases the lobby to one process, or extends the process's lease. */
export function claim(lobby: Lobby, now: number, worker: string, leaseMs: number): Lobby | LobbyRefusal {
  const { lease, run } = lobby
  if (lease !== undefined && lease.worker !== worker && lease.until > now) return refuse('leased')
  return {
    ...lobby,
    lease: { worker, until: now + leaseMs },
    run: run?.status === 'allocating' ? { ...run, worker } : run,
  }
}

/** Retired sessions and tickets that may be ended now. Any process may end them, even several concurrently. */
export const endable = ({ retired }: Lobby): readonly string[] =>
  retired.filter(({ afterTerm }) => afterTerm === undefined).map(({ id }) => id)

/** A task of the process that manages the run. */
export type Work =
  | { readonly kind: 'revoke'; readonly session: ReadySession }
  | { readonly kind: 'open'; readonly term: number; readonly startedBy: string | undefined }
  | {
      readonly kind: 'authorize'
      readonly session: ReadySession
      readonly player: { readonly id: string; readonly ip: string }
    }

/** Returns the tasks to do. Tokens of players who left are revoked before new players are authorized. */
export function workOf(lobby: Lobby): readonly Work[] {
  const { run, outcome, retired } = lobby
  // Players cannot be in another ticket until the retired ticket is withdrawn.
  if (run?.status === 'allocating' && outcome === 'match' && retired.length > 0) return []
  if (run?.status === 'allocating') return [{ kind: 'open', term: run.term, startedBy: run.worker }]
  if (run?.status !== 'relayed') return []
  const { session } = run
  const newcomers = presentMembers(lobby).filter(({ id }) => session.seats.every((seat) => seat.id !== id))
  return [
    ...(session.spent.length > 0 ? [{ kind: 'revoke', session } as const] : []),
    ...newcomers.map(({ id, ip }) => ({ kind: 'authorize', session, player: { id, ip } }) as const),
  ]
}
