// pure: the members and the host of a lobby
import { addressBlock } from '@muster/core/internal'
import {
  type Applicant,
  type Attributes,
  isPresent,
  type LeftReason,
  type Lobby,
  type Member,
  memberOf,
  newMember,
  presentMembers,
  waitingApplicants,
  withEvent,
  withMember,
} from './lobby.js'
import type { LobbyCommand } from './command.js'
import { type LobbyRules, type LobbyRefusal, refuse } from '../lobby-rules.js'
import { endRun, leaveRun, moveRun, unseat } from './run.js'

/**
 * Maximum number of applicants that wait for the host: as many as a full lobby has players (our choice). One address
 * may have at most 8, as many as a household may have players.
 */
const MOST_APPLICANTS = 64
const MOST_OF_ADDRESS = 8
/** Maximum number of remembered denied applicants. Beyond it, the earliest denied is forgotten, and may apply again. */
const MOST_DENIED = 64
/** Maximum number of remembered banned players. Beyond it, the earliest banned is forgotten. */
const MOST_BANNED = 256

type Join = Extract<LobbyCommand, { readonly kind: 'join' }>

/** Adds a new member, brings a departed member back, or makes the player an applicant who waits for the host. */
export function join(lobby: Lobby, now: number, command: Join): Lobby | LobbyRefusal {
  const { playerId, ip, by, digest, data } = command
  const member = memberOf(lobby, playerId)
  if (member !== undefined) return comeBack(lobby, now, member, ip)
  if (lobby.banned.includes(playerId) || (by === 'id' && lobby.visibility === 'private')) return refuse('not-joinable')
  if (lobby.entry.kind === 'password' && digest !== lobby.entry.digest) return refuse('not-joinable')
  if (isTooLate(lobby) || lobby.members.length >= lobby.maxPlayers) return refuse('not-joinable')
  return lobby.entry.kind === 'approval' ? apply(lobby, now, command) : admit(lobby, now, playerId, ip, data)
}

const isTooLate = ({ phase, lateJoin, outcome }: Lobby): boolean =>
  phase !== 'open' && (!lateJoin || outcome === 'match')

/** Gives a returning member the same slot and a new token; also a present player whose address has changed. */
function comeBack(lobby: Lobby, now: number, member: Member, ip: string): Lobby {
  const moved = member.ip === ip ? lobby : unseat(lobby, member.id)
  if (isPresent(member)) return withMember(moved, { ...member, ip, lastSeenAt: now })
  const back = withMember(moved, { ...member, ip, presentSince: now, awaySince: undefined, lastSeenAt: now })
  return withHost(withEvent(back, now, { type: 'member.back', playerId: member.id }), now)
}

function apply(lobby: Lobby, now: number, { playerId, ip, data }: Join): Lobby | LobbyRefusal {
  const known = lobby.applicants.find(({ id }) => id === playerId)
  if (known?.denied === true || (known === undefined && isCrowded(lobby, ip))) return refuse('not-joinable')
  const applicant: Applicant = { id: playerId, ip, since: known?.since ?? now, data, denied: false }
  if (known !== undefined)
    return { ...lobby, applicants: lobby.applicants.map((one) => (one === known ? applicant : one)) }
  const waiting: Lobby = { ...lobby, applicants: [...lobby.applicants, applicant] }
  // Without a host, the next host is told.
  return lobby.hostId === undefined ? waiting : tellOfApplicant(waiting, now, applicant, lobby.hostId)
}

const tellOfApplicant = (lobby: Lobby, now: number, { id }: Applicant, hostId: string): Lobby =>
  withEvent(lobby, now, { type: 'applicant.waiting', playerId: id }, hostId)

/** Tells an applicant who waits that the host will not decide any more. */
export const dismiss = (lobby: Lobby, now: number, { id }: Applicant): Lobby =>
  withEvent(lobby, now, { type: 'applicant.decided', approved: false }, id)

/** True if too many applicants wait. Denied applicants do not count, so they do not keep others out. */
function isCrowded(lobby: Lobby, ip: string): boolean {
  const waiting = waitingApplicants(lobby)
  const block = addressBlock(ip)
  return (
    waiting.length >= MOST_APPLICANTS ||
    waiting.filter((one) => addressBlock(one.ip) === block).length >= MOST_OF_ADDRESS
  )
}

export function decide(lobby: Lobby, now: number, applicantId: string, approve: boolean): Lobby | LobbyRefusal {
  const applicant = lobby.applicants.find(({ id, denied }) => id === applicantId && !denied)
  if (applicant === undefined) return refuse('no-such-player')
  if (approve && isTooLate(lobby)) return refuse('already-started')
  if (approve && lobby.members.length >= lobby.maxPlayers) return refuse('lobby-full')
  const rest = lobby.applicants.filter((other) => other !== applicant)
  const decided = withEvent(
    { ...lobby, applicants: approve ? rest : withDenied(rest, { ...applicant, since: now, denied: true }) },
    now,
    { type: 'applicant.decided', approved: approve },
    applicantId,
  )
  return approve ? admit(decided, now, applicantId, applicant.ip, applicant.data ?? {}) : decided
}

