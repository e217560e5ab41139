import { z } from 'zod'
import { DURATION, durationOf, LONGEST_MS, NO_DURATION, TOO_LONG } from './scene.js'

/**
 * The schemas of the parts of a scene file, as its author writes them. Each part is validated separately, so that all
 * faults are reported.
 */

/** Maximum number of copies of a ticket. */
const MOST_COPIES = 1000
/** Maximum number of players in a ticket, as in the matchmaker. */
const MOST_PLAYERS = 100

const duration = z
  .union([z.literal(0), z.string().regex(DURATION, NO_DURATION)], { error: NO_DURATION })
  .transform((given) => (given === 0 ? 0 : (durationOf(given) ?? 0)))
  .refine((ms) => ms <= LONGEST_MS, TOO_LONG)

const nameText = z.string().min(1)
/** The schema of a name or a list of names. */
const nameList = z
  .union([nameText, z.array(nameText).min(1)], { error: 'must be a name, or a list of names' })
  .transform((given) => (typeof given === 'string' ? [given] : given))
/** The schema of a list with names and lists of names. */
const groups = z
  .union([nameText, z.array(z.union([nameText, z.array(nameText).min(1)])).min(1)], {
    error: 'must be a list of names, or a list of such lists',
  })
  .transform((given) => (typeof given === 'string' ? [given] : given))

const attribute = z.union([z.number(), z.boolean(), z.string(), z.array(z.string())], {
  error: 'must be a number, a text, true or false, or a list of texts',
})
const evenly = z
  .strictObject({ from: z.number().describe('Of the first copy.'), to: z.number().describe('Of the last copy.') })
  .describe('Numbers spread evenly over the copies of a ticket, from the first to the last.')
const attributeOrSpread = z.union([z.number(), z.boolean(), z.string(), z.array(z.string()), evenly], {
  error: 'must be a number, a text, true or false, a list of texts, or { from, to }',
})

/** Creates the schema of an object whose unknown names are attributes. The output has them in `short`. */
const withAttributes = <Shape extends z.ZodRawShape, Value extends z.ZodType>(shape: Shape, value: Value) =>
  z
    .object(shape)
    .catchall(value)
    .transform((given) => {
      const entries = Object.entries(given)
      const fields = Object.fromEntries(entries.filter(([field]) => Object.hasOwn(shape, field)))
      const short = Object.fromEntries(entries.filter(([field]) => !Object.hasOwn(shape, field)))
      return { ...fields, short } as z.output<z.ZodObject<Shape>> & {
        readonly short: Readonly<Record<string, z.output<Value>>>
      }
    })

/** Creates the schema of an optional field with its description. */
const optional = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  schema.optional().describe(description)

const aboutPlayers = {
  city: optional(nameText, 'The city where the players are, in place of coordinates.'),
  coordinates: optional(
    z.strictObject({
      latitude: z.number().min(-90).max(90).describe('Degrees, positive to the north.'),
      longitude: z.number().min(-180).max(180).describe('Degrees, positive to the east.'),
    }),
    'Where the players are, in degrees.',
  ),
  ip: optional(nameText, 'IP address, for players whose place is unknown.'),
  latencies: optional(
    z.record(nameText, z.number().positive()),
    'Round-trip times to beacons in milliseconds, by the name of the beacon.',
  ),
  roles: optional(nameList, 'Roles that the players are willing to play.'),
  avoid: optional(nameList, 'Tickets or players who must not be in their match.'),
  attributes: optional(
    z.record(nameText, attribute),
    'Attributes whose names are also names of fields. Write all others as fields: `skill: 1500`.',
  ),
}

