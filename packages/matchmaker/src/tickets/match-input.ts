import { z } from 'zod'
import { InvalidMatch } from '../errors.js'
import { read } from '@muster/core/validation'
import type { Player } from '@muster/servers'
import { complete, MOST, type TicketPlayer } from './checked-ticket.js'
import { locatedPlayer } from './ticket-input.js'
import type { Ticket } from './ticket.js'

/** A match of given players. */
export interface MatchInput {
  /**
   * 1 to 60 of A–Z, a–z, 0–9, _ and -. Making the same match twice is making it once, while its tickets can be read.
   * Default: a new one.
   */
  readonly id?: string | undefined
  /** Name of the queue whose servers, teams and terms apply. Its rules about who may play together do not. */
  readonly queue: string
  /** The teams with players in them, each once. A team may have fewer players than the queue wants, and not more. */
  readonly teams: readonly MatchTeamInput[]
  /** Whether the players are not asked to accept the match, if the queue asks. Default false. */
  readonly skipAcceptance?: boolean | undefined
}

export interface MatchTeamInput {
  /** Name of one of the queue's teams, as tickets tell it: `team` for a queue with `matchSize`. */
  readonly name: string
  readonly players: readonly Player[]
}

/** A match of given players, as it was made. */
export interface PrivateMatch {
  readonly id: string
  /** One for each of the teams, in their order, with all of its players. They tell how the match goes on. */
  readonly tickets: readonly Ticket[]
}

export interface CheckedMatch {
  readonly id: string | undefined
  readonly queue: string
  readonly teams: readonly { readonly name: string; readonly players: readonly TicketPlayer[] }[]
  readonly asks: boolean
}

const schema: z.ZodType<MatchInput> = z.strictObject({
  id: z
    .string()
    .regex(/^[\w-]{1,60}$/, 'must be 1 to 60 of A–Z, a–z, 0–9, _ and -')
    .optional(),
  queue: z.string(),
  teams: z
    .array(z.strictObject({ name: z.string(), players: z.array(locatedPlayer).min(1).max(MOST.players) }))
    .min(1)
    .max(MOST.players)
    .superRefine((teams, context) => {
      const names = new Set<string>()
      const ids = new Set<string>()
      for (const [index, { name, players }] of teams.entries()) {
        if (names.has(name)) context.addIssue({ code: 'custom', path: [index, 'name'], message: 'is there twice' })
        names.add(name)
        for (const [at, { id }] of players.entries()) {
          const path = [index, 'players', at, 'id']
          if (ids.has(id)) context.addIssue({ code: 'custom', path, message: 'is in this match twice' })
          ids.add(id)
        }
      }
    }),
  skipAcceptance: z.boolean().optional(),
})

/** @throws {InvalidMatch} naming the path, and the value unless it is an address. */
export function readMatchInput(input: MatchInput): CheckedMatch {
  const { id, queue, teams, skipAcceptance = false } = read(schema, input, refuseMatch)
  return {
    id,
    queue,
    teams: teams.map(({ name, players }) => ({ name, players: players.map(complete) })),
    asks: !skipAcceptance,
  }
}

export const refuseMatch = (field: string, message: string) => new InvalidMatch(`match: ${message}`, { field })
