import { strictObject, z } from 'zod'
import { duration, httpUrl, optionalSection, secret, section, signingSecret, text, textLike } from './field-types.js'

/** Sections of the configuration about authentication and players' profiles. */

/** Signature algorithms of tokens (RFC 7518, RFC 8037): those with a shared secret, and those with public keys. */
export const SHARED_ALGORITHMS = ['HS256', 'HS384', 'HS512'] as const
export const PUBLIC_ALGORITHMS = [
  ...(['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'] as const),
  ...(['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'] as const),
] as const

const claim = z.union([text, z.array(text).min(1).max(8)], {
  error: 'must be the name of a claim, or a list of names that lead to one within another',
})

const list = (what: string) =>
  z.union([text, z.array(text).min(1).max(50)], { error: `must be ${what}, or a list of them` })

const claims = section({
  id: claim.default('sub').describe("The player's id."),
  role: claim
    .optional()
    .describe(
      'What the caller may do: `player`, `backend`, or a role of the console as in `keys.role`. Default: no ' +
        'claim, so everyone with a token is a player. Another value is refused.',
    ),
  attributes: z
    .record(text.max(128), claim)
    .default({})
    .describe(
      'Attributes that the token vouches for, each with its claim, e.g. `skill: mmr`. They override ' +
        'values that players send.',
    ),
  roles: claim.optional().describe('A list of the roles that the player may play.'),
  avoid: claim.optional().describe('A list of ids of players not to be matched with.'),
}).describe('Claims of the token for each value. For a nested claim write a list of names, e.g. [game, mmr].')

const jwt = strictObject({
  jwks: httpUrl.optional().describe("URL of the issuer's public keys (JWKS). Either this or `secret`."),
  secret: signingSecret.optional().describe('Secret that the issuer shares with this program, of at least 32 bytes.'),
  issuer: list('the issuer of tokens')
    .optional()
    .describe('The `iss` that a token must have; of a list, it must have one. Default: any.'),
  audience: list('an audience')
    .optional()
    .describe('The `aud` that a token must have; of a list, it must have one. Default: any.'),
  algorithms: z
    .array(z.enum([...SHARED_ALGORITHMS, ...PUBLIC_ALGORITHMS]))
    .min(1)
    .optional()
    .describe(
      'Algorithms that may sign a token. Default: HS256 with a secret; RS256, ES256, EdDSA and Ed25519 with keys.',
    ),
  clockToleranceMs: duration
    .max(600_000)
    .default(5000)
    .describe("Milliseconds by which the issuer's clock may differ."),
  claims,
})
  .refine(({ jwks, secret: shared }) => (jwks === undefined) !== (shared === undefined), {
    error: 'must have either jwks or secret',
  })
  .meta({ oneOf: [{ required: ['jwks'] }, { required: ['secret'] }] })

const key = strictObject({
  name: textLike(/^[\w.-]{1,64}$/, 'must be 1 to 64 of A–Z, a–z, 0–9, ., _ and -').describe(
    'Name of the caller in logs.',
  ),
  role: z
    .enum(['backend', 'look', 'players', 'rules', 'operate', 'deploy'])
    .describe(
      '`backend`: acts for any player. The others see the console. `players`: may also act on tickets, matches and ' +
        'cooldowns. `rules`: may also change, pause and resume queues. `operate`: both. `deploy`: may ' +
        'also change what servers run, if `console.editDeploy` allows that.',
    ),
  key: secret.describe('The key, of at least 16 characters. Sent as a bearer token.'),
}).describe('A key of a backend, or of a person at the console.')

const shared = optionalSection({
  token: secret.describe('The token, of at least 16 characters. It is in every copy of the game, so it is not secret.'),
  key: signingSecret.describe(
    'Secret of at least 32 bytes that binds players to their network and their own secret. If the key ' +
      'changes, players lose access to their tickets.',
  ),
}).describe(
  'One token for all players, for games whose players have no login: Muster cannot verify what a player ' +
    'sends. Bodies ' +
    'may have `player_id` and `player_secret`. `limits.sharedCreates` limits the creates of one network.',
)

export const auth = section({
  jwt: jwt.optional().describe('Tokens of players, signed by your login service (JSON Web Tokens).'),
  shared,
  keys: z.array(key).max(1000).default([]).describe('Keys of backends and of people at the console.'),
}).describe('Who may call, and as what.')

const profile = strictObject({
  attributes: z
    .record(text.max(128), z.union([z.number(), z.string(), z.array(z.string())]))
    .optional()
    .describe('Attributes of a player without a profile.'),
  roles: z.array(text).optional().describe('Roles that such a player may play.'),
  avoid: z.array(text).optional().describe('Ids of players with whom such a player is never matched.'),
})

export const profiles = optionalSection({
  url: httpUrl.describe(
    'Address of your endpoint. Muster sends a POST with `{ player_ids: [id, …] }`, and the endpoint ' +
      'answers with their profiles.',
  ),
  token: secret.optional().describe('Bearer token that Muster sends to the endpoint.'),
  timeoutMs: duration.default(2000).describe('Milliseconds to wait for the answer of the endpoint.'),
  cacheMs: z
    .number()
    .min(0)
    .max(2 ** 31 - 1)
    .default(60_000)
    .describe('Milliseconds for which a profile is cached; 0 turns the cache off.'),
  cacheSize: z.int().min(1).default(100_000).describe('Maximum number of cached profiles.'),
  perRequest: z.int().min(1).max(10_000).default(500).describe('Maximum number of players in one request.'),
  whenDown: z
    .union([z.enum(['refuse', 'without']), profile], { error: 'must be refuse, without, or a profile' })
    .prefault('refuse')
    .describe(
      'What happens while the endpoint does not answer. `refuse`: players get 503 and try again. `without`: they ' +
        'wait without a profile. Or a profile that they get instead.',
    ),
}).describe('Your endpoint that supplies values for rules, e.g. the skill of players.')
