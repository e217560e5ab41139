// pure: how a lobby starts, moves and ends what it became
import { withoutSeat, type ReadySession, type RelaySeat } from '../sessions/session.js'
import type { Attributes } from './attributes.js'
import { withEvent } from './history.js'
import { memberOf, presentMembers, sessionOf, type Lobby } from './lobby.js'
import { refuse, type Refusal } from './refusal.js'

const retire = (lobby: Lobby, id: string, afterTerm?: number): Lobby =>
  lobby.retired.some((one) => one.id === id) ? lobby : { ...lobby, retired: [...lobby.retired, { id, afterTerm }] }

/** Sessions that were kept until their successor is there are kept no longer. */
const hasten = (lobby: Lobby): Lobby =>
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
 * A new session for a lobby that has one.
 * @param keepOld whether peers use the old one until the new one is there.
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

/** Back to an open lobby, in which nobody is ready. A match that is assigned is the matchmaker's, and goes on. */
export function endRun(lobby: Lobby, now: number): Lobby {
  const { run } = lobby
  if (run === undefined) return lobby
  const id = run.status === 'handed-over' ? run.reference : sessionOf(lobby)?.id
  const retired = hasten(id === undefined ? lobby : retire(lobby, id))
  const members = lobby.members.map((member) => ({ ...member, ready: false }))
  return withEvent({ ...retired, members, phase: 'open', run: undefined }, now, { type: 'run.ended', term: run.term })
}

/** Takes a player's token away, in every session of the lobby. */
export function unseat(lobby: Lobby, playerId: string): Lobby {
  const { run } = lobby
  const hastened = hasten(lobby)
  return run?.status === 'relayed'
    ? { ...hastened, run: { ...run, session: withoutSeat(run.session, playerId) } }
    : hastened
}

/** The player goes. A match for those who were there is called off: nobody waits for, or pays for, one who is gone. */
export function leaveRun(lobby: Lobby, now: number, playerId: string): Lobby {
  const unseated = unseat(lobby, playerId)
  return lobby.outcome === 'match' && lobby.run?.status !== 'assigned' ? endRun(unseated, now) : unseated
}

const awaits = ({ run, lease }: Lobby, term: number, worker: string) =>
  run?.status === 'allocating' && run.term === term && lease?.worker === worker

/** A session is there. If it is not the one that is wanted, it is to be deleted. */
export function runOpened(lobby: Lobby, now: number, worker: string, term: number, session: ReadySession): Lobby {
  if (sessionOf(lobby)?.id === session.id) return lobby
  if (!awaits(lobby, term, worker) || lobby.hostId === undefined) return retire(lobby, session.id)
  const leavers = session.seats.filter((seat) => !maySit(lobby, seat))
  const seated = leavers.reduce((left, { id }) => withoutSeat(left, id), { ...session, hostId: lobby.hostId })
  return withEvent({ ...hasten(lobby), phase: 'running', run: { status: 'relayed', term, session: seated } }, now, {
    type: 'relay.ready',
    term,
  })
}

export function runHandedOver(lobby: Lobby, now: number, worker: string, term: number, reference: string): Lobby {
  const { run } = lobby
  if (run?.status === 'handed-over' && run.reference === reference) return lobby
  // The matchmaker's report was faster than its answer.
  if (run?.status === 'assigned' && run.term === term) return lobby
  if (!awaits(lobby, term, worker)) return retire(lobby, reference)
  return withEvent({ ...lobby, phase: 'running', run: { status: 'handed-over', term, reference } }, now, {
    type: 'match.handed-over',
    term,
    reference,
  })
}

/** Reports may come twice, late, and before it is said that the players were handed over. */
export function matchAssigned(lobby: Lobby, now: number, term: number, assignment: Attributes): Lobby {
  const { run, outcome } = lobby
  if (outcome !== 'match' || run?.term !== term || run.status === 'assigned') return lobby
  const assigned: Lobby = { ...lobby, phase: 'running', run: { status: 'assigned', term, assignment } }
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
  withEvent({ ...hasten(lobby), phase: 'open', run: undefined }, now, { type: 'run.failed', term, reason })

/** A token for one who came later. If that player is gone meanwhile, the token is spent before it was used. */
export function seatAuthorized(lobby: Lobby, now: number, sessionId: string, seat: RelaySeat): Lobby {
  const { run } = lobby
  // A token of a session that is no longer the lobby's ends with that session.
  if (run?.status !== 'relayed' || run.session.id !== sessionId) return lobby
  const { seats, spent } = run.session
  if (seats.some(({ token }) => token === seat.token) || spent.includes(seat.token)) return lobby
  const fits = maySit(lobby, seat) && seats.every(({ id }) => id !== seat.id)
  const session = fits ? { ...run.session, seats: [...seats, seat] } : { ...run.session, spent: [...spent, seat.token] }
  const seated: Lobby = { ...lobby, run: { ...run, session } }
  return fits ? withEvent(seated, now, { type: 'relay.credentials', term: run.term }, seat.id) : seated
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

/** Gives the lobby to one process for a while, or for a while longer. */
export function claim(lobby: Lobby, now: number, worker: string, leaseMs: number): Lobby | Refusal {
  const { lease, run } = lobby
  if (lease !== undefined && lease.worker !== worker && lease.until > now) return refuse('leased')
  return {
    ...lobby,
    lease: { worker, until: now + leaseMs },
    run: run?.status === 'allocating' ? { ...run, worker } : run,
  }
}

/** What may be ended by now. Any process may do that, and more than one. */
export const endable = ({ retired }: Lobby): readonly string[] =>
  retired.filter(({ afterTerm }) => afterTerm === undefined).map(({ id }) => id)

/** Something that the process that sees to a run has to do. */
export type Work =
  | { readonly kind: 'revoke'; readonly session: ReadySession }
  | { readonly kind: 'open'; readonly term: number; readonly startedBy: string | undefined }
  | {
      readonly kind: 'authorize'
      readonly session: ReadySession
      readonly player: { readonly id: string; readonly ip: string }
    }

/** What is to be done, most urgent first: whoever is out goes before anyone comes in. */
export function workOf(lobby: Lobby): Work[] {
  const { run, outcome, retired } = lobby
  // Until a ticket is withdrawn, its players cannot be in another.
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
