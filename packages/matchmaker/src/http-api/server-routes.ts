import { operation } from '@muster/core/api'
import { RegistrationBody, ReportBody } from '@muster/servers/internal'
import { z } from 'zod'

// The routes of game servers: docs/servers.md.

const PlayerOfMatchSchema = z.object({
  id: z.string(),
  ticket_id: z.string().describe('Players of one ticket are a party'),
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
  version: z.number().int().describe('Differs from that of other orders; for `version` of the next report'),
  want: z
    .enum(['run', 'drain', 'stop'])
    .describe('`drain`: serve the matches to their end and take no other; `stop`: end the process'),
  reason: z.string().optional(),
  matches: z.array(MatchOrderSchema).describe('What it serves or is to serve; a match that is not listed is over'),
})

const RegisteredSchema = OrdersSchema.extend({
  id: z.string().describe('Id of the server: `aud` of the join tokens for it'),
  alg: z.enum(['HS256', 'EdDSA']).describe('How the join tokens for this server are signed'),
  key: z
    .string()
    .describe(
      'base64url: the key that checks the join tokens for this server; with HS256 it signs them, and is secret',
    ),
  beat_seconds: z.number().describe('Seconds between two reports at most'),
  lost_after_seconds: z.number().describe('Seconds of silence after which it counts as lost'),
  retire_at: z.string().nullable().describe('When it is stopped whatever it does; null: not known'),
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

/** Most seconds that a report waits for new orders: fewer than a server may be silent. */
const LONGEST_WAIT = 20

export const joinKeyRoutes = {
  joinKeys: operation('GET /.well-known/jwks.json', {
    summary: 'The public keys that check join tokens; none unless they are signed with EdDSA',
    input: z.strictObject({}),
    output: JoinKeysSchema,
    errors: [503],
  }),
} as const

export const serverRoutes = {
  registerServer: operation('POST /servers', {
    summary: 'A game server says that it runs, by its token MUSTER_SERVER_TOKEN; the same again changes nothing',
    input: RegistrationBody,
    output: RegisteredSchema,
    errors: [403, 410, 503],
  }),
  reportServer: operation('PUT /servers/me', {
    summary: 'A game server says its whole state, and hears what it is to do, as soon as that differs from `version`',
    input: ReportBody.extend({
      wait: z.coerce
        .number<string>()
        .int()
        .min(0)
        .max(LONGEST_WAIT)
        .optional()
        .describe('Seconds to wait at most until the orders have another version; default 0'),
      version: z.coerce.number<string>().int().min(0).max(Number.MAX_SAFE_INTEGER).optional(),
    }),
    query: ['wait', 'version'],
    output: OrdersSchema,
    errors: [403, 409, 410, 503],
  }),
} as const
