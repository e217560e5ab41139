// pure: the bodies in which clients of the ticket API describe players
import { z } from 'zod'

/** Maximum length of each field in characters, except `priority`: its maximum value. */
const MOST = { profile: 64, ticketId: 64, playerId: 128, address: 64, priority: 100 }
const MOST_PROFILES = 16
const id = z.string().min(1).max(MOST.playerId)
const profile = z.string().max(MOST.profile)
const ticketId = z.string().max(MOST.ticketId)
const priority = z.int().min(-MOST.priority).max(MOST.priority)
const list = z.array(z.string().max(128)).max(256)

/** The header by which a player who shares a token proves who they are. It works without a body too. */
export const SECRET_HEADER = 'x-player-secret'
/** Minimum and maximum number of characters of a secret (our choice). */
export const SECRET_LENGTH = { least: 16, most: 256 } as const

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The matchmaker checks attributes, because it knows what a queue needs. */
const attributes = z
  .custom<Readonly<Record<string, unknown>>>(isObject, 'must be an object')
  .nullish()
  .meta({
    type: ['object', 'null'],
    additionalProperties: { type: ['number', 'string', 'array', 'object'], items: { type: 'string' } },
    description: 'Values that the rules of the profile compare; `beacons`: milliseconds by the city of each beacon',
  })

/** The fields of a body about one player. */
const playerKeys = {
  attributes,
  player_ip: z
    .string()
    .max(MOST.address)
    .nullish()
    .describe('Taken from backends only; for a player, the address of the request counts'),
  roles: list.optional().describe('Roles that the player would play'),
  avoid: list.optional().describe('Ids of players not to be matched with'),
  player_id: id.optional().describe('By a backend: who the player is. By a player who shares a token: any name'),
  player_secret: z
    .string()
    .min(SECRET_LENGTH.least)
    .max(SECRET_LENGTH.most)
    .optional()
    .describe(
      'With `player_id` and a token that players share: a random text that the client keeps. Not needed with the ' +
        'header `x-player-secret`',
    ),
  coordinates: z
    .object({ latitude: z.number(), longitude: z.number() })
    .optional()
    .describe('From a backend only: degrees'),
}

/** The fields that name profiles. A profile is a queue of the matchmaker. */
const profileKeys = {
  profile: profile.optional(),
  profiles: z
    .array(profile)
    .min(1)
    .max(MOST_PROFILES)
    .optional()
    .describe('Instead of `profile`: several, of which the first match wins'),
}

const ticketKeys = {
  id: ticketId.optional().describe('By a backend: creating the same ticket twice is creating it once'),
  priority: priority.optional().describe('By a backend: higher is served first'),
}

export type PlayerBody = z.infer<typeof PlayerBody>
const PlayerBody = z.strictObject(playerKeys)

export type TicketBody = z.infer<typeof TicketBody>
export const TicketBody = z.strictObject({ ...profileKeys, ...playerKeys, ...ticketKeys }).meta({ id: 'CreateTicket' })

/** A party. All its players name the same profile, and the party waits in that queue. */
export type PartyBody = z.infer<typeof PartyBody>
export const PartyBody = z.strictObject({
  ...ticketKeys,
  player_tickets: z
    .array(z.strictObject({ ...profileKeys, ...playerKeys }))
    .min(1)
    .max(500),
})

/** A match whose players are given. */
export type MatchBody = z.infer<typeof MatchBody>
export const MatchBody = z
  .strictObject({
    id: z.string().max(60).optional().describe('Making the same match twice is making it once'),
    profile,
    teams: z
      .array(
        z.strictObject({
          name: z.string().max(128).describe('One of the profile’s teams, as `team_id` names it'),
          players: z
            .array(z.strictObject({ ...playerKeys, player_id: id }))
            .min(1)
            .max(500),
        }),
      )
      .min(1)
      .max(500)
      .describe('The teams that have players; a team may have fewer players than the profile requires, but not more'),
    skip_acceptance: z
      .boolean()
      .optional()
      .describe('Whether players need not accept the match, in a profile with acceptance; default false'),
  })
  .meta({ id: 'CreateMatch' })

export const MemberBody = z.strictObject({
  profile: z.string().min(1).max(64),
  is_ready: z.boolean().default(true),
  ...playerKeys,
})

export type PresentBody = z.infer<typeof PresentBody>
/** A player who is in the match already. Their location is not needed. */
const PresentBody = z.strictObject({ player_id: id, attributes, roles: playerKeys.roles, avoid: playerKeys.avoid })

const backfillTeams = z
  .array(
    z.strictObject({
      name: z.string().min(1).max(64),
      slots: z
        .int()
        .min(0)
        .max(500)
        .optional()
        .describe('How many more players it takes; default: as many as it lacks'),
      players: z
        .array(PresentBody)
        .max(500)
        .optional()
        .describe('Who is in it; default: those who were matched and did not leave'),
    }),
  )
  .min(1)
  .max(64)

export type BackfillBody = z.infer<typeof BackfillBody>
export const BackfillBody = z.strictObject({
  profile: profile.optional(),
  tickets: z.custom<Readonly<Record<string, unknown>>>(isObject, 'must be an object').optional().meta({
    type: 'object',
    description: 'Tickets of the players who are in the match, by id; who is missing has left',
  }),
  attributes: z
    .custom<Readonly<Record<string, unknown>>>(isObject, 'must be an object')
    .nullish()
    .meta({ type: ['object', 'null'], description: 'Existing servers send their assignment; it is not needed' }),
  match_id: z.string().max(128).optional().describe('Instead of `tickets`: the match'),
  id: ticketId.optional().describe('Creating the same backfill twice is creating it once'),
  priority: priority.optional(),
  teams: backfillTeams.optional().describe('Default: every team, as far as it lacks players'),
})

export type BackfillTeamBody = z.infer<typeof backfillTeams>[number]
export type BackfillChangeBody = z.infer<typeof BackfillChangeBody>
export const BackfillChangeBody = z.strictObject({
  version: z.int().min(1).describe('That of the backfill as one knows it'),
  teams: backfillTeams,
})
