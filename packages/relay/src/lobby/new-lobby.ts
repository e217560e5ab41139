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
export function newLobby({ host, ...lobby }: NewLobby, now: number): Lobby {
  return {
    ...lobby,
    createdAt: now,
    activeAt: now,
    phase: 'open',
    closedAt: undefined,
    hostId: host.id,
    members: [
      { ...host, slot: 0, presentSince: now, awaySince: undefined, lastSeenAt: now, ready: false, dataVersion: 1 },
    ],
    emptySince: undefined,
    applicants: [],
    banned: [],
    departed: [],
    dataVersion: 1,
    term: 0,
    run: undefined,
    retired: [],
    lease: undefined,
    seq: 0,
    events: [],
  }
}
