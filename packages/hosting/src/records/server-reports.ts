import { faultOfShownName } from '@muster/core/internal'
import { z } from 'zod'

// The requests of game servers, as the HTTP API parses them. Maximum lengths are our choice.

const LONGEST_ID = 128
const id = z.string().min(1).max(LONGEST_ID)
/** Maximum number of players of a match. */
export const MOST_PLAYERS = 1000
const MOST_MATCHES = 64
/** Maximum number of players and teams that one report names in all its matches. A ranking names its players again. */
export const MOST_IN_ALL = 20_000

/**
 * A name that people see: of a queue, a team or a pool, or in the list of servers. It must be visible, must not look
 * like another name, and must not change the log or the terminal that shows it.
 */
export const ShownName = z
  .string()
  .min(1)
  .max(64)
  .superRefine((name, context) => {
    const message = faultOfShownName(name)
    if (message !== undefined) context.addIssue({ code: 'custom', message })
  })

const entriesIn = (given: unknown): number =>
  typeof given === 'object' && given !== null ? Object.keys(given).length : 0

/**
 * Returns a schema that counts the entries of a value before it checks them. Checking takes about a microsecond for
 * each entry, and a hostile server can send 100,000 entries in each report.
 */
const atMost = <Schema extends z.ZodType>(
  schema: Schema,
  most: number,
  what: string,
  count: (given: unknown) => number = entriesIn,
) =>
  z.preprocess((given, context) => {
    if (count(given) <= most) return given
    context.addIssue({ code: 'custom', message: `must have at most ${most} ${what}` })
    return z.NEVER
  }, schema)

/** Attributes of a server, as reported or as requested by players. */
export const ServerAttributes = atMost(
  z.record(z.string().min(1).max(64), z.union([z.string().max(256), z.number(), z.boolean()])),
  32,
  'attributes',
)

const playersOn = atMost(z.record(id, z.enum(['in', 'away', 'left'])).default({}), MOST_PLAYERS, 'players')

const instance = z
  .string()
  .min(1)
  .max(64)
  .describe('Random text that the process makes when it starts: a restarted process is another instance')

/** An id of a deployment of the deployment service: visible ASCII characters. */
const deployment = z
  .string()
  .max(128)
  .regex(/^[!-~]+$/, 'must be 1 to 128 visible ASCII characters')
  .describe('Request id of the deployment that it runs in, from SERVICE_REQUEST_ID. Left out if it runs elsewhere')

/** `POST /servers`: a game server registers with its capabilities. */
export const RegistrationBody = z.strictObject({
  instance,
  deployment: deployment.optional(),
  build: z.string().min(1).max(128).optional().describe('Build of the game; players with another build cannot join'),
  matches: z.number().int().min(1).max(MOST_MATCHES).default(1).describe('Matches that it serves at a time'),
  seats: z.number().int().min(0).max(MOST_PLAYERS).optional().describe('Maximum number of players on it in all'),
  ports: z
    .record(z.string().min(1).max(64), z.number().int().min(1).max(65_535))
    .optional()
    .describe('The ports at which it listens inside its container, by name'),
  attributes: ServerAttributes.optional().describe('Facts about the server, such as its mode or map'),
})

/** The enrolment of a process that Muster has not started, with its identity and its address for players. */
export const EnrolmentBody = RegistrationBody.extend({
  name: z
    .string()
    .min(1)
    .max(128)
    .regex(/^[!-~]+$/, 'must be visible ASCII characters')
    .optional()
    .describe('Of a server that Muster has not started: its machine and slot. A new process can take over the name'),
  address: z
    .strictObject({
      host: z
        .string()
        .min(1)
        .max(253)
        .regex(/^[\w.:-]+$/, 'must be an address or a name')
        .optional()
        .describe('Default: where the request comes from'),
      ports: z
        .record(
          z.string().min(1).max(64),
          z.strictObject({
            port: z.number().int().min(1).max(65_535),
            protocol: z.enum(['UDP', 'TCP', 'TCP/UDP', 'HTTP', 'HTTPS', 'WS', 'WSS']).default('UDP'),
          }),
        )
        .refine((given) => Object.keys(given).length <= 16, 'must have at most 16 ports')
        .default({}),
    })
    .optional()
    .describe('Of a server that Muster has not started: where players connect'),
})

