import type { TicketCaller } from './caller.js'
import type { Groups } from './groups.js'
import type { LobbyOfPlayer, TicketApiOptions } from './options.js'
import { playerView, type PlayerView } from './player-view.js'
import type { PresenceReporter } from './presence.js'
import type { TicketService } from './service.js'

export interface PlayerOverviewOptions {
  readonly service: Pick<TicketService, 'findPlayer' | 'estimateWait'>
  readonly groups: Pick<Groups, 'ofPlayer'>
  readonly presence: Pick<PresenceReporter, 'seen'>
  readonly lobbies: TicketApiOptions['lobbies']
  readonly onError: (error: unknown) => void
}

/** What a player is in. @param asking the player, if it is the player's client that asks. */
type PlayerOverview = (playerId: string, asking?: TicketCaller) => Promise<PlayerView>

export function createPlayerOverview({
  service,
  groups,
  presence,
  lobbies,
  onError,
}: PlayerOverviewOptions): PlayerOverview {
  /** Undefined if the lobbies cannot be read: that must not keep a player from their match. */
  const lobbiesOf = async (playerId: string): Promise<readonly LobbyOfPlayer[] | undefined> => {
    try {
      return (await lobbies?.(playerId)) ?? []
    } catch (error) {
      onError(error)
      return undefined
    }
  }
  return async (playerId, asking) => {
    const inLobbies = lobbiesOf(playerId)
    const found = await service.findPlayer(playerId)
    if (asking !== undefined) for (const ticket of found.tickets) presence.seen(ticket, asking)
    return playerView(playerId, {
      found,
      estimating: service,
      groups: await groups.ofPlayer(playerId, found.tickets),
      lobbies: await inLobbies,
    })
  }
}
