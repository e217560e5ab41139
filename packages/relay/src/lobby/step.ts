// pure: the state machine of a lobby, including the effects of time
import type { LobbyCommand, PlayerCommand, SystemCommand } from './command.js'
import {
  type Applicant,
  type ClosedReason,
  isPresent,
  type Lobby,
  type LobbyEvent,
  type Member,
  memberOf,
  merged,
  presentMembers,
  sessionOf,
  waitingApplicants,
  withEvent,
  withMember,
} from './lobby.js'
import { decide, dismiss, goAway, join, kick, remove, transferHost } from './membership.js'
import { type LobbyRules, type LobbyRefusal, type LobbyTimes, refuse } from '../lobby-rules.js'
import {
  claim,
  endable,
  endRun,
  matchAssigned,
  matchEnded,
  moveRun,
  runFailed,
  runHandedOver,
  runOpened,
  memberRefused,
  seatAuthorized,
  startRun,
  tokensRevoked,
  workOf,
} from './run.js'

function close(lobby: Lobby, now: number, reason: ClosedReason): Lobby {
  if (lobby.phase === 'closed') return lobby
  const dismissed = waitingApplicants(lobby).reduce((left, one) => dismiss(left, now, one), endRun(lobby, now))
  const ended: Lobby = { ...dismissed, phase: 'closed', closedAt: now, applicants: [] }
  return withEvent(ended, now, { type: 'lobby.closed', reason })
}

/** Applies everything that is due at `now`. */
function expire(lobby: Lobby, now: number, rules: LobbyTimes): Lobby {
  const since = (at: number) => Math.max(at, rules.upSince ?? at)
  if (lobby.phase === 'closed') return lobby
  let next = lobby
  for (const member of lobby.members)
    if (isPresent(member) && now >= since(member.lastSeenAt) + rules.awayAfterMs) next = goAway(next, now, member)
  for (const member of next.members)
    if (now >= since(member.awaySince ?? now) + rules.holdSlotMs) next = remove(next, now, member, 'timed out', rules)
  for (const applicant of next.applicants)
    if (now >= since(applicant.since) + rules.applicantMs) next = withoutApplicant(next, now, applicant)
  const reason = closedBy(next, now, rules)
  return reason === undefined ? next : close(next, now, reason)
}

/** Removes an applicant. If the host has not decided in time, the applicant is denied. */
function withoutApplicant(lobby: Lobby, now: number, applicant: Applicant): Lobby {
  const rest = { ...lobby, applicants: lobby.applicants.filter((other) => other !== applicant) }
  return applicant.denied ? rest : dismiss(rest, now, applicant)
}

function closedBy(
  { createdAt, emptySince, activeAt, phase }: Lobby,
  now: number,
  { upSince = -Infinity, ...rules }: LobbyTimes,
): ClosedReason | undefined {
  if (now >= createdAt + rules.maxLifetimeMs) return 'too old'
  if (emptySince !== undefined && now >= Math.max(emptySince, upSince) + rules.emptyMs) return 'empty'
  // The traffic of a running game goes through the relay, so the lobby cannot see whether players are active.
  return phase !== 'running' && now >= Math.max(activeAt, upSince) + rules.idleMs ? 'idle' : undefined
}

/** True if nothing is left to do or to announce, so that the record can be deleted. */
export const isOver = (lobby: Lobby, now: number, rules: LobbyRules): boolean =>
  lobby.closedAt !== undefined && now >= lobby.closedAt + rules.lingerMs && lobby.retired.length === 0

/** Returns the epoch milliseconds of the next time at which a tick has something to do. */
export function dueAt(lobby: Lobby, now: number, rules: LobbyRules): number {
  const ending = endable(lobby).length > 0 ? now : Infinity
  if (lobby.closedAt !== undefined) return Math.min(ending, lobby.closedAt + rules.lingerMs)
  const ofMember = ({ awaySince, lastSeenAt }: Member) =>
    awaySince === undefined ? lastSeenAt + rules.awayAfterMs : awaySince + rules.holdSlotMs
  return Math.min(
    ending,
    workOf(lobby).length > 0 ? (lobby.lease?.until ?? now) : Infinity,
    lobby.createdAt + rules.maxLifetimeMs,
    lobby.phase === 'running' ? Infinity : lobby.activeAt + rules.idleMs,
    (lobby.emptySince ?? Infinity) + rules.emptyMs,
    ...lobby.members.map(ofMember),
    ...lobby.applicants.map(({ since }) => since + rules.applicantMs),
  )
}

export interface LobbyStep {
  readonly lobby: Lobby
  /** The events, in order. If there are none, the list is empty and the lobby is the same object. */
  readonly events: readonly LobbyEvent[]
  /** The member who was seen, if nothing else has changed. */
  readonly onlySeen?: string | undefined
}

/** Applies a command to a lobby at a time, or returns why it is refused. */
export function step(command: LobbyCommand, lobby: Lobby, now: number, rules: LobbyTimes): LobbyStep | LobbyRefusal {
  const next = 'playerId' in command ? byPlayer(command, lobby, now, rules) : bySystem(command, lobby, now, rules)
  if ('refused' in next) return next
  if (command.kind === 'heartbeat' && next !== lobby && expire(lobby, now, rules) === lobby)
    return { lobby: next, events: [], onlySeen: command.playerId }
  return { lobby: next, events: next.events.filter(({ seq }) => seq > lobby.seq) }
}

export const isRefusal = (result: LobbyStep | LobbyRefusal): result is LobbyRefusal => 'refused' in result

