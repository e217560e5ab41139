import { idText, queryInteger } from '@muster/core/internal'
import {
  EnrolmentBody,
  LARGEST_PAGE,
  LONGEST_CLAUSE,
  LONGEST_CURSOR,
  MOST_CLAUSES,
  ReportBody,
  ServerAttributes,
  ShownName,
} from '@muster/hosting/internal'
import { z } from 'zod'
import { byAnyone, byGameServers, byOwnToken } from './callers.js'
import { MOST_LATENCIES } from '../locate/index.js'
import { SeatSchema } from './schemas.js'

// The routes of game servers: docs/servers.md.

const PlayerOfMatchSchema = z.object({
  id: z.string(),
  ticket_id: z.string().describe('Players of one ticket are a party'),
  seat_id: z.string().optional().describe('`sid` of the join token; a token of another seat is void'),
  attributes: z.record(z.string(), z.unknown()).optional(),
})

const MatchOrderSchema = z.object({
  id: z.string(),
  profile: z.string(),
  teams: z.array(z.object({ name: z.string(), players: z.array(PlayerOfMatchSchema) })),
  equality: z.record(z.string(), z.unknown()).describe('Attributes that all players have in common'),
  intersection: z
    .record(z.string(), z.array(z.string()))
    .describe('Entries that the lists of all players have in common'),
})

const OrdersSchema = z.object({
  version: z.number().int().describe('Changes with the orders; goes into `version` of the next report'),
  want: z
    .enum(['run', 'drain', 'stop'])
    .describe('`drain`: serve the current matches to their end; `stop`: end the process'),
  reason: z.string().optional(),
  matches: z.array(MatchOrderSchema).describe('Matches that the server must serve; a match that is not listed is over'),
  listing: z
    .object({
      session: z.string().describe('`mid` of the join tokens'),
      seats: z.array(
        z.object({
          seat_id: z.string().describe('`sid` of the join token'),
          player_id: z.string(),
          team_id: z.string().nullable(),
          group_id: z.string().nullable().describe('Equal for players of one group'),
        }),
      ),
    })
    .optional()
    .describe('Players who have a seat, while the server is listed'),
  host: z
    .object({
      session: z.string(),
      name: z.string(),
      password: z.string().optional(),
      owner: z.string().optional().describe('Id of the player who started the server'),
      attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    })
    .optional()
    .describe('The values that `listing` of its next reports must have'),
  knock: z
    .string()
    .optional()
    .describe('Muster sends the server a UDP datagram that begins so. It gets matches once a report repeats it whole'),
})

const RegisteredSchema = OrdersSchema.extend({
  id: z.string().describe('Id of the server: `aud` of the join tokens for it'),
  alg: z.enum(['HS256', 'EdDSA']).describe('How the join tokens for this server are signed'),
  key: z
    .string()
    .describe(
      'base64url: the key that checks the join tokens for this server; with HS256 it signs them, and is secret',
    ),
  beat_seconds: z.number().describe('Maximum number of seconds between two reports'),
  lost_after_seconds: z.number().describe('Seconds of silence after which the server counts as lost'),
  retire_at: z.string().nullable().describe('When Muster stops the server in any case; null if unknown'),
  token: z
    .string()
    .optional()
    .describe('Of a server that Muster has not started: the token of its further calls, as MUSTER_SERVER_TOKEN'),
})

const JoinKeysSchema = z.object({
  keys: z.array(
    z.object({
      kty: z.literal('OKP'),
      crv: z.literal('Ed25519'),
      x: z.string(),
      kid: z.string(),
      alg: z.literal('EdDSA'),
      use: z.literal('sig'),
    }),
  ),
})

/** Maximum seconds that a report waits for new orders. A server may be silent for longer than this. */
const LONGEST_WAIT = 20

export const joinKeyRoutes = {
  joinKeys: byAnyone('GET /.well-known/jwks.json', {
    summary: 'The public keys that check join tokens; none unless they are signed with EdDSA',
    input: z.strictObject({}),
    output: JoinKeysSchema,
  }),
} as const

export const serverRoutes = {
  registerServer: byGameServers('POST /servers', {
    summary:
      'Register a game server, with its token MUSTER_SERVER_TOKEN or, if Muster has not started it, with ' +
      'MUSTER_ENROL_KEY; a repeated call changes nothing',
    input: EnrolmentBody,
    output: RegisteredSchema,
    errors: [409, 410],
  }),
  reportServer: byGameServers('PUT /servers/me', {
    summary: 'Report the whole state of a game server; the answer has its orders once they differ from `version`',
    input: ReportBody.extend({
      wait: queryInteger(0, LONGEST_WAIT)
        .optional()
        .describe('Maximum number of seconds to wait for orders with another version; default 0'),
      version: queryInteger(0).optional(),
    }),
    query: ['wait', 'version'],
    output: OrdersSchema,
    errors: [409, 410],
  }),
} as const

const playerIds = z.array(idText).min(1).max(64)
const name = z.string().min(1).max(64)

/** One string or several, because a query may repeat a key. */
const texts = (most: number, longest: number) =>
  z
    .union([z.string().max(longest), z.array(z.string().max(longest)).max(most)])
    .transform((given) => (typeof given === 'string' ? [given] : given))

