// pure: what a lobby is
import type { ReadySession } from '../sessions/session.js'
import type { LobbyEvent } from './event.js'
import type { Attributes } from './attributes.js'

/** How players who have found the lobby may join. */
export type Entry =
  | { readonly kind: 'open' }
  /** `digest` is made of the password and `salt`; the password itself is not kept. */
  | { readonly kind: 'password'; readonly salt: string; readonly digest: string }
  /** The host decides about each player. */
  | { readonly kind: 'approval' }

export interface Member {
  readonly id: string
  /** Canonical address; no other player ever sees it. */
  readonly ip: string
  /** From 0; unique in the lobby. */
  readonly slot: number
  /** Epoch milliseconds since when the player has been present without a break; undefined while away. */
  readonly presentSince: number | undefined
  /** Epoch milliseconds since when the player is away; the slot is held for a while. Undefined while present. */
  readonly awaySince: number | undefined
  readonly lastSeenAt: number
  readonly ready: boolean
  readonly data: Attributes
  readonly dataVersion: number
}

/** A player who waits for the host's decision. */
export interface Applicant {
  readonly id: string
  readonly ip: string
  readonly since: number
  /** Whether the host has denied the player. Remembered for a while, so that asking again changes nothing. */
  readonly denied: boolean
}

/** What a started lobby has become. The term rises with every new run. */
export type Run =
  /** `worker` is the process that has begun the run; if that process is gone, a session of it may be left. */
  | { readonly status: 'allocating'; readonly term: number; readonly worker: string | undefined }
  | { readonly status: 'relayed'; readonly term: number; readonly session: ReadySession }
  /** The matchmaker has the players, and looks for others or for a server. */
  | { readonly status: 'handed-over'; readonly term: number; readonly reference: string }
  | { readonly status: 'assigned'; readonly term: number; readonly assignment: Attributes }

/** A relay session, or a reference of the matchmaker, that is to be ended. */
export interface Retired {
  readonly id: string
  /** The term that must be running before this is ended, because peers still use it. */
  readonly afterTerm: number | undefined
}

/**
 * A lobby as a store keeps it: plain data with secrets and addresses. Never changed in place, except that a store may
 * note there when a member was last heard of (`LobbyStore.noteSeen`).
 */
export interface Lobby {
  readonly id: string
  readonly code: string
  readonly visibility: 'public' | 'private'
  readonly maxPlayers: number
  readonly entry: Entry
  /** Whether players may come in after the start. */
  readonly lateJoin: boolean
  /** Whether all present members must be ready for the start. */
  readonly requireReady: boolean
  readonly outcome: 'relay' | 'match'
  readonly createdAt: number
  /** Epoch milliseconds of the last command other than a heartbeat. */
  readonly activeAt: number
  readonly phase: 'open' | 'starting' | 'running' | 'closed'
  readonly closedAt: number | undefined
  /** Undefined only while nobody is present. */
  readonly hostId: string | undefined
  /** By slot. */
  readonly members: readonly Member[]
  readonly emptySince: number | undefined
  readonly applicants: readonly Applicant[]
  /** Banned players, the longest banned first. */
  readonly banned: readonly string[]
  /** Slots that players who left can have back if these are still free. */
  readonly departed: readonly { readonly id: string; readonly slot: number; readonly until: number }[]
  readonly data: Attributes
  readonly dataVersion: number
  /** Term of the last run, also if that has ended. */
  readonly term: number
  readonly run: Run | undefined
  readonly retired: readonly Retired[]
  /** The process that handles the run at present, and until when. */
  readonly lease: { readonly worker: string; readonly until: number } | undefined
  /** Number of the last event. */
  readonly seq: number
  /** The last events, oldest first. */
  readonly events: readonly LobbyEvent[]
}

export const isPresent = ({ awaySince }: Member): boolean => awaySince === undefined
export const presentMembers = ({ members }: Lobby): readonly Member[] => members.filter(isPresent)
export const memberOf = ({ members }: Lobby, playerId: string): Member | undefined =>
  members.find(({ id }) => id === playerId)

/**
 * The lobby with other values of some fields. Each field is named: a spread of so many fields makes lists of them that
 * grow step by step, four times as many bytes as the lobby itself.
 */
export function lobbyWith(lobby: Lobby, changes: Partial<Lobby>): Lobby {
  const copy: Lobby = {
    id: lobby.id,
    code: lobby.code,
    visibility: lobby.visibility,
    maxPlayers: lobby.maxPlayers,
    entry: lobby.entry,
    lateJoin: lobby.lateJoin,
    requireReady: lobby.requireReady,
    outcome: lobby.outcome,
    createdAt: lobby.createdAt,
    activeAt: lobby.activeAt,
    phase: lobby.phase,
    closedAt: lobby.closedAt,
    hostId: lobby.hostId,
    members: lobby.members,
    emptySince: lobby.emptySince,
    applicants: lobby.applicants,
    banned: lobby.banned,
    departed: lobby.departed,
    data: lobby.data,
    dataVersion: lobby.dataVersion,
    term: lobby.term,
    run: lobby.run,
    retired: lobby.retired,
    lease: lobby.lease,
    seq: lobby.seq,
    events: lobby.events,
  }
  return Object.assign(copy, changes)
}

export const withMember = (lobby: Lobby, member: Member): Lobby =>
  lobbyWith(lobby, { members: lobby.members.map((other) => (other.id === member.id ? member : other)) })

/** The session that relays for the lobby now. */
export const sessionOf = ({ run }: Lobby): ReadySession | undefined =>
  run?.status === 'relayed' ? run.session : undefined
