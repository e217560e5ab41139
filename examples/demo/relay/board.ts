// pure: the players in the slots of all lobbies, derived from the lobbies' events
import type { LobbiesEvents, LobbyView } from '@muster/relay'

export type LobbyHappening = Parameters<LobbiesEvents['happened']>[0]

export interface Table {
  /** The player in each slot; undefined for a free slot. */
  readonly seats: readonly (string | undefined)[]
  readonly hostId: string | undefined
  readonly over: boolean
}

export interface Moves {
  readonly joins: number
  readonly cameBack: number
  readonly left: number
  readonly kicked: number
  /** Number of new hosts, because the previous one left or handed over. */
  readonly newHosts: number
}

export interface Board {
  /** A lobby was created, with only its host. */
  opened(view: LobbyView): void
  happened(event: LobbyHappening): void
  table(lobbyId: string): Table
  /** Returns true if the player is or was in a lobby. */
  hasSeen(playerId: string): boolean
  readonly tables: readonly Table[]
  readonly moves: Moves
}

export function createBoard(slots: number): Board {
  const tables = new Map<string, Table>()
  const seen = new Set<string>()
  const moves = { joins: 0, cameBack: 0, left: 0, kicked: 0, newHosts: 0 }

  const table = (lobbyId: string): Table => {
    const found = tables.get(lobbyId)
    if (found === undefined) throw new Error('there is no such lobby')
    return found
  }
  const after = (before: Table, event: LobbyHappening): Table => {
    switch (event.type) {
      case 'member.joined': {
        if (seen.has(event.playerId)) moves.cameBack += 1
        seen.add(event.playerId)
        moves.joins += 1
        return { ...before, seats: before.seats.with(event.slot, event.playerId) }
      }
      case 'member.left':
        moves[event.reason === 'kicked' ? 'kicked' : 'left'] += 1
        return { ...before, seats: before.seats.map((id) => (id === event.playerId ? undefined : id)) }
      case 'host.changed':
        if (event.hostId !== null) moves.newHosts += 1
        return { ...before, hostId: event.hostId ?? undefined }
      case 'lobby.closed':
        return { ...before, over: true }
      default:
        return before
    }
  }

  return {
    opened: ({ lobbyId, members, hostId }) => {
      const seats = Array.from({ length: slots }, (_, slot) => members.find((member) => member.slot === slot)?.playerId)
      for (const { playerId } of members) seen.add(playerId)
      tables.set(lobbyId, { seats, hostId: hostId ?? undefined, over: false })
    },
    happened: (event) => {
      tables.set(event.lobbyId, after(table(event.lobbyId), event))
    },
    table,
    hasSeen: (playerId) => seen.has(playerId),
    get tables() {
      return [...tables.values()]
    },
    moves,
  }
}
