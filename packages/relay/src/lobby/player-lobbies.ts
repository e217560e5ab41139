// pure: the lobbies that players are in

/** Ids of the lobbies in which each player is a member. */
export interface PlayerLobbies {
  enter(playerId: string, lobbyId: string): void
  leave(playerId: string, lobbyId: string): void
  of(playerId: string): readonly string[]
}

const NONE: readonly string[] = []

export function createPlayerLobbies(): PlayerLobbies {
  /** Most players are in one lobby, whose id stands alone. */
  const byPlayer = new Map<string, string | readonly string[]>()

  const idsOf = (playerId: string): readonly string[] => {
    const ids = byPlayer.get(playerId) ?? NONE
    return typeof ids === 'string' ? [ids] : ids
  }

  return {
    enter: (playerId, lobbyId) => {
      const ids = idsOf(playerId)
      if (ids.length === 0) byPlayer.set(playerId, lobbyId)
      else if (!ids.includes(lobbyId)) byPlayer.set(playerId, [...ids, lobbyId])
    },
    leave: (playerId, lobbyId) => {
      const left = idsOf(playerId).filter((id) => id !== lobbyId)
      const [only] = left
      if (only === undefined) byPlayer.delete(playerId)
      else byPlayer.set(playerId, left.length === 1 ? only : left)
    },
    of: idsOf,
  }
}
