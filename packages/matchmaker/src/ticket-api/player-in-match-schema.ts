import { z } from 'zod'
import type { PlayerInMatchView } from './player-view.js'

export const PlayerInMatchSchema: z.ZodType<PlayerInMatchView> = z
  .object({
    player_id: z.string(),
    is_expected: z.boolean().describe('Whether the player is in the match, and has not left it'),
    team_id: z.string().nullable(),
    ticket_id: z.string().nullable(),
  })
  .meta({ id: 'PlayerInMatch' })