const seats = z.strictObject({
  open: z.boolean().describe('Whether more players are wanted'),
  teams: atMost(z.record(id, z.number().int().min(0).max(MOST_PLAYERS)), MOST_PLAYERS, 'teams')
    .optional()
    .describe('Wanted players by team; default: as many as have left'),
})

const playersRanked = (ranking: unknown): number => (Array.isArray(ranking) ? ranking.flat().length : 0)

const result = z.strictObject({
  ranking: atMost(
    z.array(z.array(id).min(1).max(MOST_PLAYERS)).max(MOST_PLAYERS),
    MOST_PLAYERS,
    'players',
    playersRanked,
  )
    .optional()
    .describe('Ids of players, the best first; those in one list have the same rank'),
  data: z.unknown().optional().describe('Anything else, at most 8 KiB as JSON'),
})

const match = z.strictObject({
  id,
  status: z
    .enum(['loading', 'open', 'closed', 'over', 'refused'])
    .describe('`open`: players may join; `closed`: only its players may return; `refused`: it cannot be served here'),
  players: playersOn.describe('Who is on the server, who may return, and who has left for good since the match began'),
  seats: seats.optional(),
  result: result.optional().describe('Of a match that is over'),
})

/** Returns the number of players and teams in all matches of a report. */
const entriesOfAll = (matches: unknown): number =>
  Array.isArray(matches)
    ? matches.reduce<number>((sum, one) => sum + entriesOf(one as Partial<z.input<typeof match>> | null), 0)
    : 0
const entriesOf = (one: Partial<z.input<typeof match>> | null): number =>
  entriesIn(one?.players) + entriesIn(one?.seats?.teams) + playersRanked(one?.result?.ranking)

const count = z.number().int().min(0).max(MOST_PLAYERS)
const MOST_TEAMS = 32

const listing = z
  .strictObject({
    session: id
      .optional()
      .describe('Another id begins anew: nobody has a seat any more. Default: that of the instance'),
    name: ShownName.describe(
      'What players read in the list, without control, direction, zero-width or filler characters',
    ),
    seats: count.min(1).describe('Players who fit, whether or not they are there'),
    teams: atMost(z.record(ShownName, count), MOST_TEAMS, 'teams')
      .optional()
      .describe('Seats by team; their sum is `seats`'),
    password: z.string().min(1).max(128).optional().describe('Needed to get a seat; Muster shows it to nobody'),
    locked: z.boolean().default(false).describe('Nobody gets a seat; those who have one may return'),
    attributes: ServerAttributes.optional().describe(
      'By which players filter, as far as the configuration declares them',
    ),
    owner: id.optional().describe('The player who had it started, as the orders said'),
    players: playersOn.describe('Who is on the server and who may return; whoever is not named is not there'),
  })
  .refine(({ seats: all, teams }) => teams === undefined || Object.values(teams).reduce((a, b) => a + b, 0) === all, {
    path: ['teams'],
    message: 'must add up to `seats`',
  })

/** `PUT /servers/me`: a game server reports its whole state. */
export const ReportBody = z.strictObject({
  instance,
  seq: z
    .number()
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER)
    .describe('Must grow with each report of an instance; a report with a lower number is ignored'),
  healthy: z.boolean().default(true).describe('False three times in a row: it is drained'),
  draining: z.boolean().default(false).describe('The server itself wants no more matches'),
  matches: atMost(z.array(match).max(MOST_MATCHES), MOST_IN_ALL, 'players in all matches', entriesOfAll)
    .default([])
    .describe('The matches that it serves; none if left out'),
  attributes: ServerAttributes.optional(),
  knock: z
    .string()
    .max(64)
    .optional()
    .describe('The whole datagram that begins with the `knock` of the orders; this proves the address'),
  listing: listing.optional().describe('Puts the server into the list, where players find it and take seats'),
})

/** A request to enrol a server that Muster has not started. */
export type EnrolmentRequest = z.output<typeof EnrolmentBody>
/** A registration of a game server, see `RegistrationBody`. */
export type ServerRegistration = z.output<typeof RegistrationBody>
/** A report, which contains the whole state of a server. */
export type ServerReport = z.output<typeof ReportBody>
/** A server's report about one of its matches. */
export type MatchReport = ServerReport['matches'][number]
/** A server's report about the session that it lists. */
export type ListingReport = z.output<typeof listing>
/** The result of a match, as reported by its server. */
export type MatchResult = z.output<typeof result>
/** The players that a match still needs. */
export type SeatsWanted = z.output<typeof seats>