/** Denied applicants are stored in the order of their denial, the earliest first. */
function withDenied(applicants: readonly Applicant[], one: Applicant): readonly Applicant[] {
  const denied = [...applicants.filter((other) => other.denied), one].slice(-MOST_DENIED)
  return [...applicants.filter((other) => !other.denied), ...denied]
}

function admit(lobby: Lobby, now: number, id: string, ip: string, data: Attributes): Lobby {
  const slot = slotFor(lobby, now, id)
  const member = newMember({ id, ip, slot, data }, now)
  const after = lobby.members.findIndex((one) => one.slot > slot)
  const members = lobby.members.toSpliced(after === -1 ? lobby.members.length : after, 0, member)
  const joined = { ...lobby, members, departed: lobby.departed.filter((one) => one.id !== id) }
  return withHost(withEvent(joined, now, { type: 'member.joined', playerId: id, slot }), now)
}

/**
 * Returns the free slot that the player had before. Otherwise the lowest free slot, preferably one that is not reserved
 * for a departed player.
 */
function slotFor({ members, departed, maxPlayers }: Lobby, now: number, playerId: string): number {
  const held = departed.filter(({ until }) => until > now)
  const before = held.find(({ id }) => id === playerId)?.slot
  if (before !== undefined && isFree(before, members)) return before
  let lowest = 0
  while (!isFree(lowest, members)) lowest += 1
  for (let slot = lowest; slot < maxPlayers; slot += 1) if (isFree(slot, members) && isFree(slot, held)) return slot
  return lowest
}

const isFree = (slot: number, those: readonly { readonly slot: number }[]) => those.every((one) => one.slot !== slot)

export function remove(lobby: Lobby, now: number, member: Member, reason: LeftReason, rules: LobbyRules): Lobby {
  const kept = lobby.departed.filter(({ id, until }) => id !== member.id && until > now)
  const leaver = { id: member.id, slot: member.slot, until: now + rules.holdSlotMs }
  const without = leaveRun(lobby, now, member.id)
  const left: Lobby = {
    ...without,
    members: without.members.filter(({ id }) => id !== member.id),
    departed: reason === 'left' ? [...kept, leaver].slice(-lobby.maxPlayers) : kept,
  }
  const notified = withEvent(left, now, { type: 'you.left', reason }, member.id)
  return withHost(withEvent(notified, now, { type: 'member.left', playerId: member.id, reason }), now)
}

export function kick(
  lobby: Lobby,
  now: number,
  targetId: string,
  ban: boolean,
  rules: LobbyRules,
): Lobby | LobbyRefusal {
  const target = memberOf(lobby, targetId)
  if (targetId === lobby.hostId) return refuse('own-player')
  if (target === undefined && !ban) return refuse('no-such-player')
  const banned = ban ? [...lobby.banned.filter((id) => id !== targetId), targetId].slice(-MOST_BANNED) : lobby.banned
  const applicants = ban ? lobby.applicants.filter(({ id }) => id !== targetId) : lobby.applicants
  const refused = ban ? waitingApplicants(lobby).filter(({ id }) => id === targetId) : []
  const marked = refused.reduce((left, one) => dismiss(left, now, one), { ...lobby, banned, applicants })
  return target === undefined ? marked : remove(marked, now, target, ban ? 'banned' : 'kicked', rules)
}

export function goAway(lobby: Lobby, now: number, member: Member): Lobby {
  const away = withMember(leaveRun(lobby, now, member.id), {
    ...member,
    presentSince: undefined,
    awaySince: now,
    ready: false,
  })
  return withHost(withEvent(away, now, { type: 'member.away', playerId: member.id }), now)
}

export function transferHost(lobby: Lobby, now: number, targetId: string): Lobby | LobbyRefusal {
  const target = memberOf(lobby, targetId)
  if (targetId === lobby.hostId) return refuse('own-player')
  if (target === undefined || !isPresent(target)) return refuse('no-such-player')
  return moveRun(hostedBy(lobby, now, targetId), now, true)
}

/**
 * Ensures that the host is present: otherwise the member present for longest becomes the host. Peers communicate only
 * through the host, so without its host a session is useless and ends immediately.
 */
function withHost(lobby: Lobby, now: number): Lobby {
  const emptySince = lobby.members.some(isPresent) ? undefined : (lobby.emptySince ?? now)
  const filled: Lobby = emptySince === lobby.emptySince ? lobby : { ...lobby, emptySince }
  const host = lobby.hostId === undefined ? undefined : memberOf(lobby, lobby.hostId)
  if (host !== undefined && isPresent(host)) return filled
  const present = presentMembers(lobby)
  const [next] = present.toSorted((a, b) => (a.presentSince ?? 0) - (b.presentSince ?? 0) || a.slot - b.slot)
  if (next !== undefined) return moveRun(hostedBy(filled, now, next.id), now, false)
  return lobby.hostId === undefined ? filled : endRun(hostedBy(filled, now, undefined), now)
}

/** Makes a member the host, and tells them who waits for a decision. */
function hostedBy(lobby: Lobby, now: number, hostId: string | undefined): Lobby {
  const hosted = withEvent({ ...lobby, hostId }, now, { type: 'host.changed', hostId: hostId ?? null })
  if (hostId === undefined) return hosted
  return waitingApplicants(lobby).reduce((told, one) => tellOfApplicant(told, now, one, hostId), hosted)
}
