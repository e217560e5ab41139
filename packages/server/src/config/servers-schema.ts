import { type Fault, validateAll } from '@muster/core/internal'
import { type Browser, browserSchema, poolSchema, poolSchemaWith, type ServerPool } from '@muster/matchmaker/internal'
import { z } from 'zod'
import { duration, httpUrl, milliseconds, optionalSection, secret, section, signingSecret } from './field-types.js'
import type { SecretSource } from './secret.js'

// Game servers that outlive a match: docs/servers.md.

/** A pool by a name of this package: otherwise its declarations would name a package that it does not depend on. */
export interface ConfiguredPool extends Omit<ServerPool, 'enrol'> {
  /** The keys of its own machines are secrets. */
  readonly enrol: readonly (Omit<ServerPool['enrol'][number], 'key'> & { readonly key: SecretSource })[]
}
/** The same of the server browser. */
export interface ConfiguredBrowser extends Browser {}

const pool: z.ZodType<ConfiguredPool> = poolSchemaWith(secret)
const definedBrowser: z.ZodType<ConfiguredBrowser> = browserSchema

export const pools = z
  .array(pool)
  .max(100)
  .default([])
  .describe('Pools of game servers that outlive a match, which queues name in place of `deploy`. Default: none.')

export const sources = z
  .record(
    z.string().regex(/^[\w-]{1,32}$/, 'must be 1 to 32 of A–Z, a–z, 0–9, _ and -'),
    z.strictObject({
      allocator: httpUrl.describe('URL below which /allocate, /poll and /stop take a signed POST.'),
      secret: secret.describe('Secret that signs each POST, as Standard Webhooks describe: `whsec_` and base64.'),
      timeoutMs: duration
        .min(1)
        .max(30_000)
        .optional()
        .describe('Milliseconds that a call may take. Default, and at most: 30,000, a poll 10,000, a stop 20,000.'),
      lagMs: milliseconds
        .max(600_000)
        .optional()
        .describe(
          'Milliseconds for which a poll may not show what an allocate has done. Default: `matching.listLagMs`.',
        ),
    }),
  )
  .default({})
  .describe(
    'Where servers come from besides the service, by names that pools give in `source`: see any-hoster.md. Each ' +
      'counts after a restart. Default: none.',
  )

export const results = optionalSection({
  url: httpUrl.describe('URL that takes a POST for each match that is over.'),
  secret: secret.describe('Secret that signs each POST, as Standard Webhooks describe: `whsec_` and base64.'),
}).describe(
  'Where the results of matches go that their servers report: a signed POST for each, repeated until a 2xx ' +
    'answers, in order for each player. Default: nowhere.',
)

export const servers = optionalSection({
  secret: signingSecret.describe('Secret of at least 32 characters from which the tokens of game servers are derived.'),
}).describe(
  'How game servers are recognized. Default: by a secret that the store keeps; without a store it lasts as long as ' +
    'the process.',
)

export const joinTokens = section({
  alg: z
    .enum(['HS256', 'EdDSA'])
    .default('HS256')
    .describe('`HS256`: by a key of each server. `EdDSA`: by one key, whose public half is at /.well-known/jwks.json.'),
}).describe('How the tokens are signed by which players prove to a game server who they are.')

export const browser = definedBrowser
  .prefault({})
  .describe('How servers that list themselves are found by players, and how long seats on them are held.')

/** What is deployed for a pool that is wrong in another way, so that its queues are checked as well. */
const ANY = poolSchema.parse({ name: 'any', deploy: { application: 'any', version: 'any' } })

/** The pools of a file that queues may name, as far as they have names. */
export function poolsIn(given: unknown): readonly Pick<ServerPool, 'name' | 'deploy'>[] {
  if (!Array.isArray(given)) return []
  return given.flatMap((definition: unknown) => {
    const { data } = validateAll(pool, definition)
    if (data !== undefined) return data
    const name: unknown = typeof definition === 'object' && definition !== null ? Reflect.get(definition, 'name') : null
    return typeof name === 'string' ? { ...ANY, name } : []
  })
}

interface CheckedPools {
  /** Empty if one is wrong. */
  readonly pools: readonly ConfiguredPool[]
  /** Those that queues may name, also if they are wrong in another way than by their name. */
  readonly named: ReturnType<typeof poolsIn>
  readonly faults: readonly Fault[]
}

/** Checks the pools of a file alone. */
export function checkPools(given: unknown): CheckedPools {
  const { data, faults = [] } = validateAll(z.object({ pools }), { pools: given })
  return { pools: data?.pools ?? [], named: poolsIn(given), faults }
}