function bySystem(command: SystemCommand, lobby: Lobby, now: number, rules: LobbyTimes): Lobby | LobbyRefusal {
  switch (command.kind) {
    case 'tick':
      return expire(lobby, now, rules)
    case 'shutDown':
      return close(lobby, now, 'shutdown')
    case 'claim':
      return claim(lobby, now, command.worker, rules.leaseMs)
    case 'release':
      return lobby.lease?.worker === command.worker ? { ...lobby, lease: undefined } : lobby
    case 'opened':
      return runOpened(lobby, now, command.worker, command.term, command.session)
    case 'handedOver':
      return runHandedOver(lobby, now, command.worker, command.term, command.reference)
    case 'matchAssigned':
      return matchAssigned(lobby, now, command.term, command.assignment)
    case 'matchEnded':
      return matchEnded(lobby, now, command.term, command.reason)
    case 'failed':
      return runFailed(lobby, now, command.worker, command.term, command.reason)
    case 'authorized':
      return seatAuthorized(lobby, now, command.sessionId, command.seat)
    case 'refused':
      return memberRefused(lobby, now, command.sessionId, command.memberId)
    case 'revoked':
      return tokensRevoked(lobby, command.sessionId, command.tokens)
    case 'lost':
      return sessionOf(lobby)?.id === command.sessionId ? moveRun(lobby, now, false) : lobby
    case 'ended':
      return { ...lobby, retired: lobby.retired.filter(({ id }) => id !== command.retiredId) }
  }
}

function byPlayer(command: PlayerCommand, before: Lobby, now: number, rules: LobbyTimes): Lobby | LobbyRefusal {
  // Deadlines that have passed apply even if no tick has run since, so nobody joins or returns too late.
  const lobby = expire(before, now, rules)
  if (command.kind === 'join') {
    if (lobby.phase === 'closed') return refuse('not-joinable')
    const joined = join(lobby, now, command)
    return 'refused' in joined ? joined : { ...joined, activeAt: now }
  }
  const member = memberOf(lobby, command.playerId)
  if (member === undefined) return refuse('no-such-lobby')
  if (lobby.phase === 'closed') return refuse('lobby-closed')
  if (member.awaySince !== undefined && command.kind !== 'leave') return refuse('away')
  // Heartbeats in quick succession are stored once, to reduce the load of the store.
  if (command.kind === 'heartbeat' && now - member.lastSeenAt < rules.awayAfterMs / HEARTBEATS) return lobby
  const alive: Member = { ...member, lastSeenAt: now }
  if (command.kind === 'heartbeat') return withMember(lobby, alive)
  if (!ownMatters.has(command.kind) && lobby.hostId !== member.id) return refuse('not-host')
  return byMember(command, { ...withMember(lobby, alive), activeAt: now }, alive, now, rules)
}

/** Minimum interval of stored heartbeats: `awayAfterMs` divided by this. */
const HEARTBEATS = 6

const ownMatters: ReadonlySet<string> = new Set<PlayerCommand['kind']>(['leave', 'setReady', 'setMemberData'])

type MemberCommand = Exclude<PlayerCommand, { readonly kind: 'join' | 'heartbeat' }>

function setData(
  { kind, changes, ifVersion }: Extract<MemberCommand, { readonly kind: 'setData' | 'setMemberData' }>,
  lobby: Lobby,
  member: Member,
  now: number,
): Lobby | LobbyRefusal {
  const before = kind === 'setData' ? lobby : member
  if (ifVersion !== undefined && ifVersion !== before.dataVersion) return refuse('stale-version')
  const data = merged(before.data, changes)
  if (data === undefined) return refuse('data-too-large')
  const version = before.dataVersion + 1
  return kind === 'setData'
    ? withEvent({ ...lobby, data, dataVersion: version }, now, { type: 'data.changed', changes, version })
    : withEvent(withMember(lobby, { ...member, data, dataVersion: version }), now, {
        type: 'member.data',
        playerId: member.id,
        changes,
        version,
      })
}

function byMember(
  command: MemberCommand,
  lobby: Lobby,
  member: Member,
  now: number,
  rules: LobbyRules,
): Lobby | LobbyRefusal {
  switch (command.kind) {
    case 'leave':
      return remove(lobby, now, member, 'left', rules)
    case 'setReady':
      if (member.ready === command.ready) return lobby
      return withEvent(withMember(lobby, { ...member, ready: command.ready }), now, {
        type: 'member.ready',
        playerId: member.id,
        ready: command.ready,
      })
    case 'setMemberData':
    case 'setData':
      return setData(command, lobby, member, now)
    case 'kick':
      return kick(lobby, now, command.targetId, command.ban, rules)
    case 'unban':
      if (!lobby.banned.includes(command.targetId)) return refuse('no-such-player')
      return { ...lobby, banned: lobby.banned.filter((id) => id !== command.targetId) }
    case 'transferHost':
      return transferHost(lobby, now, command.targetId)
    case 'decide':
      return decide(lobby, now, command.applicantId, command.approve)
    case 'start':
      if (lobby.run !== undefined) return refuse('already-started')
      if (lobby.requireReady && !presentMembers(lobby).every(({ id, ready }) => ready || id === lobby.hostId))
        return refuse('not-ready')
      return startRun(lobby, now)
    case 'stop':
      return lobby.run === undefined ? refuse('not-started') : endRun(lobby, now)
    case 'close':
      return close(lobby, now, 'by host')
  }
}