const aboutTickets = {
  queue: optional(nameText, 'The queue to wait in.'),
  queues: optional(z.array(nameText).min(1), 'The queues to wait in at once.'),
  ...aboutPlayers,
  party: optional(z.int().min(1).max(MOST_PLAYERS), 'Number of players in the ticket, all alike. Default 1.'),
  priority: optional(z.int().min(-100).max(100), 'Higher is served first. Default 0.'),
  answer: optional(
    z.enum(['accept', 'decline', 'none']),
    'What the players do when they are asked whether they accept a match. Default: accept at once.',
  ),
}

const ofPlayer = {
  id: optional(
    nameText,
    'Id of the player, e.g. to bring the same player again. Default: made from the name of the ticket.',
  ),
  ...aboutPlayers,
}

/** The schema of a player in a party. */
const playerSchema = withAttributes(ofPlayer, attribute)

/** The schema of the default settings of tickets. */
export const defaultsSchema = withAttributes(aboutTickets, attribute)

const ofTicket = {
  at: optional(duration, 'When the ticket is created. Default 0s.'),
  ...aboutTickets,
  players: optional(
    z.array(playerSchema).min(1).max(MOST_PLAYERS),
    'The players of a party, if they differ. A player takes each missing field from the ticket.',
  ),
  count: optional(
    z.int().min(1).max(MOST_COPIES),
    'Number of copies of this ticket: `a` becomes a-1, a-2, …, and the name `a` stands for all of them.',
  ),
  every: optional(duration, 'Time between one copy and the next. Default 0s.'),
}

export const ticketSchema = withAttributes(ofTicket, attributeOrSpread)

/** The names of fields in a ticket and in a player. All other names are attributes. */
export const TICKET_FIELDS: readonly string[] = Object.keys(ofTicket)
export const PLAYER_FIELDS: readonly string[] = Object.keys(ofPlayer)

export const happeningSchema = z.strictObject({
  cancel: optional(nameList, 'Tickets that are cancelled by their players.'),
  accept: optional(nameList, 'Tickets whose players accept the match that was found.'),
  decline: optional(nameList, 'Tickets whose players decline the match that was found.'),
  leave: optional(nameList, 'Tickets whose players leave their match.'),
  pause: optional(nameList, 'Queues that are paused.'),
  resume: optional(nameList, 'Queues whose pause ends.'),
})

const howMany = z.strictObject({
  min: optional(z.int().min(0), 'Minimum number of matches.'),
  max: optional(z.int().min(0), 'Maximum number of matches.'),
})
const limits = z.record(nameText, z.number().min(0))
/** The schema of names, optionally with a reason for each. */
const withReasons = z
  .union([nameList, z.record(nameText, z.string().min(1))], { error: 'must be a list of names, or names with reasons' })
  .transform((given) => (Array.isArray(given) ? given.map((one) => [one, undefined] as const) : Object.entries(given)))

export const expectationSchema = z.strictObject({
  matched: optional(
    groups,
    'Tickets that are in a match. A list within the list is one match: of exactly these tickets.',
  ),
  'not matched': optional(nameList, 'Tickets that are in no match.'),
  together: optional(groups, 'Tickets that are in one match, perhaps with others.'),
  apart: optional(groups, 'Tickets of which no two are in one match.'),
  waiting: optional(
    withReasons,
    'Tickets that wait. By ticket, the reason: the rule that blocks it, `players` if too few wait, or `paused`.',
  ),
  refused: optional(withReasons, 'Tickets that no queue accepts. By ticket, a part of the reason.'),
  ended: optional(
    z.record(nameText, nameText),
    'Tickets that ended without a match. By ticket, the reason: expired, cancelled, declined, not-accepted, …',
  ),
  teams: optional(
    z.union([z.array(z.array(nameText).min(1)).min(1), z.record(nameText, nameList)], {
      error: 'must be the teams of one match: lists of names, or lists by the name of the team',
    }),
    'The teams of one match, in any order or by name, with exactly these tickets.',
  ),
  matches: optional(
    z.union([z.int().min(0), howMany], {
      error: 'must be a whole number, or { min, max }',
    }),
    'How many matches there are in all.',
  ),
  within: optional(duration, 'Time within which the tickets of matched and together were matched.'),
  balance: optional(limits, 'By attribute: the maximum difference between the averages of the teams, in every match.'),
  spread: optional(limits, 'By attribute: the maximum difference between the players, in every match.'),
})