const shown = {
  where: texts(MOST_CLAUSES, LONGEST_CLAUSE)
    .optional()
    .describe(
      '`mode eq ctf`, `seats.free ge 2`, `map in dust,aztec`: all hold; operators eq ne lt le gt ge in contains',
    ),
  q: z.string().max(64).optional().describe('Part of the name of the server'),
  sort: z
    .string()
    .max(LONGEST_CLAUSE)
    .optional()
    .describe('Fields to sort by, in descending order with `-` before the name; default `ping,-seats.taken`'),
  limit: queryInteger(1, LARGEST_PAGE).optional().describe('Servers on a page; default 20'),
  cursor: z.string().max(LONGEST_CURSOR).optional().describe('`next` of the previous page'),
  latency: texts(MOST_LATENCIES, 128)
    .optional()
    .describe('`Frankfurt 23`: milliseconds to a beacon, as measured. Default: estimated from the address'),
} as const
const query = ['where', 'q', 'sort', 'limit', 'cursor', 'latency'] as const

const counts = {
  total: z.number().int(),
  free: z.number().int(),
  held: z.number().int().describe('Seats held for players who are about to join'),
  taken: z.number().int(),
  away: z.number().int().describe('Seats of players who may return'),
}

/** A server in the list. */
export type ListedServerView = z.output<typeof ListedServerSchema>
const ListedServerSchema = z
  .object({
    server_id: z.string(),
    name: z.string(),
    pool: z.string(),
    build: z.string().nullable(),
    place: z.object({ city: z.string().nullable(), country: z.string().nullable() }).nullable(),
    ping: z.number().nullable().describe('Round trip in milliseconds, in steps of ten; null if unknown'),
    attributes: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])),
    open: z.boolean().describe('Whether the server takes players'),
    password: z.boolean().describe('Whether a seat needs its password'),
    seats: z.object(counts),
    teams: z.array(z.object({ team_id: z.string(), total: z.number().int(), free: z.number().int() })),
  })
  .meta({ id: 'ListedServer' })

const PageSchema = z.object({
  servers: z.array(ListedServerSchema),
  total: z.number().int().describe('Servers on all pages'),
  next: z.string().nullable().describe('`cursor` of the next page; null on the last'),
})

const PageChangeSchema = z.object({
  servers: z.array(ListedServerSchema).describe('Servers that are new on the page or have changed'),
  order: z.array(z.string()).nullable().describe('Ids of the servers on the page, in order; null if unchanged'),
  total: z.number().int(),
})

const party = {
  group_id: z
    .string()
    .min(1)
    .max(128)
    .optional()
    .describe('Group of the player: all its members get a seat, or nobody'),
  player_ids: playerIds.optional().describe('From a backend: the players who get seats'),
}
const joining = {
  team: z.string().min(1).max(64).optional().describe('Team of the player; default: the one with the most free seats'),
  build: z.string().min(1).max(128).optional().describe('Build of the game; servers with another build are refused'),
  ...party,
}

const SeatsSchema = SeatSchema.extend({
  party: z.array(SeatSchema).optional().describe('To a backend: the seats of all players'),
})

const start = z.strictObject({
  pool: name.optional().describe('Default: the first pool in which players may start servers'),
  name: ShownName.optional().describe('Name in the list; default: the name of the pool'),
  password: z.string().min(1).max(128).optional(),
  attributes: ServerAttributes.optional(),
})

/** The routes by which players find servers and take seats. */
export const seatRoutes = {
  listServers: byOwnToken('GET /servers', {
    summary: 'List the servers that the player may join: a page, filtered and sorted',
    input: z.strictObject(shown),
    query,
    output: PageSchema,
  }),
  serverEvents: byOwnToken('GET /servers/events', {
    summary:
      'Follow a page of the list, at most one change a second, as server-sent events: ' +
      '`page` with all of it first, then `change`',
    input: z.strictObject(shown),
    query,
    output: PageChangeSchema,
  }),
  getServer: byOwnToken('GET /servers/{server_id}', {
    summary: 'Read one server of the list',
    input: z.strictObject({ server_id: idText }),
    output: ListedServerSchema,
  }),
  holdSeat: byOwnToken('POST /servers/{server_id}/seats', {
    summary: 'Hold a seat, or renew the one held on this server. A seat held on another server is given back',
    input: z.strictObject({ server_id: idText, password: z.string().max(128).optional(), ...joining }),
    output: SeatsSchema,
    success: [201, 200],
    errors: [409],
  }),
  quickJoin: byOwnToken('POST /seats', {
    summary: 'Hold a seat on the best server without a password; with `start`, start a server if none fits',
    input: z.strictObject({
      where: z.array(z.string().max(LONGEST_CLAUSE)).max(MOST_CLAUSES).optional(),
      q: z.string().max(64).optional(),
      sort: z.string().max(LONGEST_CLAUSE).optional(),
      latencies: z
        .record(idText, z.number())
        .refine((given) => Object.keys(given).length <= MOST_LATENCIES, `must have at most ${MOST_LATENCIES} entries`)
        .optional(),
      ...joining,
      start: z.union([z.literal(true), start]).optional(),
    }),
    output: SeatsSchema,
    success: [201, 200, 202],
    errors: [404, 409],
  }),
  startServer: byOwnToken('POST /pools/{pool}/servers', {
    summary: 'Start a server for a private game, with seats for the players who start it; then follow the seat',
    input: start.extend({ pool: name, ...party }),
    output: z.object({
      server_id: z.string(),
      seats: z.array(SeatSchema).describe('A player gets only their own seat'),
    }),
    success: [202],
    errors: [409],
  }),
  getSeat: byOwnToken('GET /seats/{seat_id}', {
    summary: 'Read the player’s seat with a fresh join token; this renews a held seat',
    input: z.strictObject({ seat_id: idText }),
    output: SeatSchema,
  }),
  releaseSeat: byOwnToken('DELETE /seats/{seat_id}', {
    summary: 'Give the player’s seat back',
    input: z.strictObject({ seat_id: idText }),
  }),
} as const
