import type { Groups } from './groups.js'
import type { LobbyOfPlayer, TicketApiOptions } from './options.js'
import { playerView, type PlayerView } from './player-view.js'
import type { TicketService } from './service.js'

export interface PlayerOverviewOptions {
  readonly service: Pick<TicketService, 'findPlayer'>
  readonly groups: Pick<Groups, 'ofPlayer'>
  readonly lobbies: TicketApiOptions['lobbies']
  readonly onError: (error: unknown) => void
}

/** Creates the function that tells what a player is in. */
export function createPlayerOverview({
  service,
  groups,
  lobbies,
  onError,
}: PlayerOverviewOptions): (playerId: string) => Promise<PlayerView> {
  /** Undefined if the lobbies cannot be read: that must not keep a player from their match. */
  const lobbiesOf = async (playerId: string): Promise<readonly LobbyOfPlayer[] | undefined> => {
    try {
      return (await lobbies?.(playerId)) ?? []
    } catch (error) {
      onError(error)
      return undefined
    }
  }
  return async (playerId) => {
    const inLobbies = lobbiesOf(playerId)
    const found = await service.findPlayer(playerId)
    return playerView(playerId, {
      found,
      groups: await groups.ofPlayer(playerId, found.tickets),
      lobbies: await inLobbies,
    })
  }
}