export type TicketForm = z.output<typeof ticketSchema>
export type DefaultsForm = z.output<typeof defaultsSchema>
export type PlayerForm = z.output<typeof playerSchema>
export type ExpectationForm = z.output<typeof expectationSchema>

/** The schema of a whole scene, in which the parts are not validated yet. */
export const sceneSchema = z.strictObject({
  name: z.string().min(1).max(200).describe('What the scene shows, in a sentence.'),
  queue: optional(nameText, 'The queue to wait in, unless a ticket names another. A file of one queue needs none.'),
  defaults: z.unknown().optional(),
  tickets: z.record(z.string(), z.unknown()).refine((all) => Object.keys(all).length > 0, 'must not be empty'),
  happens: z.record(z.string(), z.unknown()).optional(),
  expect: z
    .record(z.string(), z.unknown(), { error: 'must be moments with what is expected then, e.g. after 12s' })
    .refine((all) => Object.keys(all).length > 0, 'is empty: write what is expected, e.g. after 12s'),
})

/** The schema of a whole file, in which the scenes are not validated yet. */
export const fileSchema = z.strictObject({
  queues: z.unknown().optional(),
  defaults: z.unknown().optional(),
  scenes: z.array(z.unknown()).min(1).max(1000),
})

type Json = Readonly<Record<string, unknown>>

/** The JSON Schema draft that editors support best. The configuration's schema uses it too. */
const DRAFT = 'http://json-schema.org/draft-07/schema#'

const TIME = DURATION.source.slice(1)

/**
 * Returns the JSON Schema of a scene file, for editors. `muster lab test` finds more faults than a schema can express,
 * e.g. unknown names of tickets.
 */
export function scenesJsonSchema(): Json {
  const of = (schema: z.ZodType): Json => {
    const { $schema: _, ...json } = z.toJSONSchema(schema, { io: 'input', target: 'draft-7', unrepresentable: 'any' })
    return json
  }
  const part = (name: string): Json => ({ $ref: `#/definitions/${name}` })
  const moments = (names: RegExp, name: string, description: string): Json => ({
    type: 'object',
    description,
    minProperties: 1,
    propertyNames: { pattern: names.source },
    additionalProperties: part(name),
  })
  const scene = of(sceneSchema)
  const file = of(fileSchema)
  return {
    $schema: DRAFT,
    title: 'Scenes of the rule lab',
    ...file,
    properties: {
      queues: {
        description: 'The file of the queues, beside this file, e.g. ./muster.yaml; or the queues themselves.',
        anyOf: [{ type: 'string' }, { type: 'array', items: { type: 'object' } }],
      },
      defaults: part('defaults'),
      scenes: { type: 'array', description: 'The scenes, each by itself.', minItems: 1, items: part('scene') },
    },
    definitions: {
      scene: {
        ...scene,
        properties: {
          ...(scene['properties'] as Json),
          defaults: part('defaults'),
          tickets: {
            type: 'object',
            description: 'The tickets, by the names that expectations call them by.',
            minProperties: 1,
            additionalProperties: part('ticket'),
          },
          happens: moments(new RegExp(`^after +${TIME}`), 'happening', 'What happens, by its time: `after 5s`.'),
          expect: moments(
            new RegExp(`^(after|by) +${TIME}`),
            'expectation',
            'What must be so, by its time: `after 12s`, as it is then; `by 20s`, at some time until then.',
          ),
        },
      },
      defaults: of(defaultsSchema),
      ticket: { anyOf: [of(ticketSchema), { type: 'null' }] },
      happening: of(happeningSchema),
      expectation: of(expectationSchema),
    },
  }
}
