import type { PrivateMatch } from '../tickets/private-matches.js'
import type { MatchBody } from './bodies.js'
import type { ReadPlayer, Speaker } from './players.js'
import type { TicketService } from './service.js'
import { partyViews, type TicketView } from './views.js'

/** A match of given players. */
export interface PrivateMatchView {
  readonly id: string
  readonly profile: string
  readonly match_id: string | null
  readonly player_tickets: readonly TicketView[]
}

/** Makes matches of given players, for backends. */
export interface Matches {
  create(body: MatchBody, speaker: Speaker): Promise<PrivateMatchView>
}

export function createMatches(service: Pick<TicketService, 'createMatch'>, readPlayer: ReadPlayer): Matches {
  return {
    create: async ({ id, profile, teams, skip_acceptance: skipAcceptance }, speaker) => {
      const read = teams.map(async ({ name, players }) => ({
        name,
        players: await Promise.all(players.map((player) => readPlayer(player, speaker, [profile]))),
      }))
      const match = await service.createMatch({ id, queue: profile, teams: await Promise.all(read), skipAcceptance })
      return matchView(match, profile)
    },
  }
}

const matchView = ({ id, tickets }: PrivateMatch, profile: string): PrivateMatchView => ({
  id,
  profile,
  match_id: tickets.find(({ matchId }) => matchId !== undefined)?.matchId ?? null,
  player_tickets: tickets.flatMap((ticket) => partyViews(ticket)),
})
