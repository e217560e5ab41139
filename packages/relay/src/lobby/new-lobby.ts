// pure: the initial state of a lobby
import type { Attributes } from './attributes.js'
import type { Entry, Lobby } from './lobby.js'

export interface NewLobby {
  readonly id: string
  readonly code: string
  readonly visibility: Lobby['visibility']
  readonly maxPlayers: number
  readonly entry: Entry
  readonly lateJoin: boolean
  readonly requireReady: boolean
  readonly outcome: Lobby['outcome']
  readonly data: Attributes
  readonly host: { readonly id: string; readonly ip: string; readonly data: Attributes }
}

/** Creates a lobby whose creator is its first member and its host. */
export function newLobby(given: NewLobby, now: number): Lobby {
  const { host } = given
  return {
    id: given.id,
    code: given.code,
    visibility: given.visibility,
    maxPlayers: given.maxPlayers,
    entry: given.entry,
    lateJoin: given.lateJoin,
    requireReady: given.requireReady,
    outcome: given.outcome,
    createdAt: now,
    activeAt: now,
    phase: 'open',
    closedAt: undefined,
    hostId: host.id,
    members: [
      {
        id: host.id,
        ip: host.ip,
        slot: 0,
        presentSince: now,
        awaySince: undefined,
        lastSeenAt: now,
        ready: false,
        data: host.data,
        dataVersion: 1,
      },
    ],
    emptySince: undefined,
    applicants: [],
    banned: [],
    departed: [],
    data: given.data,
    dataVersion: 1,
    term: 0,
    run: undefined,
    retired: [],
    lease: undefined,
    seq: 0,
    events: [],
  }
}
