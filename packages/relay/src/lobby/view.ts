// pure: a player's view of a lobby
import { credentialsFor, type RelayCredentials } from '../sessions/index.js'
import {
  type Attributes,
  type Happening,
  isPresent,
  type Lobby,
  type LobbyEvent,
  type Member,
  memberOf,
  sessionOf,
  waitingApplicants,
} from './lobby.js'

export interface MemberView extends Pick<Member, 'slot' | 'ready' | 'data' | 'dataVersion'> {
  readonly playerId: string
  readonly present: boolean
  readonly host: boolean
}

/** A member's view of the session or match of a started lobby. */
export type RunView =
  /** A session is being prepared. Credentials of earlier sessions (a lower `term`) stay valid until it is ready. */
  | { readonly term: number; readonly status: 'allocating' }
  /** `credentials` are the reader's own; null while they are being fetched for a player who joined late. */
  | { readonly term: number; readonly status: 'relayed'; readonly credentials: RelayCredentials | null }
  | { readonly term: number; readonly status: 'handed-over'; readonly reference: string }
  | { readonly term: number; readonly status: 'assigned'; readonly assignment: Attributes }

/** A member's view of a lobby: without addresses, and with no credentials but the reader's own. */
export interface LobbyView extends Pick<
  Lobby,
  'code' | 'visibility' | 'maxPlayers' | 'lateJoin' | 'requireReady' | 'phase' | 'data' | 'dataVersion'
> {
  readonly lobbyId: string
  readonly entry: 'open' | 'password' | 'approval'
  readonly hostId: string | null
  readonly members: readonly MemberView[]
  /** Ids of the players who wait for the host's decision; empty for members other than the host. */
  readonly applicants: readonly string[]
  readonly run: RunView | null
  /** Epoch milliseconds. */
  readonly createdAt: number
  /** The cursor after which to follow the events. */
  readonly cursor: number
}

/** A public lobby in a list, without its members. */
export interface ListedLobby extends Pick<
  LobbyView,
  'lobbyId' | 'phase' | 'entry' | 'maxPlayers' | 'data' | 'createdAt'
> {
  readonly players: number
}

/** A player's view of an event, with credentials and assignments, which the stored event does not contain. */
export type LobbyEventView = Happening & {
  readonly seq: number
  readonly at: number
  /** With `relay.ready` and `relay.credentials`: the reader's own, if the event's term is still valid. */
  readonly credentials?: RelayCredentials | undefined
  /** With `match.assigned`: the reported assignment, if the event's term is still valid. */
  readonly assignment?: Attributes | undefined
}

export function viewOf(lobby: Lobby, playerId: string): LobbyView {
  return {
    lobbyId: lobby.id,
    code: lobby.code,
    visibility: lobby.visibility,
    maxPlayers: lobby.maxPlayers,
    entry: lobby.entry.kind,
    lateJoin: lobby.lateJoin,
    requireReady: lobby.requireReady,
    phase: lobby.phase,
    hostId: lobby.hostId ?? null,
    members: lobby.members.map((member) => ({
      playerId: member.id,
      slot: member.slot,
      present: isPresent(member),
      host: member.id === lobby.hostId,
      ready: member.ready,
      data: member.data,
      dataVersion: member.dataVersion,
    })),
    applicants: playerId === lobby.hostId ? waitingApplicants(lobby).map(({ id }) => id) : [],
    data: lobby.data,
    dataVersion: lobby.dataVersion,
    run: runView(lobby, playerId),
    createdAt: lobby.createdAt,
    cursor: lobby.seq,
  }
}

export const listedOf = (lobby: Lobby): ListedLobby => ({
  lobbyId: lobby.id,
  phase: lobby.phase,
  entry: lobby.entry.kind,
  maxPlayers: lobby.maxPlayers,
  players: lobby.members.length,
  data: lobby.data,
  createdAt: lobby.createdAt,
})

function runView(lobby: Lobby, playerId: string): RunView | null {
  const { run } = lobby
  switch (run?.status) {
    case undefined:
      return null
    case 'allocating':
      return { term: run.term, status: run.status }
    case 'relayed':
      return { term: run.term, status: run.status, credentials: ownCredentials(lobby, playerId) ?? null }
    case 'handed-over':
      return { term: run.term, status: run.status, reference: run.reference }
    case 'assigned':
      return { term: run.term, status: run.status, assignment: run.assignment }
  }
}

export function ownCredentials(lobby: Lobby, playerId: string): RelayCredentials | undefined {
  const session = sessionOf(lobby)
  return session && credentialsFor(session, playerId)
}

/** Returns the player's view of the event; undefined if it is for other players only. */
export function eventView(lobby: Lobby, { to, ...event }: LobbyEvent, playerId: string): LobbyEventView | undefined {
  if (to === undefined ? memberOf(lobby, playerId) === undefined : to !== playerId) return undefined
  switch (event.type) {
    case 'relay.ready':
    case 'relay.credentials': {
      const credentials = event.term === lobby.run?.term ? ownCredentials(lobby, playerId) : undefined
      return credentials === undefined ? event : { ...event, credentials }
    }
    case 'match.assigned': {
      const { run } = lobby
      return run?.status === 'assigned' && run.term === event.term ? { ...event, assignment: run.assignment } : event
    }
    default:
      return event
  }
}
